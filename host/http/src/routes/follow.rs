//! A stream as server-sent events.
//!
//! Each event has its number as `id`, so that a client that comes back says
//! where it was. Two more come without one: `reset` where events were evicted
//! before they were read, `end` where nothing will come any more. What a slow
//! client has not taken waits in the stream's ring, which evicts: here is one
//! batch at most.

use std::{convert::Infallible, fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::stream::unfold;
use tokio_util::sync::CancellationToken;
use wharf_completion::stream::{Batch, EventKind, StreamReader};
use wharf_core::Share;

use super::route::{AnswerContent, RouteAnswer};
use crate::state::ServerState;

/// What one write takes at most, roughly.
const BATCH_BYTES: usize = 32 * 1024;
const BATCH_EVENTS: usize = 256;

/// How soon a client should come back, in milliseconds.
pub(super) const RETRY: &str = "retry: 1000\n\n";
pub(super) const HEARTBEAT: &str = ": heartbeat\n\n";

/// An answer that is server-sent events.
pub(super) fn event_stream(frames: Body) -> Response {
    let kind = HeaderValue::from_static("text/event-stream");
    // Of no proxy between, either, that gathers before it passes on.
    let buffering = (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([(header::CONTENT_TYPE, kind), buffering], frames).into_response()
}

pub(super) const EVENTS: &str = "Server-sent events. `status`, `message`, `progress` and `complete` have the number of the event \
                      as `id` and its `data` as JSON; a client that comes back sends the last one as `Last-Event-ID`. \
                      Without an `id` come `reset` ({from, resumed_at}: events were evicted before they were read) \
                      and `end` ({reason, because?}: nothing will come any more). Comments keep the connection alive.";

/// A route that answers with events of a stream.
pub(super) fn events(what: &'static str) -> RouteAnswer {
    RouteAnswer { status: 200, what, content: AnswerContent::Events(EVENTS) }
}

/// What is followed.
pub(super) struct StreamFollower {
    reader: StreamReader,
    from: u64,
    /// Only this turn, and no further than its end.
    turn: Option<u64>,
    heartbeat: Duration,
    stopping: CancellationToken,
    begun: bool,
    over: bool,
    _place: Share,
}

impl StreamFollower {
    pub(super) fn new(server: &Arc<ServerState>, reader: StreamReader, from: u64, place: Share) -> Self {
        Self {
            reader,
            from,
            turn: None,
            heartbeat: server.heartbeat(),
            stopping: server.stopping.clone(),
            begun: false,
            over: false,
            _place: place,
        }
    }

    /// Follows one turn, up to its `complete`.
    pub(super) fn turn(mut self, turn: u64) -> Self {
        self.turn = Some(turn);
        self
    }

    pub(super) fn into_response(self) -> Response {
        event_stream(Body::from_stream(unfold(self, |following| following.next())))
    }

    /// The next frames; none where the response ends.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.over {
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some((Ok(Bytes::from_static(RETRY.as_bytes())), self));
        }
        loop {
            let stopping = self.stopping.clone();
            let batch = tokio::select! {
                batch = self.reader.read(self.from, BATCH_EVENTS, BATCH_BYTES, self.heartbeat) => batch.ok()?,
                // The client comes back, to another host.
                () = stopping.cancelled() => return None,
            };
            self.from = batch.next;
            let frames = self.frames(&batch);
            if !frames.is_empty() || self.over {
                return Some((Ok(frames.into()), self));
            }
        }
    }

    fn frames(&mut self, batch: &Batch) -> String {
        if batch.events.is_empty() && batch.lost.is_none() && batch.ended.is_none() {
            return HEARTBEAT.to_owned();
        }
        let mut frames = String::new();
        if let Some(lost) = batch.lost {
            let data = serde_json::json!({"from": lost.from, "resumed_at": lost.resumed_at});
            let _ = write!(frames, "event: reset\ndata: {data}\n\n");
        }
        for event in &batch.events {
            match self.turn {
                Some(turn) if event.turn < turn => continue,
                // Its end was evicted.
                Some(turn) if event.turn > turn => {
                    self.over = true;
                    return frames;
                }
                _ => {}
            }
            // JSON has no line breaks of its own.
            let _ = write!(frames, "id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event.data.get());
            if self.turn == Some(event.turn) && event.kind == EventKind::Complete {
                self.over = true;
                return frames;
            }
        }
        if let Some(why) = batch.ended {
            self.over = true;
            let mut data = serde_json::json!({"reason": why.as_str()});
            if let Some(because) = &batch.because {
                data["because"] = because.as_str().into();
            }
            let _ = write!(frames, "event: end\ndata: {data}\n\n");
        }
        frames
    }
}
