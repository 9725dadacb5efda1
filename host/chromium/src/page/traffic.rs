//! The network requests of a page that are under way, and since when there are none.

use std::{collections::HashMap, time::Instant};

use wharf_webview::FailureKind;

/// How many requests are remembered; further ones are not reported.
const MOST_REQUESTS: usize = 4_096;

/// The requests that are under way.
#[derive(Debug)]
pub(crate) struct Traffic {
    requests: HashMap<(String, String), NetworkRequest>,
    /// How many of them keep the page busy.
    active: usize,
    /// When the last of them ended.
    idle_since: Instant,
}

#[derive(Debug)]
pub(crate) struct NetworkRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) kind: String,
    pub(crate) began: f64,
    pub(crate) status: Option<u16>,
    pub(crate) mime_type: Option<String>,
    /// Why the host refused it.
    pub(crate) refused: Option<(FailureKind, String)>,
    /// The load of the document that it belongs to.
    pub(crate) loader: String,
    /// It never ends by itself, such as a stream of events.
    pub(crate) endless: bool,
    /// The head of its answer has come, and a script may not read the body: Chromium
    /// never reports the end of a body that is not read.
    pub(crate) answered: bool,
    /// How many bytes its body has, where the server says so and does not encode it.
    pub(crate) expected: Option<u64>,
    pub(crate) received: u64,
}

impl Default for Traffic {
    fn default() -> Self {
        Self { requests: HashMap::new(), active: 0, idle_since: Instant::now() }
    }
}

impl Traffic {
    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.count();
    }

    pub(crate) fn forget_session(&mut self, session: &str) {
        self.requests.retain(|(other, _), _| other != session);
        self.count();
    }

    /// Removes the requests of a session for any other document than this load's.
    pub(crate) fn leave(&mut self, session: &str, loader: &str) -> Vec<NetworkRequest> {
        let is_left =
            |(other, _): &(String, String), request: &mut NetworkRequest| other == session && request.loader != loader;
        let left = self.requests.extract_if(is_left).map(|(_, request)| request).collect();
        self.count();
        left
    }

    pub(crate) fn begin(&mut self, session: &str, id: &str, request: NetworkRequest) {
        if self.requests.len() < MOST_REQUESTS {
            self.requests.insert(key(session, id), request);
            self.count();
        }
    }

    pub(crate) fn end(&mut self, session: &str, id: &str) -> Option<NetworkRequest> {
        let request = self.requests.remove(&key(session, id))?;
        self.count();
        Some(request)
    }

    /// A request that is under way; call [`Traffic::count`] after changing it.
    pub(crate) fn get_mut(&mut self, session: &str, id: &str) -> Option<&mut NetworkRequest> {
        self.requests.get_mut(&key(session, id))
    }

    /// Counts the requests that keep the page busy.
    pub(crate) fn count(&mut self) {
        let before = self.active;
        self.active = self.requests.values().filter(|request| !request.endless && !request.answered).count();
        if self.active == 0 && before > 0 {
            self.idle_since = Instant::now();
        }
    }

    /// Something arrived.
    pub(crate) fn heard(&mut self) {
        self.idle_since = Instant::now();
    }

    /// Since when nothing is loaded; none while something is.
    pub(crate) fn idle(&self) -> Option<Instant> {
        (self.active == 0).then_some(self.idle_since)
    }
}

fn key(session: &str, id: &str) -> (String, String) {
    (session.to_owned(), id.to_owned())
}
