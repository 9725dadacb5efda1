//! What a page loads: told when each has ended, and whether anything is under way.

mod messages;

use std::sync::Arc;

use url::Url;
use wharf_webview::{FailureKind, NetworkEntry, PageEvent};

use messages::{DataReceived, LoadingEnded, RequestWillBeSent, ResponseReceived, WebSocketCreated};

use crate::{
    connection::Event,
    page::{NetworkRequest, Page, PageState},
};

/// How many bytes of an address are reported.
const URL_BYTES: usize = 4_096;
/// A longer event is not read: none that matters here is as long.
const EVENT_BYTES: usize = 1 << 20;

pub(super) fn hear(page: &Arc<Page>, session: &str, event: Event<'_>) {
    if event.bytes() > EVENT_BYTES {
        return;
    }
    match event.method {
        "Network.requestWillBeSent" => {
            if let Some(sent) = event.read() {
                begun(page, session, sent);
            }
        }
        "Network.responseReceived" => {
            if let Some(received) = event.read() {
                answered(page, session, received);
            }
        }
        "Network.dataReceived" => {
            if let Some(data) = event.read() {
                came(page, session, data);
            }
        }
        "Network.loadingFinished" | "Network.loadingFailed" | "Network.webSocketClosed" => {
            if let Some(ended) = event.read() {
                end(page, session, ended);
            }
        }
        "Network.webSocketCreated" => {
            if let Some(WebSocketCreated { request_id, url }) = event.read() {
                let request = NetworkRequest {
                    method: "GET".into(),
                    url: cut(&url),
                    kind: "websocket".into(),
                    began: f64::NAN,
                    status: None,
                    mime_type: None,
                    refused: page.settings.policy.url(&url).err().map(|error| (FailureKind::Denied, error.message)),
                    loader: String::new(),
                    endless: true,
                    answered: false,
                    expected: None,
                    received: 0,
                };
                page.state().traffic.begin(session, &request_id, request);
            }
        }
        _ => return,
    }
    page.changed();
}

fn begun(page: &Page, session: &str, sent: RequestWillBeSent) {
    let RequestWillBeSent { request_id, loader_id, request, timestamp, kind, frame_id, redirect_response } = sent;
    let mut state = page.state();
    if loader_id == request_id && frame_id.is_some_and(|frame| page.is_main(&frame)) {
        let load = state.document.load(&loader_id);
        load.url = cut(&request.url);
        load.redirects += u64::from(redirect_response.is_some());
    }
    // Each step of a redirect is a request that has ended.
    let before = redirect_response.and_then(|response| {
        let before = state.traffic.end(session, &request_id)?;
        Some(NetworkEntry {
            status: status(response.status),
            mime_type: Some(response.mime_type).filter(|kind| !kind.is_empty()),
            milliseconds: milliseconds(before.began, timestamp),
            ..of(before)
        })
    });
    // A `data:` address has its content in itself.
    if !request.url.starts_with("data:") {
        let kind = kind.unwrap_or_default().to_lowercase();
        let endless = matches!(kind.as_str(), "eventsource" | "websocket" | "ping");
        let request = NetworkRequest {
            method: wharf_core::text::cut(&request.method, 32).to_owned(),
            url: cut(&request.url),
            kind,
            began: timestamp,
            status: None,
            mime_type: None,
            refused: None,
            loader: loader_id,
            endless,
            answered: false,
            expected: None,
            received: 0,
        };
        state.traffic.begin(session, &request_id, request);
    }
    drop(state);
    if let Some(before) = before {
        page.sink.tell(PageEvent::Network(before));
    }
}

fn answered(page: &Page, session: &str, received: ResponseReceived) {
    let ResponseReceived { request_id, timestamp, response } = received;
    let mut state = page.state();
    let Some(request) = state.traffic.get_mut(session, &request_id) else { return };
    request.status = status(response.status);
    request.mime_type = Some(wharf_core::text::cut(&response.mime_type, 256).to_owned());
    request.answered = request.kind == "fetch";
    request.expected = response.headers.expected().filter(|_| request.answered);
    let refused = response.headers.proxy_answer.map(|word| {
        let url = request.url.clone();
        let kind = if word == "denied" { FailureKind::Denied } else { FailureKind::Network };
        let refused = refusal(page, &url).filter(|(of, _)| *of == kind);
        let refused = refused.unwrap_or_else(|| (kind, format!("the host could not let the page reach {url}")));
        request.status = None;
        request.refused = Some(refused.clone());
        refused
    });
    let status = request.status;
    if state.document.known(&request_id).is_some() {
        let load = state.document.load(&request_id);
        load.status = status;
        load.denied = refused;
    }
    state.traffic.heard();
    state.traffic.count();
    drop(state);
    came(page, session, DataReceived { request_id, timestamp, data_length: 0.0 });
}

