//! Scripts on their way into a page, and how they are stopped.

mod evaluation;
pub(crate) mod held;
pub(crate) mod injection;
pub(crate) mod interrupt;
mod wrapper;

use std::sync::Arc;

use wharf_webview::{Injection, Token};

use crate::page::{Page, RunningRequest};

/// Runs a script, or keeps it back while the page is on its way elsewhere.
pub(crate) fn inject(page: &Arc<Page>, injection: Injection) {
    let injection = page.state().held.take(injection);
    if let Some(injection) = injection {
        injection::begin(page, injection);
    }
}

/// Stops what a request does, be it a script or an order.
pub(crate) fn interrupt(page: &Arc<Page>, token: Token) {
    let mut state = page.state();
    state.held.forget(token);
    let running = state.running.remove(&token);
    drop(state);
    match running {
        Some(RunningRequest::Order(task)) => task.abort(),
        Some(RunningRequest::Script { session, number }) => interrupt::begin(page, session, Some(number)),
        None => {}
    }
}
