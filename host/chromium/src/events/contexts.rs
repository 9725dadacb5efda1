//! Where scripts can run, as the browser tells of it.

use serde::Deserialize;

use super::documents;
use crate::{connection::Event, page::Page};

#[derive(Debug, Deserialize)]
struct Made {
    context: Context,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    id: i64,
    name: String,
    aux_data: Option<About>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    #[serde(default)]
    is_default: bool,
    frame_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gone {
    execution_context_id: i64,
}

pub(super) fn hear(page: &Page, session: &str, event: Event<'_>) {
    match event.method {
        "Runtime.executionContextCreated" => {
            if let Some(Made { context }) = event.read() {
                let Context { id, name, aux_data } = context;
                if let Some(About { is_default, frame_id: Some(frame) }) = aux_data {
                    page.state().contexts.add(session, frame, id, &name, is_default);
                }
            }
        }
        "Runtime.executionContextDestroyed" => {
            if let Some(Gone { execution_context_id }) = event.read() {
                let mut state = page.state();
                state.contexts.remove(session, execution_context_id);
                state.wrappers.forget(session, execution_context_id);
            }
        }
        "Runtime.executionContextsCleared" => {
            {
                let mut state = page.state();
                state.contexts.forget_session(session);
                state.wrappers.forget_session(session);
            }
            if page.is_main_session(session) {
                documents::leaves(page);
            }
        }
        _ => {}
    }
}
