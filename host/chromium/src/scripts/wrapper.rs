//! Has the browser keep the wrapper of scripts; see [`crate::page::KeptWrappers`].

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::script_wrapper;

use crate::page::Page;

/// A group apart from that of scripts that failed, which is released with them.
const GROUP: &str = "wharf-wrapper";

/// Whether the browser says that the context or its wrapper is gone: nothing has run.
pub(super) fn was_absent(said: &str) -> bool {
    [
        "Cannot find context with specified id",
        "Could not find object with given id",
        "should belong to the same JavaScript",
    ]
    .iter()
    .any(|known| said.contains(known))
}

#[derive(Deserialize)]
struct WrapperEvaluation {
    result: RemoteObject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteObject {
    object_id: Option<String>,
}

/// Has the browser keep the wrapper for a context, for the next scripts.
pub(super) fn keep(page: &Arc<Page>, session: &str, context: i64) {
    if !page.state().wrappers.begin(session, context) {
        return;
    }
    let wanted = json!({ "expression": script_wrapper(), "contextId": context, "objectGroup": GROUP });
    let call = page.call(session, "Runtime.evaluate", &wanted);
    let (page, session) = (Arc::clone(page), session.to_owned());
    tokio::spawn(async move {
        // Without it, scripts bring their own wrapper.
        if let Ok(WrapperEvaluation { result: RemoteObject { object_id: Some(object) } }) = call.read().await {
            page.state().wrappers.made(&session, context, object);
        }
    });
}
