//! What the server says on one stream of a session: to the answer of one
//! request, or unasked.
//!
//! Messages wait in a ring until somebody reads them, and stay there for a
//! client whose connection drops, so that neither a slow client nor an absent
//! one holds anybody up. It never knows what they mean.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::Notify;

/// Messages that one stream keeps; the oldest go first.
const MOST_MESSAGES: usize = 1_024;

/// One stream.
#[derive(Default)]
pub(super) struct Outlet {
    // A lock of the standard library: held to move a few messages.
    ring: Mutex<Ring>,
    changed: Notify,
}

#[derive(Default)]
struct Ring {
    messages: VecDeque<Bytes>,
    /// The number of the first message that is kept, less 1.
    evicted: u64,
    bytes: u64,
    /// The number of the last message that was handed out.
    delivered: u64,
    ended: bool,
    /// Readers that are there. The newest is served: it may replace one whose
    /// connection dropped unnoticed, and nothing is said twice.
    readers: Vec<u64>,
    readers_ever: u64,
}

/// One message, and its number on its stream, from 1 on.
pub(super) struct Said {
    pub(super) number: u64,
    pub(super) json: Bytes,
}

impl Outlet {
    /// Appends.
    pub(super) fn say(&self, json: Bytes, most_bytes: u64) {
        let mut ring = self.ring();
        ring.bytes += json.len() as u64;
        ring.messages.push_back(json);
        ring.trim(most_bytes);
        drop(ring);
        self.changed.notify_waiters();
    }

    /// Keeps no more than this, but for the last message.
    pub(super) fn trim(&self, most_bytes: u64) {
        self.ring().trim(most_bytes);
    }

    /// Nothing more is said.
    pub(super) fn end(&self) {
        self.ring().ended = true;
        self.changed.notify_waiters();
    }

    pub(super) fn bytes(&self) -> u64 {
        self.ring().bytes
    }

    /// Whether anybody reads it.
    pub(super) fn is_read(&self) -> bool {
        !self.ring().readers.is_empty()
    }

    /// Whether all of it was handed out to somebody who is still there, or read it all.
    pub(super) fn was_read(&self) -> bool {
        let ring = self.ring();
        ring.ended && ring.delivered == ring.last()
    }

    /// Reads on behind `last`, or behind all that anybody was given before.
    pub(super) fn read(self: &Arc<Self>, last: Option<u64>) -> Reader {
        let mut ring = self.ring();
        ring.readers_ever += 1;
        let reader = ring.readers_ever;
        ring.readers.push(reader);
        let (again, last) = (ring.delivered, last.unwrap_or(ring.delivered).min(ring.last()));
        drop(ring);
        self.changed.notify_waiters();
        Reader { outlet: Arc::clone(self), reader, last, again }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
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

/// Somebody who reads one stream.
pub(super) struct Reader {
    outlet: Arc<Outlet>,
    reader: u64,
    /// The last message that was read.
    last: u64,
    /// Up to which it is told again what somebody was told before.
    again: u64,
}

/// What a look at a stream brings.
enum Look {
    Said(Said),
    Ended,
    Nothing,
}

impl Reader {
    /// The number of the message behind which it reads on.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The next message; nothing where none will come any more.
    pub(super) async fn next(&mut self) -> Option<Said> {
        let outlet = Arc::clone(&self.outlet);
        loop {
            let mut changed = std::pin::pin!(outlet.changed.notified());
            // Before the look: what is said after it wakes this one.
            changed.as_mut().enable();
            match self.look() {
                Look::Said(said) => return Some(said),
                Look::Ended => return None,
                Look::Nothing => changed.await,
            }
        }
    }

    /// The whole of the stream, where it has ended with its only message.
    pub(super) async fn only(&mut self) -> Option<Bytes> {
        let outlet = Arc::clone(&self.outlet);
        loop {
            let mut changed = std::pin::pin!(outlet.changed.notified());
            changed.as_mut().enable();
            {
                let ring = outlet.ring();
                match (ring.ended, ring.last()) {
                    (true, 1) => return ring.messages.front().cloned(),
                    (false, 0) => {}
                    _ => return None,
                }
            }
            changed.await;
        }
    }

    fn look(&mut self) -> Look {
        let mut ring = self.outlet.ring();
        let ended = if ring.ended { Look::Ended } else { Look::Nothing };
        if ring.readers.last() != Some(&self.reader) {
            return ended;
        }
        let read = if self.last < self.again { self.last } else { self.last.max(ring.delivered) };
        let number = read.max(ring.evicted) + 1;
        let at = usize::try_from(number - ring.evicted - 1).ok();
        let Some(json) = at.and_then(|at| ring.messages.get(at)).cloned() else { return ended };
        ring.delivered = ring.delivered.max(number);
        self.last = number;
        Look::Said(Said { number, json })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.outlet.ring().readers.retain(|reader| *reader != self.reader);
        self.outlet.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(outlet: &Outlet, text: &'static str) {
        outlet.say(Bytes::from_static(text.as_bytes()), 10);
    }

    async fn text(reader: &mut Reader) -> Option<(u64, String)> {
        let said = reader.next().await?;
        Some((said.number, String::from_utf8(said.json.to_vec()).expect("UTF-8")))
    }

    #[tokio::test]
    async fn who_comes_back_reads_on_where_it_was_and_the_newest_is_served() {
        let outlet = Arc::new(Outlet::default());
        say(&outlet, "a");
        let mut first = outlet.read(None);
        assert_eq!(text(&mut first).await, Some((1, "a".into())));
        say(&outlet, "b");
        let mut second = outlet.read(None);
        assert_eq!(text(&mut second).await, Some((2, "b".into())), "what the first has is not said again");
        let mut third = outlet.read(Some(1));
        assert_eq!(text(&mut third).await, Some((2, "b".into())), "but for who asks for it");
        drop((second, third));
        say(&outlet, "c");
        outlet.end();
        assert_eq!(text(&mut first).await, Some((3, "c".into())));
        assert_eq!(text(&mut first).await, None);
    }

    #[tokio::test]
    async fn the_oldest_goes_where_there_is_too_much_and_the_last_never() {
        let outlet = Arc::new(Outlet::default());
        for text in ["aaaaaa", "bbbbbb", "cccccccccccccccccccc"] {
            say(&outlet, text);
        }
        assert_eq!(outlet.bytes(), 20);
        let mut reader = outlet.read(None);
        assert_eq!(text(&mut reader).await, Some((3, "c".repeat(20))));
    }

    #[tokio::test]
    async fn a_single_message_is_told_from_several() {
        let outlet = Arc::new(Outlet::default());
        say(&outlet, "a");
        outlet.end();
        assert_eq!(outlet.read(None).only().await, Some(Bytes::from_static(b"a")));
        let outlet = Arc::new(Outlet::default());
        say(&outlet, "a");
        assert_eq!(outlet.read(None).only().await, None);
    }
}
