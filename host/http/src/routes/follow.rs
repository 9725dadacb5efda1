//! A stream as server-sent events.
//!
//! Each event has its number as `id`, so that a client that comes back says
//! where it was. Two more come without one: `reset` where events were evicted
//! before they were read, `end` where nothing will come any more. What a slow
//! client has not taken waits in the stream's ring, which evicts: here is one
//! batch at most.

use std::{fmt::Write as _, time::Duration};

use wharf_completion::stream::{Batch, EventKind, StreamReader};

use super::{
    event_stream::{FrameSource, Frames},
    route::{AnswerContent, RouteAnswer},
};

/// What one write takes at most, roughly.
const BATCH_BYTES: usize = 32 * 1024;
const BATCH_EVENTS: usize = 256;

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
}

impl StreamFollower {
    pub(super) fn new(reader: StreamReader, from: u64) -> Self {
        Self { reader, from, turn: None }
    }

    /// Follows one turn, up to its `complete`.
    pub(super) fn turn(mut self, turn: u64) -> Self {
        self.turn = Some(turn);
        self
    }

    /// None where all that the batch has is of turns before.
    fn frames(&self, batch: &Batch) -> Option<Frames> {
        if batch.events.is_empty() && batch.lost.is_none() && batch.ended.is_none() {
            return Some(Frames::heartbeat());
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
                Some(turn) if event.turn > turn => return Some(Frames::last(frames)),
                _ => {}
            }
            // JSON has no line breaks of its own.
            let _ = write!(frames, "id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event.data.get());
            if self.turn == Some(event.turn) && event.kind == EventKind::Complete {
                return Some(Frames::last(frames));
            }
        }
        if let Some(why) = batch.ended {
            let mut data = serde_json::json!({"reason": why.as_str()});
            if let Some(because) = &batch.because {
                data["because"] = because.as_str().into();
            }
            let _ = write!(frames, "event: end\ndata: {data}\n\n");
            return Some(Frames::last(frames));
        }
        (!frames.is_empty()).then(|| Frames::new(frames))
    }
}

impl FrameSource for StreamFollower {
    async fn next(&mut self, heartbeat: Duration) -> Option<Frames> {
        loop {
            let batch = self.reader.read(self.from, BATCH_EVENTS, BATCH_BYTES, heartbeat).await.ok()?;
            self.from = batch.next;
            if let Some(frames) = self.frames(&batch) {
                return Some(frames);
            }
        }
    }
}
