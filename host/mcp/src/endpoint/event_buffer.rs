//! The messages of one stream of a session: what the server says to the answer of one
//! request, or unasked.
//!
//! Messages wait in a state until somebody reads them, and stay there for a
//! client whose connection drops, so that neither a slow client nor an absent
//! one holds the session up. It never knows what they mean.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// Messages that one stream keeps; the oldest go first.
const MOST_MESSAGES: usize = 1_024;

/// The messages of one stream.
#[derive(Default)]
pub(super) struct EventBuffer {
    // A blocking lock: held to move a few messages.
    state: Mutex<BufferState>,
    changed: Notify,
}

#[derive(Default)]
struct BufferState {
    messages: VecDeque<Bytes>,
    /// The number of the first message that is kept, less 1.
    evicted: u64,
    bytes: u64,
    /// The number of the last message that was handed out.
    delivered: u64,
    ended: bool,
    /// Readers that are there. The newest is served: it may replace one whose
    /// connection dropped unnoticed, and no message is delivered twice.
    readers: Vec<u64>,
    readers_ever: u64,
}

/// One message, and its number on its stream, from 1 on.
pub(super) struct BufferedMessage {
    pub(super) number: u64,
    pub(super) json: Bytes,
}

impl EventBuffer {
    /// Appends.
    pub(super) fn append(&self, json: Bytes, most_bytes: u64) {
        let mut state = self.state();
        state.bytes += json.len() as u64;
        state.messages.push_back(json);
        state.trim(most_bytes);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Keeps no more than this, but for the last message.
    pub(super) fn trim(&self, most_bytes: u64) {
        self.state().trim(most_bytes);
    }

    /// Nothing more will be appended.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_waiters();
    }

    pub(super) fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// Whether a client reads it.
    pub(super) fn has_reader(&self) -> bool {
        !self.state().readers.is_empty()
    }

    /// Whether it has ended and all of it was handed out.
    pub(super) fn was_delivered(&self) -> bool {
        let state = self.state();
        state.ended && state.delivered == state.last()
    }

    /// Reads on behind `last`, or behind all that was handed out before.
    pub(super) fn reader(self: &Arc<Self>, last: Option<u64>) -> BufferReader {
        let mut state = self.state();
        state.readers_ever += 1;
        let reader = state.readers_ever;
        state.readers.push(reader);
        let (again, last) = (state.delivered, last.unwrap_or(state.delivered).min(state.last()));
        drop(state);
        self.changed.notify_waiters();
        BufferReader { buffer: Arc::clone(self), reader, last, again }
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock()
    }
}

impl BufferState {
    fn trim(&mut self, most_bytes: u64) {
        // The last one is what matters most: it may be the answer.
        while self.messages.len() > 1 && (self.bytes > most_bytes || self.messages.len() > MOST_MESSAGES) {
            let gone = self.messages.pop_front().map_or(0, |gone| gone.len() as u64);
            self.bytes -= gone;
            self.evicted += 1;
        }
    }

    /// The number of the last message.
    fn last(&self) -> u64 {
        self.evicted + self.messages.len() as u64
    }
}

/// A client that reads one stream.
pub(super) struct BufferReader {
    buffer: Arc<EventBuffer>,
    reader: u64,
    /// The last message that was read.
    last: u64,
    /// Up to this message it is given again what another reader was given before.
    again: u64,
}

/// What an attempt to read brings.
enum BufferRead {
    Message(BufferedMessage),
    Ended,
    Nothing,
}

impl BufferReader {
    /// The number of the message behind which it reads on.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The next message; nothing where none will come any more.
    pub(super) async fn next(&mut self) -> Option<BufferedMessage> {
        let buffer = Arc::clone(&self.buffer);
        loop {
            let mut changed = std::pin::pin!(buffer.changed.notified());
            // Before the attempt: what is appended after it wakes this one.
            changed.as_mut().enable();
            match self.try_read() {
                BufferRead::Message(message) => return Some(message),
                BufferRead::Ended => return None,
                BufferRead::Nothing => changed.await,
            }
        }
    }

    /// The whole of the stream, where it has ended with its only message.
    pub(super) async fn single_message(&mut self) -> Option<Bytes> {
        let buffer = Arc::clone(&self.buffer);
        loop {
            let mut changed = std::pin::pin!(buffer.changed.notified());
            changed.as_mut().enable();
            {
                let state = buffer.state();
                match (state.ended, state.last()) {
                    (true, 1) => return state.messages.front().cloned(),
                    (false, 0) => {}
                    _ => return None,
                }
            }
            changed.await;
        }
    }

    fn try_read(&mut self) -> BufferRead {
        let mut state = self.buffer.state();
        let ended = if state.ended { BufferRead::Ended } else { BufferRead::Nothing };
        if state.readers.last() != Some(&self.reader) {
            return ended;
        }
        let read = if self.last < self.again { self.last } else { self.last.max(state.delivered) };
        let number = read.max(state.evicted) + 1;
        let at = usize::try_from(number - state.evicted - 1).ok();
        let Some(json) = at.and_then(|at| state.messages.get(at)).cloned() else { return ended };
        state.delivered = state.delivered.max(number);
        self.last = number;
        BufferRead::Message(BufferedMessage { number, json })
    }
}

impl Drop for BufferReader {
    fn drop(&mut self) {
        self.buffer.state().readers.retain(|reader| *reader != self.reader);
        self.buffer.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(buffer: &EventBuffer, text: &'static str) {
        buffer.append(Bytes::from_static(text.as_bytes()), 10);
    }

    async fn text(reader: &mut BufferReader) -> Option<(u64, String)> {
        let message = reader.next().await?;
        Some((message.number, String::from_utf8(message.json.to_vec()).expect("UTF-8")))
    }

    #[tokio::test]
    async fn who_comes_back_reads_on_where_it_was_and_the_newest_is_served() {
        let buffer = Arc::new(EventBuffer::default());
        say(&buffer, "a");
        let mut first = buffer.reader(None);
        assert_eq!(text(&mut first).await, Some((1, "a".into())));
        say(&buffer, "b");
        let mut second = buffer.reader(None);
        assert_eq!(text(&mut second).await, Some((2, "b".into())), "what the first has is not said again");
        let mut third = buffer.reader(Some(1));
        assert_eq!(text(&mut third).await, Some((2, "b".into())), "but for who asks for it");
        drop((second, third));
        say(&buffer, "c");
        buffer.end();
        assert_eq!(text(&mut first).await, Some((3, "c".into())));
        assert_eq!(text(&mut first).await, None);
    }

    #[tokio::test]
    async fn the_oldest_goes_where_there_is_too_much_and_the_last_never() {
        let buffer = Arc::new(EventBuffer::default());
        for text in ["aaaaaa", "bbbbbb", "cccccccccccccccccccc"] {
            say(&buffer, text);
        }
        assert_eq!(buffer.bytes(), 20);
        let mut reader = buffer.reader(None);
        assert_eq!(text(&mut reader).await, Some((3, "c".repeat(20))));
    }

    #[tokio::test]
    async fn a_single_message_is_told_from_several() {
        let buffer = Arc::new(EventBuffer::default());
        say(&buffer, "a");
        buffer.end();
        assert_eq!(buffer.reader(None).single_message().await, Some(Bytes::from_static(b"a")));
        let buffer = Arc::new(EventBuffer::default());
        say(&buffer, "a");
        assert_eq!(buffer.reader(None).single_message().await, None);
    }
}
