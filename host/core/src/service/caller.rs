//! The caller of a request, and what holds for everything that is done for it.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{AllowedPlugins, Events, Viewer};
use crate::{Context, audit::Requester, trace::TraceParent};

/// The caller of one request: made once where the request enters, and shared from there.
#[derive(Clone)]
#[non_exhaustive]
pub struct Caller {
    /// On whose behalf.
    pub context: Context,
    /// The plugins that it may use; all where absent.
    pub plugins: Option<AllowedPlugins>,
    /// What came with the request beside its arguments, for the plugin to read.
    pub meta: Map<String, Value>,
    /// What the client declares that it can do, in the protocol's shape; nothing where it is
    /// no client of the protocol.
    pub capabilities: Option<Map<String, Value>>,
    /// The program that calls, as it calls itself; see [`AuditSubject::client`](crate::audit::AuditSubject::client).
    pub client: Option<Arc<str>>,
    /// Who sent the request, where it came over a network.
    pub requester: Option<Arc<Requester>>,
    /// Ends the work when it fires.
    pub cancel: CancellationToken,
    /// Where progress and messages go.
    pub events: Events,
    /// The span that the request belongs to, where the client named one.
    pub trace: Option<TraceParent>,
}

impl Caller {
    /// A caller that nobody cancels or listens to, and that declares nothing.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self {
            context,
            plugins: None,
            meta: Map::new(),
            capabilities: None,
            client: None,
            requester: None,
            cancel: CancellationToken::new(),
            events: None,
            trace: None,
        }
    }

    /// What this caller sees of all that is served.
    #[must_use]
    pub fn viewer(&self) -> Viewer<'_> {
        Viewer { tenant: &self.context.tenant, plugins: self.plugins.as_ref() }
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What comes with a request may hold secrets; a log never shows it.
        formatter.debug_struct("Caller").field("context", &self.context).finish_non_exhaustive()
    }
}
