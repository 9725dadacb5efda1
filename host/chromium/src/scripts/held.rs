//! Ends the wait of scripts that were kept back while their page navigated.

use std::sync::Arc;

use wharf_webview::{FailureKind, Injection};

use super::injection;
use crate::page::Page;

/// The page stays where it is: the scripts run.
pub(crate) fn stayed(page: &Arc<Page>) {
    for injection in end(page) {
        injection::begin(page, injection);
    }
}

/// A load stopped: the page stays, unless the event belongs to an earlier load.
pub(crate) fn stopped(page: &Arc<Page>) {
    let started = page.state().held.has_started();
    if started {
        stayed(page);
    }
}

/// The page has arrived elsewhere: the scripts were meant for the last document.
pub(crate) fn left(page: &Page) {
    fail(page, FailureKind::Navigated, "the page went elsewhere before the script could run");
}

/// The page crashed while it navigated.
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
