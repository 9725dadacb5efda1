//! What becomes of the scripts that waited while their page was on its way elsewhere.

use std::sync::Arc;

use wharf_webview::{FailureKind, Injection};

use super::injection;
use crate::page::Page;

/// The page stays where it is: what waited runs.
pub(crate) fn stayed(page: &Arc<Page>) {
    for injection in end(page) {
        injection::begin(page, injection);
    }
}

/// A load stopped: the page stays, unless that was the load before.
pub(crate) fn stopped(page: &Arc<Page>) {
    let started = page.state().held.has_started();
    if started {
        stayed(page);
    }
}

/// The page has arrived elsewhere: what waited was meant for the one before.
pub(crate) fn left(page: &Page) {
    fail(page, FailureKind::Navigated, "the page went elsewhere before the script could run");
}

/// The page crashed on its way.
pub(crate) fn crashed(page: &Page) {
    fail(page, FailureKind::Crashed, "the page crashed; navigate or reload it");
}

fn fail(page: &Page, kind: FailureKind, message: &str) {
    for injection in end(page) {
        page.fail(injection.token, kind, message);
    }
}

fn end(page: &Page) -> Vec<Injection> {
    let injections = page.state().held.end();
    page.changed();
    injections
}
