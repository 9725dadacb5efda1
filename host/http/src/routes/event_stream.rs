//! Server-sent events: how a response begins, how it stays alive while nothing comes, and what ends
//! it. Knows nothing of what is sent.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::stream::unfold;
use wharf_core::Share;

use crate::state::ServerState;

/// How soon a client should come back, in milliseconds.
const RETRY: &str = "retry: 1000\n\n";
const HEARTBEAT: &str = ": heartbeat\n\n";

/// What one write sends.
pub(super) struct Frames {
    text: String,
    is_last: bool,
}

impl Frames {
    pub(super) fn new(text: String) -> Self {
        Self { text, is_last: false }
    }

    /// Those behind which nothing comes any more.
    pub(super) fn last(text: String) -> Self {
        Self { text, is_last: true }
    }

    /// Those that only keep the connection alive.
    pub(super) fn heartbeat() -> Self {
        Self::new(HEARTBEAT.to_owned())
    }
}

/// What events are made of.
pub(super) trait FrameSource: Send + 'static {
    /// The next frames, a heartbeat where none came for so long; none where the response ends.
    fn next(&mut self, heartbeat: Duration) -> impl Future<Output = Option<Frames>> + Send;
}

/// An answer that is the events of `source`. It keeps its `place` as long as it lasts.
pub(super) fn event_stream(server: Arc<ServerState>, place: Share, source: impl FrameSource) -> Response {
    let stream = EventStream { source, server, begun: false, over: false, _place: place };
    let frames = Body::from_stream(unfold(stream, EventStream::next));
    let kind = HeaderValue::from_static("text/event-stream");
    // Of no proxy between, either, that gathers before it passes on.
    let buffering = (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([(header::CONTENT_TYPE, kind), buffering], frames).into_response()
}

struct EventStream<S> {
    source: S,
    server: Arc<ServerState>,
    begun: bool,
    over: bool,
    _place: Share,
}

impl<S: FrameSource> EventStream<S> {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.over {
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some((Ok(Bytes::from_static(RETRY.as_bytes())), self));
        }
        let frames = tokio::select! {
            frames = self.source.next(self.server.heartbeat()) => frames?,
            // The client comes back, to another host.
            () = self.server.stopping.cancelled() => return None,
        };
        self.over = frames.is_last;
        Some((Ok(frames.text.into()), self))
    }
}
