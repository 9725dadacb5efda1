//! Answers of the endpoint: at once as JSON, or as server-sent events where
//! they take long or come in parts.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, future::BoxFuture, stream::unfold};
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_body::{Body as _, Frame};
use http_body_util::{BodyDataStream, BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde_json::error::Category;
use tokio::time::timeout;

use super::refusal::EndpointRefusal;

/// The body of an answer.
pub type EndpointBody = UnsyncBoxBody<Bytes, Infallible>;

/// An answer of an endpoint.
pub type EndpointResponse = http::Response<EndpointBody>;

pub(super) const HEARTBEAT: &[u8] = b": heartbeat\n\n";
/// An answer that has no more does not wait for its client to read it: what serves it takes
/// that much at once.
const AT_ONCE_BYTES: u64 = 32 * 1024;
/// What is passed on of an error of the protocol crate.
const MOST_ERROR_BYTES: usize = 1_024;

pub(super) fn json(json: Bytes) -> EndpointResponse {
    let mut response = EndpointResponse::new(Full::new(json).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn events(frames: impl Stream<Item = Bytes> + Send + 'static) -> EndpointResponse {
    let body = StreamBody::new(frames.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes))));
    let mut response = EndpointResponse::new(body.boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Of no proxy between, either, that gathers before it passes on.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// An error of the protocol.
fn error(status: StatusCode, code: ErrorCode, told: impl Into<String>, id: Option<RequestId>) -> EndpointResponse {
    let mut response = json(message(code, told.into(), id));
    *response.status_mut() = status;
    response
}

fn message(code: ErrorCode, told: String, id: Option<RequestId>) -> Bytes {
    let error = JsonRpcError::new(id, ErrorData::new(code, told, None));
    serde_json::to_vec(&error).unwrap_or_default().into()
}

/// The answer to a request that the host ends: it stops, or the client's token or its rights are others now.
pub(super) fn stopped(id: RequestId) -> EndpointResponse {
    let told = "the host is stopping, or has taken back or changed the token of this client; the call was cancelled";
    error(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::INTERNAL_ERROR, told, Some(id))
}

/// The answer to a body that is no message.
pub(super) fn no_message(error: &serde_json::Error) -> EndpointResponse {
    let (code, told) = match error.classify() {
        Category::Data => (ErrorCode::INVALID_REQUEST, "a message is one JSON object"),
        _ => (ErrorCode::PARSE_ERROR, "the body is not JSON"),
    };
    self::error(StatusCode::BAD_REQUEST, code, format!("{told}: {error}"), None)
}

/// The protocol crate's answer, with its errors in the protocol's words.
pub(super) async fn in_words(response: EndpointResponse, id: Option<RequestId>) -> EndpointResponse {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    if status.is_success() || kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) {
        return response;
    }
    let told = response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let told = wharf_core::text::line(&String::from_utf8_lossy(&told), MOST_ERROR_BYTES);
    match status {
        // What is JSON was told from what is not before; this is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            error(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, format!("this is no message: {told}"), id)
        }
        StatusCode::NOT_FOUND => {
            let told = "there is no such session, or it has ended; begin another one with `initialize`";
            error(status, ErrorCode(-32_001), told, id)
        }
        status => error(status, ErrorCode::INVALID_REQUEST, told, id),
    }
}

/// Keeps the permit of a request until its answer has been sent.
pub(super) fn holding(response: EndpointResponse, permit: impl Send + Sync + 'static) -> EndpointResponse {
    response.map(|body| {
        // What the system takes at once is as good as sent. Its length is told, so that it goes out in one piece.
        if body.size_hint().upper().is_some_and(|bytes| bytes <= AT_ONCE_BYTES) {
            return body;
        }
        let held = body.map_frame(move |frame| {
            let _held = &permit;
            frame
        });
        held.boxed_unsync()
    })
}

/// The answer as it is where it comes within `patience`; else as events, with a
/// comment each time that much time has passed. A client that goes away drops what
/// answers.
pub(super) async fn in_time(
    mut answering: BoxFuture<'static, Result<EndpointResponse, EndpointRefusal>>,
    patience: Duration,
    id: Option<RequestId>,
) -> Result<EndpointResponse, EndpointRefusal> {
    if let Ok(answered) = timeout(patience, &mut answering).await {
        return answered;
    }
    let frames = unfold((LateAnswer::Silent(answering, id), true), move |(late, first)| async move {
        let (bytes, late) = match late {
            _ if first => (Bytes::from_static(HEARTBEAT), late),
            LateAnswer::Silent(mut answering, id) => match timeout(patience, &mut answering).await {
                Err(_) => (Bytes::from_static(HEARTBEAT), LateAnswer::Silent(answering, id)),
                Ok(Ok(response)) => begun(response).await?,
                // Its status is told already: what is left are words of the protocol.
                Ok(Err(refusal)) => {
                    (event(None, &message(ErrorCode::INVALID_REQUEST, refusal.to_string(), id)), LateAnswer::Over)
                }
            },
            LateAnswer::Telling(mut body) => (body.next().await?.ok()?, LateAnswer::Telling(body)),
            LateAnswer::Over => return None,
        };
        Some((bytes, (late, false)))
    });
    Ok(events(frames))
}

/// An answer that was late.
enum LateAnswer {
    Silent(BoxFuture<'static, Result<EndpointResponse, EndpointRefusal>>, Option<RequestId>),
    Telling(BodyDataStream<EndpointBody>),
    Over,
}

async fn begun(response: EndpointResponse) -> Option<(Bytes, LateAnswer)> {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        let mut body = response.into_body().into_data_stream();
        return Some((body.next().await?.ok()?, LateAnswer::Telling(body)));
    }
    let message = response.into_body().collect().await.ok()?.to_bytes();
    (!message.is_empty()).then(|| (event(None, &message), LateAnswer::Over))
}

/// JSON has no line breaks of its own.
pub(super) fn event(id: Option<String>, json: &[u8]) -> Bytes {
    let mut event = id.map(|id| format!("id: {id}\n")).unwrap_or_default().into_bytes();
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(json);
    event.extend_from_slice(b"\n\n");
    event.into()
}
