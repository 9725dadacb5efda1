//! What a page is loading, and since when nothing.

use std::{collections::HashMap, time::Instant};

use wharf_webview::FailureKind;

/// Requests under way that are known; further ones are not told.
const MOST_REQUESTS: usize = 4_096;

/// What is being loaded.
#[derive(Debug)]
pub(crate) struct Traffic {
    requests: HashMap<(String, String), NetworkRequest>,
    /// How many of them keep the page busy.
    active: usize,
    /// When that came to nothing.
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
    /// Why the host let it go no further.
    pub(crate) refused: Option<(FailureKind, String)>,
    /// The load of the document that it belongs to.
    pub(crate) loader: String,
    /// Goes on for ever, as a stream of events does.
    pub(crate) endless: bool,
    /// What a script asked for is there as far as it wants it: Chromium never says
    /// that an answer has ended whose body nobody reads.
    pub(crate) answered: bool,
    /// How many bytes its body has, where the server says so plainly.
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

    /// Forgets what a session loads for any other document than this one.
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

    /// A request that is under way; [`Traffic::count`] takes note of what is changed.
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

    /// Something came.
    pub(crate) fn heard(&mut self) {
        self.idle_since = Instant::now();
    }

    /// Since when nothing is loaded.
    pub(crate) fn idle(&self) -> Option<Instant> {
        (self.active == 0).then_some(self.idle_since)
    }
}

fn key(session: &str, id: &str) -> (String, String) {
    (session.to_owned(), id.to_owned())
}
