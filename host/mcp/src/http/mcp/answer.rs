//! Answers of the endpoint: at once as JSON, or as server-sent events where
//! they take long or come in parts.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody as _},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, future::BoxFuture, stream::unfold};
use http_body_util::BodyExt;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use wharf_core::Share;

use super::{
    super::{Shared, listener::BUFFER_BYTES},
    session::{self, Begun},
};

const HEARTBEAT: &[u8] = b": heartbeat\n\n";
/// An answer that has no more does not wait for its client to read it.
const AT_ONCE_BYTES: u64 = BUFFER_BYTES as u64 / 2;
/// How soon a client should come back, in milliseconds.
const RETRY: u32 = 1_000;
/// What is passed on of an error of the protocol crate.
const MOST_ERROR_BYTES: usize = 1_024;

pub(super) fn json(json: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}

fn events(body: Body) -> Response {
    let kind = HeaderValue::from_static("text/event-stream");
    // Of no proxy between, either, that gathers before it passes on.
    let buffering = (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([(header::CONTENT_TYPE, kind), buffering], body).into_response()
}

/// An error of the protocol.
pub(super) fn error(status: StatusCode, code: ErrorCode, told: impl Into<String>, id: Option<RequestId>) -> Response {
    let error = JsonRpcError::new(id, ErrorData::new(code, told.into(), None));
    let body = serde_json::to_vec(&error).unwrap_or_default();
    let mut response = json(body.into());
    *response.status_mut() = status;
    response
}

/// The protocol crate's answer, with its errors in the protocol's words.
pub(super) async fn in_words(response: Response, id: Option<RequestId>) -> Response {
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

/// Keeps the place of a request until its answer has been sent.
pub(super) fn holding(response: Response, place: impl Send + Sync + 'static) -> Response {
    response.map(|body| {
        // What the system takes at once is as good as sent. Its length is told, so that it goes out in one piece.
        if body.size_hint().upper().is_some_and(|bytes| bytes <= AT_ONCE_BYTES) {
            return body;
        }
        Body::new(body.map_frame(move |frame| {
            let _held = &place;
            frame
        }))
    })
}

/// The answer as it is where it comes within `patience`; else as events, with a
/// comment each time that much time has passed. Who goes away drops what
/// answers.
pub(super) async fn in_time(mut answering: BoxFuture<'static, Response>, patience: Duration) -> Response {
    if let Ok(response) = timeout(patience, &mut answering).await {
        return response;
    }
    let frames = unfold((Late::Silent(answering), true), move |(late, first)| async move {
        let (bytes, late) = match late {
            _ if first => (Bytes::from_static(HEARTBEAT), late),
            Late::Silent(mut answering) => match timeout(patience, &mut answering).await {
                Err(_) => (Bytes::from_static(HEARTBEAT), Late::Silent(answering)),
                Ok(response) => begun(response).await?,
            },
            Late::Telling(mut body) => (body.next().await?.ok()?, Late::Telling(body)),
            Late::Over => return None,
        };
        Some((Ok::<_, Infallible>(bytes), (late, false)))
    });
    events(Body::from_stream(frames))
}

/// An answer that was late.
enum Late {
    Silent(BoxFuture<'static, Response>),
    Telling(BodyDataStream),
    Over,
}

async fn begun(response: Response) -> Option<(Bytes, Late)> {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        let mut body = response.into_body().into_data_stream();
        return Some((body.next().await?.ok()?, Late::Telling(body)));
    }
    let message = response.into_body().collect().await.ok()?.to_bytes();
    (!message.is_empty()).then(|| (event(None, &message), Late::Over))
}

/// JSON has no line breaks of its own.
fn event(id: Option<String>, json: &[u8]) -> Bytes {
    let mut event = id.map(|id| format!("id: {id}\n")).unwrap_or_default().into_bytes();
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(json);
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// A stream of a session on its way to the client.
pub(super) struct Following {
    pub(super) begun: Begun,
    pub(super) heartbeat: Duration,
    /// Whether the client may be told first where to go on.
    pub(super) primes: bool,
    /// Ends what is followed only until the host stops.
    pub(super) until: Option<CancellationToken>,
    pub(super) _place: Option<Share>,
}

impl Following {
    pub(super) fn heartbeat(shared: &Shared) -> Duration {
        Duration::from_millis(shared.settings.limits.heartbeat_milliseconds)
    }

    pub(super) fn into_response(self) -> Response {
        let frames = unfold(self, |mut following| async move {
            let frame = following.next().await?;
            Some((Ok::<_, Infallible>(frame), following))
        });
        events(Body::from_stream(frames))
    }

    async fn next(&mut self) -> Option<Bytes> {
        let Begun { number, reader } = &mut self.begun;
        if std::mem::take(&mut self.primes) {
            let id = session::event_id(*number, reader.last());
            return Some(Bytes::from(format!("id: {id}\nretry: {RETRY}\ndata: \n\n")));
        }
        let stopped = async {
            match &self.until {
                Some(until) => until.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            said = timeout(self.heartbeat, reader.next()) => match said {
                Err(_) => Some(Bytes::from_static(HEARTBEAT)),
                Ok(said) => said.map(|said| event(Some(session::event_id(*number, said.number)), &said.json)),
            },
            () = stopped => None,
        }
    }
}
