//! Scripts that wait while the page is on its way elsewhere: the browser lets none
//! run from the moment a page begins to go until it has arrived or given up, and
//! would run those that it was sent in the document that comes.

use std::sync::Arc;

use super::{Page, inject};
use crate::{FailureKind, Injection, Token};

/// Whether the page is on its way, and what waits.
#[derive(Debug, Default)]
pub(super) struct Held {
    under_way: bool,
    injections: Vec<Injection>,
}

impl Held {
    /// The page is on its way.
    pub(super) fn begin(&mut self) {
        self.under_way = true;
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
