//! Scripts that wait while the page is on its way elsewhere: the browser lets none
//! run from the moment a page begins to go until it has arrived or given up, and
//! would run those that it was sent in the document that comes.

use std::sync::Arc;

use wharf_webview::{FailureKind, Injection, Token};

use super::{Page, inject};

/// Whether the page is on its way, and what waits.
#[derive(Debug, Default)]
pub(super) struct Held {
    under_way: bool,
    /// Whether the browser has said so of the way that was taken last: that a load
    /// stopped may be told of the one before.
    started: bool,
    injections: Vec<Injection>,
}

impl Held {
    /// The page was asked to go.
    pub(super) fn begin(&mut self) {
        (self.under_way, self.started) = (true, false);
    }

    /// The page is on its way, says the browser.
    pub(super) fn start(&mut self) {
        (self.under_way, self.started) = (true, true);
    }

    /// Whether it is.
    pub(super) fn under_way(&self) -> bool {
        self.under_way
    }

    /// Takes a script if it has to wait.
    pub(super) fn take(&mut self, injection: Injection) -> Option<Injection> {
        if !self.under_way {
            return Some(injection);
        }
        self.injections.push(injection);
        None
    }

    /// Lets go of a script that nobody waits for.
    pub(super) fn forget(&mut self, token: Token) {
        self.injections.retain(|injection| injection.token != token);
    }
}

/// The page stays where it is: what waited runs.
pub(super) fn stayed(page: &Arc<Page>) {
    for injection in end(page) {
        inject::begin(page, injection);
    }
}

/// A load stopped: the page stays, unless that was the load before.
pub(super) fn stopped(page: &Arc<Page>) {
    let started = page.state().held.started;
    if started {
        stayed(page);
    }
}

/// The page has arrived elsewhere: what waited was meant for the one before.
pub(super) fn left(page: &Page) {
    fail(page, FailureKind::Navigated, "the page went elsewhere before the script could run");
}

/// The page crashed on its way.
pub(super) fn crashed(page: &Page) {
    fail(page, FailureKind::Crashed, "the page crashed; navigate or reload it");
}

fn fail(page: &Page, kind: FailureKind, message: &str) {
    for injection in end(page) {
        page.fail(injection.token, kind, message);
    }
}

fn end(page: &Page) -> Vec<Injection> {
    let held = std::mem::take(&mut page.state().held);
    page.changed();
    held.injections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_browser_said_it_began_can_be_said_to_have_stopped() {
        let mut held = Held::default();
        assert!(!held.started);
        held.begin();
        assert!(held.under_way() && !held.started, "the load before may stop now");
        held.start();
        assert!(held.under_way() && held.started);
        held.begin();
        assert!(held.under_way() && !held.started, "and so may this one, once another is asked for");
    }
}
