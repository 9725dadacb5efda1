//! Reading a stream: from a number on, with a bounded wait.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{Batch, StreamError, StreamId, StreamInfo, record::Record};

/// Reads one stream. Holds no event; dropping it changes nothing.
#[derive(Clone)]
pub struct StreamReader {
    pub(super) record: Arc<Record>,
}

impl std::fmt::Debug for StreamReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StreamReader").field("stream", &self.record.id).finish_non_exhaustive()
    }
}

impl StreamReader {
    /// Which stream.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.record.id
    }

    /// How it stands now.
    #[must_use]
    pub fn info(&self) -> StreamInfo {
        self.record.info()
    }

    /// Waits for the event `from` and returns it with what follows, at most
    /// `most_events` of together about `most_bytes` (always one where there is
    /// one). Empty where `patience` is over, or the stream has ended. Dropping
    /// the future changes nothing.
    ///
    /// # Errors
    /// `invalid` for a number behind the one that the next event will have.
    pub async fn read(
        &self,
        from: u64,
        most_events: usize,
        most_bytes: usize,
        patience: Duration,
    ) -> Result<Batch, StreamError> {
        let from = from.max(1);
        let until = Instant::now().checked_add(patience);
        loop {
            // Before looking, so that nothing is missed between the two.
            let changed = self.record.changed.notified();
            let ask_again = {
                let mut state = self.record.now();
                let next = state.ring.next();
                if from > next {
                    return Err(StreamError::Ahead { from, next });
                }
                state.used = Instant::now();
                let mut batch = state.ring.read(from, most_events, most_bytes);
                batch.ended = state.ended.map(|(_, why)| why).filter(|_| batch.next == next);
                batch.because = batch.ended.and_then(|_| state.because.clone());
                let over = until.is_some_and(|until| Instant::now() >= until);
                if !batch.events.is_empty() || batch.ended.is_some() || over {
                    return Ok(batch);
                }
                state.ask_again()
            };
            match [until, ask_again].into_iter().flatten().min() {
                Some(wake) => drop(timeout_at(wake, changed).await),
                None => changed.await,
            }
        }
    }
}
