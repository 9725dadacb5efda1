//! Scripts that wait while the page navigates. The browser runs none from the moment a
//! navigation begins until it has arrived or given up, and would run those that it was
//! sent in the next document.

use wharf_webview::{Injection, Token};

/// Whether the page navigates, and the scripts that wait.
#[derive(Debug, Default)]
pub(crate) struct HeldScripts {
    under_way: bool,
    /// Whether the browser has confirmed the latest navigation: before that, an event
    /// that a load stopped may belong to the one before.
    started: bool,
    injections: Vec<Injection>,
}

impl HeldScripts {
    /// The page was asked to navigate.
    pub(crate) fn begin(&mut self) {
        (self.under_way, self.started) = (true, false);
    }

    /// The browser says that the page navigates.
    pub(crate) fn start(&mut self) {
        (self.under_way, self.started) = (true, true);
    }

    /// Whether the page navigates.
    pub(crate) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Whether the browser has confirmed the latest navigation.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// Ends the navigation. The scripts that waited.
    pub(crate) fn end(&mut self) -> Vec<Injection> {
        std::mem::take(self).injections
    }

    /// Keeps a script back while the page navigates; else hands it back.
    pub(crate) fn take(&mut self, injection: Injection) -> Option<Injection> {
        if !self.under_way {
            return Some(injection);
        }
        self.injections.push(injection);
        None
    }

    /// Drops a script that was cancelled.
    pub(crate) fn forget(&mut self, token: Token) {
        self.injections.retain(|injection| injection.token != token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_browser_said_it_began_can_be_said_to_have_stopped() {
        let mut held = HeldScripts::default();
        assert!(!held.started);
        held.begin();
        assert!(held.under_way() && !held.started, "the load before may stop now");
        held.start();
        assert!(held.under_way() && held.started);
        held.begin();
        assert!(held.under_way() && !held.started, "and so may this one, once another is asked for");
    }
}
