//! What a flood costs without a terminal: the stream and the screen alone.
//!
//! Counts the processor's time, which a busy machine hardly changes. It helps
//! to make them faster.

use rustix::time::{ClockId, clock_gettime};
use wharf_terminal::{OutputParser, Screen, TerminalSize};

use crate::flood::Kind;

/// What a terminal hands out at once.
const CHUNK_BYTES: usize = 4095;

/// Seconds of computing for each part, the stream's and both.
#[must_use]
pub fn measure(kind: Kind, bytes: usize) -> (f64, f64) {
    let text = kind.text(bytes).replace('\n', "\r\n");
    let (mut stream, mut screen) = (OutputParser::default(), Screen::new(TerminalSize::default(), 200));
    let began = computed();
    let mut pieces = 0;
    for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
        stream.feed(chunk, |piece| pieces += piece.text.len());
    }
    let streamed = computed() - began;
    let mut stream = OutputParser::default();
    let began = computed();
    for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
        stream.feed(chunk, |piece| screen.feed(piece.normalised));
    }
    drop((screen.view(), pieces));
    (streamed, computed() - began)
}

fn computed() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}
