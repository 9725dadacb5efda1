//! Why a schema is refused.

use std::io;

use serde::Serialize;

use super::bounds::{MAX_DEPTH, MAX_RECURSIONS, MAX_TEXT_BYTES, MAX_WEIGHT};
use crate::quota::Bound;

/// Length of one violation in an error.
pub(super) const MAX_VIOLATION_BYTES: usize = 400;

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It does not conform to the dialect.
    #[error("it is no valid JSON Schema 2020-12: {0}")]
    Invalid(String),
    /// Arguments are always objects.
    #[error("its `type` must be \"object\"")]
    NotAnObject,
    /// The names that start so are the host's.
    #[error("it has the property `{0}`; names that start with two underscores belong to the host")]
    ReservedProperty(String),
    /// A reference leaves the schema.
    #[error("its reference `{0}` does not point to a schema within itself (`#`, `#/…` or `#anchor`)")]
    ForeignReference(String),
    /// It declares a resource of its own, which would change what references mean.
    #[error("it has `{0}` below its root; plugins' schemas are one resource")]
    Unsupported(&'static str),
    /// It nests too deeply.
    #[error("it nests more than {MAX_DEPTH} levels, or its references lead on for too long")]
    TooDeep,
    /// Checking against it could take too long.
    #[error(
        "it multiplies out to more than {MAX_WEIGHT} subschemas, or refers to itself at more than {MAX_RECURSIONS} places"
    )]
    TooHeavy,
    /// It applies itself to the same value again.
    #[error("it refers to itself without going into the value, so a check of it would never end")]
    Endless,
    /// There is too much of it.
    #[error("it and the schemas before it have more than {} parts (limit `{}`)", .limit.1, .limit.0)]
    TooManyParts {
        /// What is allowed.
        limit: Bound,
    },
    /// There are too many patterns.
    #[error("it and the schemas before it have more than {} patterns (limit `{}`)", .limit.1, .limit.0)]
    TooManyPatterns {
        /// What is allowed.
        limit: Bound,
    },
    /// The text of a pattern is too long.
    #[error("one of its patterns has more than {MAX_TEXT_BYTES} bytes")]
    LongPattern,
    /// All patterns take too long to compile.
    #[error(
        "its patterns and those of the schemas before it take too long to compile; use fewer escapes such as `\\d`, \
         fewer and smaller character classes, and leave wide ones out of `(?i)`"
    )]
    LongPatterns,
    /// A pattern compiles to too much.
    #[error("one of its patterns compiles to more than {} bytes (limit `{}`)", .limit.1, .limit.0)]
    LargePattern {
        /// What is allowed.
        limit: Bound,
    },
    /// All patterns compile to too much.
    #[error("its patterns and those of the schemas before it compile to more than {} bytes (limit `{}`)", .limit.1, .limit.0)]
    LargePatterns {
        /// What is allowed.
        limit: Bound,
    },
}

/// Names of members are quoted in it, and they are as hostile as all else.
pub(super) fn shorten(text: &str) -> String {
    let short = crate::text::line(text, MAX_VIOLATION_BYTES);
    if text.len() <= MAX_VIOLATION_BYTES { short } else { format!("{short}…") }
}

/// A value of a schema, which may be as large as that: written no further than it is shown.
pub(super) fn shorten_value(value: &impl Serialize) -> String {
    let mut beginning = Beginning(Vec::new());
    // It fails where there is enough.
    let _ = serde_json::to_writer(&mut beginning, value);
    shorten(&String::from_utf8_lossy(&beginning.0))
}

/// The first bytes of a text: some more than are shown, so that the cut is seen.
struct Beginning(Vec<u8>);

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_VIOLATION_BYTES + 8 - self.0.len();
        if room == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
