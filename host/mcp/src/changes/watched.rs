//! Which resources a client of the older era watches, and in which conversation.

use std::collections::HashSet;

use parking_lot::{Mutex, MutexGuard};
use rmcp::ErrorData;
use wharf_core::{Context, SessionId, TenantId};

/// Resources that one connection, or one subscription of the newer era, may watch.
pub(crate) const MAX_WATCHED: usize = 256;
/// The length of the address of one.
pub(crate) const MAX_URI_BYTES: usize = 2 << 10;

/// What is watched over one connection.
#[derive(Default)]
pub(crate) struct WatchedResources {
    // A blocking lock: held for a look-up.
    watched: Mutex<HashSet<WatchedResource>>,
}

#[derive(PartialEq, Eq, Hash)]
struct WatchedResource {
    tenant: TenantId,
    session: SessionId,
    uri: String,
}

impl WatchedResource {
    fn of(context: &Context, uri: &str) -> Self {
        Self { tenant: context.tenant.clone(), session: context.session.clone(), uri: uri.to_owned() }
    }
}

/// Whether a change in one context is one of the other.
pub(crate) fn same_conversation(one: &Context, other: &Context) -> bool {
    one.tenant == other.tenant && one.session == other.session
}

impl WatchedResources {
    /// Watches one more; twice is once.
    pub(crate) fn add(&self, context: &Context, uri: &str) -> Result<(), ErrorData> {
        if uri.len() > MAX_URI_BYTES {
            let told = format!("the address of a resource has at most {MAX_URI_BYTES} bytes");
            return Err(ErrorData::invalid_params(told, None));
        }
        let mut watched = self.watched();
        let wanted = WatchedResource::of(context, uri);
        if watched.len() >= MAX_WATCHED && !watched.contains(&wanted) {
            let told = format!("this connection watches {MAX_WATCHED} resources; unsubscribe from one of them first");
            return Err(ErrorData::invalid_request(told, None));
        }
        watched.insert(wanted);
        Ok(())
    }

    /// Watches it no more.
    pub(crate) fn remove(&self, context: &Context, uri: &str) {
        self.watched().remove(&WatchedResource::of(context, uri));
    }

    /// Whether a change in this context is heard.
    pub(crate) fn has(&self, context: &Context, uri: &str) -> bool {
        self.watched().contains(&WatchedResource::of(context, uri))
    }

    /// The addresses of all that are watched, each once.
    pub(crate) fn uris(&self) -> Vec<String> {
        let uris: HashSet<String> = self.watched().iter().map(|watched| watched.uri.clone()).collect();
        uris.into_iter().collect()
    }

    /// In which conversation, and the address of each.
    #[cfg(feature = "http")]
    pub(crate) fn all(&self) -> Vec<(SessionId, String)> {
        self.watched().iter().map(|watched| (watched.session.clone(), watched.uri.clone())).collect()
    }

    fn watched(&self) -> MutexGuard<'_, HashSet<WatchedResource>> {
        self.watched.lock()
    }
}
