//! Renderers that crash and come back.

use wharf_webview::{ConsoleKind, PageEvent};

use crate::{
    connection::Event,
    page::{Page, plain_entry},
    scripts::held,
};

pub(super) fn hear(page: &Page, session: &str, event: Event<'_>) {
    match event.method {
        // The page is closed instead.
        "Inspector.targetCrashed" if page.browser.is_dying() => {}
        "Inspector.targetCrashed" if page.is_main_session(session) => {
            let mut state = page.state();
            state.crashed = true;
            state.dialog = false;
            state.contexts.clear();
            state.wrappers.clear();
            state.traffic.clear();
            drop(state);
            held::crashed(page);
            page.sink.tell(PageEvent::Crashed);
            let text = "the page crashed; navigate or reload it";
            page.sink.tell(PageEvent::Console(plain_entry(ConsoleKind::Crash, text)));
            page.changed();
        }
        "Inspector.targetCrashed" => {
            let mut state = page.state();
            state.contexts.forget_session(session);
            state.wrappers.forget_session(session);
        }
        "Inspector.targetReloadedAfterCrash" if page.is_main_session(session) => {
            page.state().crashed = false;
        }
        _ => {}
    }
}