/// A part of a body arrived. The last part ends the request, since Chromium may not
/// report its end.
fn came(page: &Page, session: &str, data: DataReceived) {
    let DataReceived { request_id, timestamp, data_length } = data;
    let mut state = page.state();
    state.traffic.heard();
    let Some(request) = state.traffic.get_mut(session, &request_id) else { return };
    request.received = request.received.saturating_add(data_length.max(0.0) as u64);
    if request.expected.is_some_and(|expected| request.received >= expected) {
        let encoded_data_length = Some(request.received as f64);
        drop(state);
        let ended = LoadingEnded { request_id, timestamp, encoded_data_length, error_text: None, error_message: None };
        end(page, session, ended);
    }
}

fn end(page: &Page, session: &str, ended: LoadingEnded) {
    let LoadingEnded { request_id, timestamp, encoded_data_length, error_text, error_message } = ended;
    let mut state = page.state();
    let request = state.traffic.end(session, &request_id);
    let mut refused = request.as_ref().and_then(|request| request.refused.clone());
    if let (Some(error), Some(request)) = (&error_text, &request)
        && refused.is_none()
    {
        // The browser may report a request only after its interception.
        if error.contains("BLOCKED_BY_CLIENT") {
            let denied = page.settings.policy.url(&request.url).err();
            refused = denied.map(|denied| (FailureKind::Denied, denied.message));
        } else if error.contains("TUNNEL_CONNECTION_FAILED") {
            refused = refusal(page, &request.url);
        }
    }
    if let Some(error) = &error_text {
        broken(&mut state, &request_id, error, refused.as_ref());
    }
    drop(state);
    let Some(request) = request else { return };
    let denied = refused.as_ref().is_some_and(|(kind, _)| *kind == FailureKind::Denied);
    let failure = match (refused, error_text.or(error_message)) {
        (Some((_, reason)), _) => Some(reason),
        (None, failure) => failure.map(|failure| wharf_core::text::cut(&failure, 1_024).to_owned()),
    };
    let bytes = encoded_data_length.filter(|bytes| *bytes >= 0.0).map(|bytes| bytes as u64);
    let milliseconds = milliseconds(request.began, timestamp);
    page.sink.tell(PageEvent::Network(NetworkEntry { bytes, milliseconds, failure, denied, ..of(request) }));
}

/// The load of a document failed.
fn broken(state: &mut PageState, loader: &str, error: &str, refused: Option<&(FailureKind, String)>) {
    if state.document.known(loader).is_none() {
        return;
    }
    let load = state.document.load(loader);
    load.failure = Some(error.to_owned());
    if load.denied.is_none() {
        load.denied = refused.cloned();
    }
    state.document.broken += 1;
}

/// Ends the requests of the last document: the browser reports nothing more of them.
pub(super) fn left_behind(page: &Page, loader: &str) {
    let ended = page.state().traffic.leave(page.main_session(), loader);
    for request in ended {
        let failure = Some("the page went elsewhere".to_owned());
        page.sink.tell(PageEvent::Network(NetworkEntry { failure, ..of(request) }));
    }
}

fn of(request: NetworkRequest) -> NetworkEntry {
    NetworkEntry {
        method: request.method,
        url: request.url,
        kind: request.kind,
        status: request.status,
        mime_type: request.mime_type,
        bytes: None,
        milliseconds: None,
        failure: None,
        denied: false,
    }
}

fn status(status: f64) -> Option<u16> {
    (100.0..1_000.0).contains(&status).then_some(status as u16)
}

fn milliseconds(began: f64, ended: f64) -> Option<u64> {
    let passed = (ended - began) * 1_000.0;
    (passed >= 0.0).then_some(passed as u64)
}

fn cut(url: &str) -> String {
    wharf_core::text::cut(url, URL_BYTES).to_owned()
}

/// Why the proxy refused this address, if it did so lately.
fn refusal(page: &Page, url: &str) -> Option<(FailureKind, String)> {
    let parsed = Url::parse(url).ok();
    let tunnel = parsed.as_ref().and_then(|url| {
        let port = url.port_or_known_default()?;
        Some(format!("{}:{port}", url.host_str()?))
    });
    page.refusals.find(|target| target == url || Some(target) == tunnel.as_deref())
}
