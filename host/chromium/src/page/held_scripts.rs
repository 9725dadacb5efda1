//! Scripts that wait while the page is on its way elsewhere: the browser lets none
//! run from the moment a page begins to go until it has arrived or given up, and
//! would run those that it was sent in the document that comes.

use wharf_webview::{Injection, Token};

/// Whether the page is on its way, and what waits.
#[derive(Debug, Default)]
pub(crate) struct HeldScripts {
    under_way: bool,
    /// Whether the browser has said so of the way that was taken last: that a load
    /// stopped may be told of the one before.
    started: bool,
    injections: Vec<Injection>,
}

impl HeldScripts {
    /// The page was asked to go.
    pub(crate) fn begin(&mut self) {
        (self.under_way, self.started) = (true, false);
    }

    /// The page is on its way, says the browser.
    pub(crate) fn start(&mut self) {
        (self.under_way, self.started) = (true, true);
    }

    /// Whether it is.
    pub(crate) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Whether the browser has said so of the way that was taken last.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// Ends the way: what waited.
    pub(crate) fn end(&mut self) -> Vec<Injection> {
        std::mem::take(self).injections
    }

    /// Takes a script if it has to wait.
    pub(crate) fn take(&mut self, injection: Injection) -> Option<Injection> {
        if !self.under_way {
            return Some(injection);
        }
        self.injections.push(injection);
        None
    }

    /// Lets go of a script that nobody waits for.
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
