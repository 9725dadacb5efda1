//! Reading a stream: from a cursor, from its beginning, from its end.

use std::io;

use wharf_encryption::StoredFile;

use super::{CapturedOutput, OutputProgress};

/// The most that one read returns, in bytes.
pub const MAX_READ_BYTES: usize = 1 << 20;
/// The least that one can ask for: the longest character.
const MIN_READ_BYTES: usize = 4;
/// How the end of a stream is looked through, backwards.
const BLOCK_BYTES: u64 = 64 << 10;

/// A stream that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the output cannot be read")]
pub struct OutputReadError(#[from] pub(crate) io::Error);

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputPiece {
    /// The cursor of its first byte: later than what was asked for where that
    /// is not kept any more.
    pub from: u64,
    /// What was printed, as it was.
    pub bytes: Vec<u8>,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// How much was printed in all when this was read.
    pub end: u64,
}

impl OutputPiece {
    /// The cursor to go on from.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }

    /// As text: U+FFFD stands for what is no UTF-8.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl CapturedOutput {
    /// Reads at most `max_bytes` (from 4 bytes to 1 MiB) from a cursor on. A
    /// character is never split between one read and the next; its beginning
    /// is held back until its end is there or can come no more.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn read(&self, cursor: u64, max_bytes: usize) -> Result<OutputPiece, OutputReadError> {
        // Before the read: a stream that is closed by now grows no more.
        let open = self.progress().open;
        let mut piece = self.read_bytes(cursor, max_bytes.max(MIN_READ_BYTES))?;
        if open || piece.next() < piece.end {
            let whole = piece.bytes.len() - unfinished(&piece.bytes);
            piece.bytes.truncate(whole);
        }
        Ok(piece)
    }

    /// The first `lines` lines that are kept, in at most `max_bytes`.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn head(&self, lines: usize, max_bytes: usize) -> Result<OutputPiece, OutputReadError> {
        let mut piece = self.read(0, max_bytes)?;
        let end = match lines.checked_sub(1) {
            None => Some(0),
            Some(before) => memchr::memchr_iter(b'\n', &piece.bytes).nth(before).map(|last| last + 1),
        };
        piece.bytes.truncate(end.unwrap_or(usize::MAX));
        Ok(piece)
    }

    /// The last `lines` lines, the last one complete or not, in at most
    /// `max_bytes`; where these are too few, the last bytes of them.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn tail(&self, lines: usize, max_bytes: usize) -> Result<OutputPiece, OutputReadError> {
        let max_bytes = max_bytes.clamp(MIN_READ_BYTES, MAX_READ_BYTES);
        let OutputProgress { bytes: end, evicted_before, .. } = self.progress();
        let earliest = evicted_before.max(end.saturating_sub(max_bytes as u64));
        let file = self.file()?;
        let start = match if lines == 0 { Ok(end) } else { line_start(&file, lines, earliest, end) } {
            // It was evicted while it was looked through.
            Err(_) if self.progress().evicted_before > earliest => return self.tail(lines, max_bytes),
            start => start?,
        };
        let wanted = usize::try_from(end - start).unwrap_or(usize::MAX);
        let mut piece = if wanted == 0 {
            OutputPiece { from: end, bytes: Vec::new(), evicted_before, end }
        } else {
            self.read_bytes(start, wanted)?
        };
        // Where bytes were counted instead of lines, it may start within a
        // character.
        if piece.from == earliest && earliest > 0 {
            let within = piece.bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
            piece.bytes.drain(..within);
            piece.from += within as u64;
        }
        Ok(piece)
    }

    /// Reads at most `max_bytes` (1 MiB at most), wherever that begins and ends.
    pub(crate) fn read_bytes(&self, cursor: u64, max_bytes: usize) -> Result<OutputPiece, OutputReadError> {
        let OutputProgress { bytes: end, evicted_before, .. } = self.progress();
        let mut from = cursor.max(evicted_before).min(end);
        let length = (end - from).min(max_bytes.min(MAX_READ_BYTES) as u64);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = if length > 0 { self.file()?.read_at(from, length, &mut bytes) } else { Ok(()) };
        // What was evicted meanwhile may have been read as zeros, which are nothing that was encrypted.
        let evicted_before = self.progress().evicted_before;
        match read {
            Err(_) if evicted_before > from => return self.read_bytes(evicted_before, max_bytes),
            read => read?,
        }
        if evicted_before > from {
            let gone = usize::try_from(evicted_before - from).map_or(bytes.len(), |gone| gone.min(bytes.len()));
            bytes.drain(..gone);
            from = evicted_before.min(end);
        }
        Ok(OutputPiece { from, bytes, evicted_before, end })
    }
}

/// Where the last `lines` lines before `end` begin, `earliest` at the
/// earliest.
fn line_start(file: &StoredFile, lines: usize, earliest: u64, end: u64) -> Result<u64, OutputReadError> {
    let mut left = lines;
    let mut block_end = end;
    let mut block = Vec::with_capacity(usize::try_from(BLOCK_BYTES.min(end - earliest)).unwrap_or_default());
    while block_end > earliest {
        let start = block_end.saturating_sub(BLOCK_BYTES).max(earliest);
        block.clear();
        file.read_at(start, block_end - start, &mut block)?;
        for newline in memchr::memrchr_iter(b'\n', &block).map(|at| start + at as u64) {
            // The very last one ends a line and starts none.
            if newline + 1 == end {
                continue;
            }
            left -= 1;
            if left == 0 {
                return Ok(newline + 1);
            }
        }
        block_end = start;
    }
    Ok(earliest)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end begin a character that is not complete.
fn unfinished(bytes: &[u8]) -> usize {
    for (count, byte) in bytes.iter().rev().take(3).enumerate().map(|(before, byte)| (before + 1, *byte)) {
        let needed = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            _ if is_continuation(byte) => continue,
            _ => return 0,
        };
        return if needed > count { count } else { 0 };
    }
    0
}
