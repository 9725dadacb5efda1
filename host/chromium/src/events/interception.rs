//! Requests that the browser holds until the host decides: those that the policy grants
//! go on, others fail with its reason.
//!
//! The proxy keeps the page in; this only makes its errors clear. A request that passes
//! here by mistake gets no further than the proxy.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::FailureKind;

use crate::{connection::Event, page::Page};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    /// The id of the request in the events of the network.
    network_id: Option<String>,
    request: PausedRequest,
    frame_id: String,
    resource_type: String,
}

#[derive(Debug, Deserialize)]
struct PausedRequest {
    url: String,
}

/// Only the id, where the rest cannot be read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedRequestId {
    request_id: String,
}

pub(super) fn hear(page: &Arc<Page>, session: &str, event: Event<'_>) {
    if event.method != "Fetch.requestPaused" {
        return;
    }
    let Some(paused) = event.read::<RequestPaused>() else {
        if let Some(PausedRequestId { request_id }) = event.read() {
            refuse(page, session, &request_id);
        }
        return;
    };
    let RequestPaused { request_id, network_id, request, frame_id, resource_type } = paused;
    match allowed(page, &request.url) {
        Ok(()) => page.post(session, "Fetch.continueRequest", &json!({ "requestId": request_id })),
        Err(reason) => {
            if let Some(id) = network_id
                && resource_type == "Document"
                && page.is_main(&frame_id)
            {
                page.state().document.load(&id).denied = Some((FailureKind::Denied, reason));
            }
            refuse(page, session, &request_id);
        }
    }
}

fn refuse(page: &Page, session: &str, request: &str) {
    page.post(session, "Fetch.failRequest", &json!({ "requestId": request, "errorReason": "BlockedByClient" }));
}

fn allowed(page: &Page, url: &str) -> Result<(), String> {
    // Made by a page itself, and of its own origin or of none.
    let of_the_page = ["data:", "blob:", "about:"];
    if of_the_page.iter().any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
    {
        return Ok(());
    }
    page.settings.policy.url(url).map(drop).map_err(|error| error.message)
}
