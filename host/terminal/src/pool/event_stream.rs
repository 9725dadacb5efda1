//! The stream of events of a terminal: what each turn brings, for readers that
//! come and go.
//!
//! A reader holds nothing up: the stream keeps a bounded part, and says what is
//! gone. Never knows who reads, nor over what.

use std::{sync::Arc, time::Duration};

use tokio::sync::Mutex;
use wharf_completion::{
    Streams,
    detection::{AgentStatus, Layer},
    stream::{BegunTurn, Message, OpenStream, StreamError, StreamId, StreamWriter, Turns},
};
use wharf_core::StreamOwner;

use crate::{Turn, TurnState};

/// Bytes of text in one event.
const EVENT_BYTES: usize = 8 << 10;
/// A turn is asked again after so long without a word.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Writes the stream of one terminal.
#[derive(Debug, Clone)]
pub(crate) struct TerminalEventStream {
    writer: StreamWriter,
    /// Held while a turn is told, so that the next one begins after its end.
    telling: Arc<Mutex<()>>,
}

impl TerminalEventStream {
    pub(crate) fn open(streams: &Streams, owner: StreamOwner, command: &str) -> Result<Self, StreamError> {
        let request = OpenStream { title: command, turns: Turns::Told, held_by: Some("terminal") };
        Ok(Self { writer: streams.open(owner, request)?, telling: Arc::default() })
    }

    pub(crate) fn id(&self) -> StreamId {
        self.writer.id()
    }

    /// Begins to tell of a turn that has begun, and why its program is over where
    /// it ends with that. The rest happens by itself.
    pub(crate) async fn begin(
        &self,
        turn: Turn,
        because: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Result<BegunTurn, StreamError> {
        // The turn before is over, and will soon have been told.
        let place = Arc::clone(&self.telling).lock_owned().await;
        let state = turn.state();
        let begun = self.writer.begin_turn(Some(state.number))?;
        self.writer.status(AgentStatus::Processing)?;
        let writer = self.writer.clone();
        tokio::spawn(async move {
            // It fails where the stream has ended, and nobody reads it then.
            if let Err(error) = tell(&writer, &turn, state.start, because).await {
                tracing::debug!(stream = %writer.id(), %error, "a turn is not told to its end");
            }
            drop(place);
        });
        Ok(begun)
    }

    /// The program is started again.
    pub(crate) fn restarting(&self, because: &str) {
        // Where the stream has ended, nobody reads it.
        let _ = self.writer.progress(&format!("restarting: {because}"), None);
    }

    pub(crate) fn end(&self, because: Option<String>) {
        because.into_iter().for_each(|because| self.writer.explain(because));
        self.writer.close();
    }
}

async fn tell(
    writer: &StreamWriter,
    turn: &Turn,
    mut from: u64,
    because: impl Fn() -> Option<String> + Send + Sync,
) -> Result<(), StreamError> {
    loop {
        let piece = turn.next(from, EVENT_BYTES, PATIENCE).await;
        if !piece.content.is_empty() {
            writer.message(Message { text: &piece.content, cursors: Some((piece.start, piece.next)) })?;
        }
        from = piece.next.max(from);
        let state = turn.state();
        if state.end.is_some_and(|end| from >= end) || (state.is_over() && piece.content.is_empty()) {
            writer.status(status_after(&state))?;
            let mut decision = state.decision;
            if decision.layer() == Some(Layer::Ended) {
                because().into_iter().for_each(|because| writer.explain(because));
            }
            if state.cancelled {
                decision.verdict = None;
            }
            writer.end_turn(state.number, &decision)?;
            return Ok(());
        }
    }
}

fn status_after(state: &TurnState) -> AgentStatus {
    match state.decision.layer() {
        _ if state.cancelled => AgentStatus::Ready,
        Some(Layer::Ended) => AgentStatus::Completed,
        Some(Layer::Signal | Layer::Status | Layer::Inactivity) => AgentStatus::Ready,
        // Cut off: it may still be at work.
        Some(Layer::Limit) | None => AgentStatus::Processing,
    }
}
