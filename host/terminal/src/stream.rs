//! What comes from a terminal: bytes to bounded, well-formed text with control
//! sequences, and that to plain text and events.
//!
//! [`OutputParser`] is fed with bytes as they are read, cut anywhere, and hands out
//! pieces: each is for the screen and holds the plain text of the same part.
//! Where a piece ends with a [`ParsedEvent`], what it says holds right behind the
//! piece, so that a question for the cursor is answered from a screen that has
//! drawn all before it and nothing after. Its memory is bounded whatever comes.
//!
//! Never knows screens, answers, nor where bytes come from.

mod limiter;
mod mark;
mod plain;
mod query;
mod reader;
mod sequence;
#[cfg(test)]
mod tests;

pub use mark::{ShellMark, ShellMarkKind};
pub use query::TerminalQuery;
pub use reader::{ParsedEvent, TerminalModes};
pub(crate) use sequence::OpenSequence;

use self::{limiter::OutputLimiter, reader::SequenceReader};

/// What is read with care before one looks again for what is plain.
const CAREFUL_BYTES: usize = 16;

/// A part of the stream, in order.
#[derive(Debug)]
pub struct ParsedPiece<'s> {
    /// For the screen: UTF-8 with control sequences, all of them of bounded
    /// length and introduced by ESC.
    pub normalised: &'s str,
    /// The same without any control sequence. Of control characters it has
    /// newline and tab, and a carriage return where something is written over a
    /// line that is not empty.
    pub text: &'s str,
    /// What the program said at the end of the piece.
    pub event: Option<ParsedEvent>,
    /// What it has asked of its terminal until then.
    pub modes: TerminalModes,
}

/// The way from bytes to pieces.
#[derive(Default)]
pub struct OutputParser {
    limiter: OutputLimiter,
    parser: vte::Parser,
    reader: SequenceReader,
    /// Kept for its memory alone.
    normalised: String,
}

impl std::fmt::Debug for OutputParser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stream").field("limiter", &self.limiter).finish_non_exhaustive()
    }
}

impl OutputParser {
    /// Takes bytes and hands out what follows from them. What can only be read
    /// with the bytes that come next waits for them.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(ParsedPiece<'_>)) {
        let (mut rest, mut step) = (bytes, CAREFUL_BYTES);
        while !rest.is_empty() {
            let plain = self.plain(rest);
            if plain > 0 {
                // It is valid: the reader has looked.
                let normalised = str::from_utf8(&rest[..plain]).unwrap_or_default();
                each(ParsedPiece { normalised, text: self.reader.text(), event: None, modes: self.reader.modes() });
                self.reader.clear_text();
                (rest, step) = (&rest[plain..], CAREFUL_BYTES);
            }
            // Where little is plain, it is looked for less often.
            let (careful, after) = rest.split_at(step.min(rest.len()));
            self.feed_carefully(careful, &mut each);
            (rest, step) = (after, step.saturating_mul(2));
        }
    }

    /// Reads text in runs as far as it is plain, and says how far that is.
    fn plain(&mut self, bytes: &[u8]) -> usize {
        if !self.limiter.is_in_ground() || !self.reader.is_in_ground() {
            return 0;
        }
        let plain = self.reader.plain_parts(bytes);
        if plain > 0 {
            self.limiter.has_passed();
        }
        plain
    }

    fn feed_carefully(&mut self, bytes: &[u8], each: &mut impl FnMut(ParsedPiece<'_>)) {
        self.normalised.clear();
        self.limiter.feed(bytes, &mut self.normalised);
        let normalised = std::mem::take(&mut self.normalised);
        let mut rest = normalised.as_str();
        while !rest.is_empty() {
            let mut read = 0;
            while read < rest.len() && !self.reader.has_event() {
                read += self.step(&rest[read..]);
            }
            // Events are at the end of control sequences, which are ASCII.
            let (piece, after) = rest.split_at(read);
            rest = after;
            let event = self.reader.take_event();
            each(ParsedPiece { normalised: piece, text: self.reader.text(), event, modes: self.reader.modes() });
            self.reader.clear_text();
        }
        self.normalised = normalised;
    }

    /// Reads up to the next boundary between text and sequences, and says how
    /// far that is. Most of what programs print is text: it is taken in runs,
    /// where the parser would hand out one character after the other.
    fn step(&mut self, text: &str) -> usize {
        if self.reader.is_in_ground() {
            let read = self.reader.plain(text);
            if read > 0 {
                return read;
            }
        }
        self.reader.enter_sequence();
        self.parser.advance_until_terminated(&mut self.reader, text.as_bytes())
    }

    /// What the program has asked of its terminal so far.
    #[must_use]
    pub fn modes(&self) -> TerminalModes {
        self.reader.modes()
    }
}
