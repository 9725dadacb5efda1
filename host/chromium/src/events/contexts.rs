//! Contexts that appear and go.

use serde::Deserialize;

use super::documents;
use crate::{connection::Event, page::Page};

#[derive(Debug, Deserialize)]
struct ContextCreated {
    context: ContextDescription,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextDescription {
    id: i64,
    name: String,
    aux_data: Option<ContextOrigin>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextOrigin {
    #[serde(default)]
    is_default: bool,
    frame_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextDestroyed {
    execution_context_id: i64,
}

pub(super) fn hear(page: &Page, session: &str, event: Event<'_>) {
    match event.method {
        "Runtime.executionContextCreated" => {
            if let Some(ContextCreated { context }) = event.read() {
                let ContextDescription { id, name, aux_data } = context;
                if let Some(ContextOrigin { is_default, frame_id: Some(frame) }) = aux_data {
                    page.state().contexts.add(session, frame, id, &name, is_default);
                }
            }
        }
        "Runtime.executionContextDestroyed" => {
            if let Some(ContextDestroyed { execution_context_id }) = event.read() {
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
