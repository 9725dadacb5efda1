//! Waiting for a turn, and telling the client meanwhile what comes.
//!
//! Nothing here decides when a turn is over, and no text of the answer comes
//! from here: chunks that come faster than they can be told are skipped.

use std::time::{Duration, Instant};

use wharf_sdk::terminal::{Piece, Turn, View};
use wharf_sdk::{Call, ToolError};

use crate::limits::within;

/// Bytes that are read at once.
const CHUNK_BYTES: u32 = 2_048;
/// How long a program that floods is left alone between two reads: the host
/// paces the others.
const FLOOD_PAUSE: Duration = Duration::from_millis(40);
/// Bytes of progress that one event tells.
const TOLD_BYTES: usize = 1_000;
/// Events that are sent as they come. Each later one waits a little longer, so
/// that those which the host permits (1,000) last for as long as a call can:
/// 880 in 10 minutes.
const EVENTS_AT_ONCE: u32 = 20;
const FURTHER_APART: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Waits until a turn is over, at most so long, and tells the client what it
/// prints from a cursor on.
pub(crate) fn follow(call: &Call, id: &str, turn: &Turn, from: u64, longest: Duration) -> Result<Turn, ToolError> {
    let deadline = Instant::now() + within(call, longest);
    let mut progress = TurnProgress::new(call, turn.start);
    let mut cursor = from;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let followed = call.terminals().follow(id, turn.number, cursor, CHUNK_BYTES, left)?;
        let piece = &followed.piece;
        progress.add(piece);
        // It waited in vain for as long as it was told to.
        if !followed.turn.is_running() || piece.data.is_empty() || left.is_zero() {
            progress.tell();
            return Ok(followed.turn);
        }
        let lag = piece.end.saturating_sub(u64::from(CHUNK_BYTES));
        if lag > piece.next {
            std::thread::sleep(FLOOD_PAUSE.min(left));
        }
        cursor = piece.next.max(lag);
    }
}

/// Reads on until nothing comes for `quiet`, or for so long in all. Returns the
/// cursor behind the last byte.
///
/// For what comes without a turn: what a program says when it starts, and what
/// it makes of keys.
pub(crate) fn settle(
    call: &Call,
    id: &str,
    view: View,
    from: u64,
    (first, quiet): (Duration, Duration),
    longest: Duration,
) -> Result<u64, ToolError> {
    let deadline = Instant::now() + within(call, longest);
    let mut cursor = from;
    let mut patience = first;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let piece = call.terminals().read(id, view, cursor, CHUNK_BYTES, patience.min(left))?;
        if piece.data.is_empty() || left.is_zero() {
            return Ok(piece.end.max(cursor));
        }
        let lag = piece.end.saturating_sub(u64::from(CHUNK_BYTES));
        if lag > piece.next {
            std::thread::sleep(FLOOD_PAUSE.min(left));
        }
        (cursor, patience) = (piece.next.max(lag), quiet);
    }
}

/// What a turn printed and the client was not told yet.
struct TurnProgress<'call> {
    call: &'call Call,
    start: u64,
    text: String,
    next: u64,
    sent: u32,
    last: Option<Instant>,
    is_heard: bool,
}

impl<'call> TurnProgress<'call> {
    fn new(call: &'call Call, start: u64) -> Self {
        Self { call, start, text: String::new(), next: start, sent: 0, last: None, is_heard: true }
    }

    fn add(&mut self, piece: &Piece) {
        if piece.data.is_empty() {
            return;
        }
        if piece.start > self.next {
            // What lies between was skipped.
            self.text.clear();
        }
        self.text.push_str(&piece.text());
        self.next = piece.next;
        let pause = LONGEST_PAUSE.min(FURTHER_APART * self.sent.saturating_sub(EVENTS_AT_ONCE));
        if self.last.is_none_or(|last| last.elapsed() >= pause) {
            self.tell();
        }
    }

    /// Sends what there is; only the newest of much.
    fn tell(&mut self) {
        let start = self.text.ceil_char_boundary(self.text.len().saturating_sub(TOLD_BYTES));
        let newest = self.text.get(start..).unwrap_or_default();
        let line = newest.split_whitespace().collect::<Vec<_>>().join(" ");
        self.text.clear();
        if line.is_empty() || !self.is_heard {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let done = self.next.saturating_sub(self.start) as f64;
        // Nobody has to listen: without the grant, the turn is followed all the
        // same.
        self.is_heard = self.call.progress(done, None, Some(&line)).is_ok();
        self.sent += 1;
        self.last = Some(Instant::now());
    }
}
