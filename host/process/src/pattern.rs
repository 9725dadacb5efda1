//! Patterns to wait for: bounded in what they cost, whatever the child prints.

use regex::bytes::{Regex, RegexBuilder};
use wharf_core::expression::{CompileBudget, CostlyExpression};

use crate::output::{CapturedOutput, OutputReadError};

/// The longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1_024;
/// What a compiled pattern may take, and again what its matching may cache.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Lines that are longer are looked at in pieces of this size...
const WINDOW_BYTES: usize = 64 << 10;
/// ...of which each repeats this much of the one before.
const OVERLAP_BYTES: u64 = 4 << 10;

/// A regular expression that is searched for line by line, in linear time.
///
/// `^` and `$` are the ends of a line. The last line counts before it is
/// complete, since prompts never are. A match of more than 4 KiB in a line of
/// more than 64 KiB may be missed.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// Why a text is no pattern.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// It is too long.
    #[error("a pattern has at most {MAX_PATTERN_BYTES} bytes, this one has {given}")]
    TooLong {
        /// Its length.
        given: usize,
    },
    /// It takes too long to compile.
    #[error(transparent)]
    Costly(#[from] CostlyExpression),
    /// It is no regular expression, or multiplies out to too much.
    #[error("{problem}")]
    Syntax {
        /// What is wrong with it, in words.
        problem: String,
    },
}

/// A match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternMatch {
    /// The cursor of its first byte.
    pub from: u64,
    /// The cursor behind its last byte.
    pub to: u64,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Where it is too long, takes too long to compile, is malformed, or is too large once
    /// compiled.
    pub fn new(raw: &str) -> Result<Self, InvalidPattern> {
        if raw.len() > MAX_PATTERN_BYTES {
            return Err(InvalidPattern::TooLong { given: raw.len() });
        }
        CompileBudget::new(CompileBudget::REQUEST).spend_on(raw)?;
        RegexBuilder::new(raw)
            .multi_line(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map(Self)
            .map_err(|error| InvalidPattern::Syntax { problem: error.to_string() })
    }
}

/// Looks for a pattern in a stream that grows.
#[derive(Debug)]
pub(crate) struct PatternSearch<'s> {
    pattern: &'s Pattern,
    output: &'s CapturedOutput,
    /// Where the first line begins that has not been searched to its end.
    cursor: u64,
    /// Everything before was looked at.
    searched: u64,
}

impl<'s> PatternSearch<'s> {
    pub(crate) fn new(pattern: &'s Pattern, output: &'s CapturedOutput, from: u64) -> Self {
        Self { pattern, output, cursor: from, searched: from }
    }

    /// Looks through the next window. `None` in a step that found nothing but
    /// may have more to look at; the caller goes on until `is_current`.
    pub(crate) fn step(&mut self) -> Result<Option<PatternMatch>, OutputReadError> {
        let piece = self.output.read_bytes(self.cursor, WINDOW_BYTES)?;
        if let Some(found) = self.pattern.0.find(&piece.bytes) {
            return Ok(Some(PatternMatch {
                from: piece.from + found.start() as u64,
                to: piece.from + found.end() as u64,
            }));
        }
        self.searched = piece.next();
        self.cursor = match memchr::memrchr(b'\n', &piece.bytes) {
            Some(end) => piece.from + end as u64 + 1,
            None if piece.bytes.len() == WINDOW_BYTES => self.searched - OVERLAP_BYTES,
            None => piece.from.max(self.cursor),
        };
        Ok(None)
    }

    /// Whether all that was written before `bytes` has been looked at.
    pub(crate) fn is_current(&self, bytes: u64) -> bool {
        self.searched >= bytes
    }
}
