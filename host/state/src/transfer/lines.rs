//! What a line of an export is, and how it is read and written.

use std::io::{self, BufRead, Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use wharf_core::{ScopeKey, ScopeKind};

use crate::{BucketTotals, ImportError, rules};

const FORMAT: &str = "wharf-state";
const VERSION: u32 = 1;
/// Most bytes of a line: a key and a value of control characters,
/// each written as six bytes.
const LINE_BYTES: u64 = 6 * (rules::MAX_VALUE_BYTES + rules::MAX_KEY_BYTES) as u64 + 1_024;

#[derive(Debug, Serialize, Deserialize)]
struct ExportHeader {
    format: String,
    version: u32,
}

/// Every line after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExportLine {
    Bucket(BucketLine),
    Entry(EntryLine),
    End(BucketTotals),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BucketLine {
    #[serde(flatten)]
    pub(super) scope: ScopeKey,
    pub(super) entries: u64,
    pub(super) bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine {
    pub(super) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl BucketLine {
    /// When the bucket expires, in milliseconds since 1970.
    pub(super) fn expires(&self) -> Result<Option<i64>, String> {
        let parse = |text: &str| {
            DateTime::parse_from_rfc3339(text)
                .map(|moment| moment.timestamp_millis())
                .map_err(|error| format!("`expires` is no time as RFC 3339 has it: {error}"))
        };
        self.expires.as_deref().map(parse).transpose()
    }

    /// Refuses ids that the kind of scope does not have: no call could name such a bucket,
    /// so nothing would ever read it.
    pub(super) fn check(&self) -> Result<(), String> {
        let ScopeKey { kind, session, assistant, thread, .. } = &self.scope;
        let named = (session.is_some(), assistant.is_some(), thread.is_some());
        let right = match kind {
            ScopeKind::Thread => session.is_some(),
            ScopeKind::Session => named == (true, false, false),
            ScopeKind::Assistant => named == (false, true, false),
            ScopeKind::Plugin => named == (false, false, false),
        };
        if right { Ok(()) } else { Err(format!("a bucket of scope `{}` has other ids", kind.as_str())) }
    }
}

impl EntryLine {
    pub(super) fn new(key: &str, value: &[u8]) -> Self {
        let (text, base64) = match std::str::from_utf8(value) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(STANDARD.encode(value))),
        };
        Self { key: key.to_owned(), text, base64 }
    }

    /// Key and value, checked as those of a call.
    pub(super) fn take(self) -> Result<(String, Vec<u8>), String> {
        let value = match (self.text, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(encoded)) => {
                STANDARD.decode(encoded).map_err(|error| format!("`base64` cannot be decoded: {error}"))?
            }
            _ => return Err("an entry has either `text` or `base64`".to_owned()),
        };
        rules::check_entry(&self.key, &value).map_err(|error| error.to_string())?;
        Ok((self.key, value))
    }
}

/// The time at which a bucket expires, as RFC 3339, for people and for the export. None for
/// moments beyond the calendar, in 260,000 years.
#[must_use]
pub fn moment(milliseconds: i64) -> Option<String> {
    Some(DateTime::<Utc>::from_timestamp_millis(milliseconds)?.to_rfc3339_opts(SecondsFormat::Millis, true))
}

pub(super) fn write_header(out: &mut dyn io::Write) -> io::Result<()> {
    write_json(out, &ExportHeader { format: FORMAT.to_owned(), version: VERSION })
}

pub(super) fn write(out: &mut dyn io::Write, line: &ExportLine) -> io::Result<()> {
    write_json(out, line)
}

fn write_json(out: &mut dyn io::Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Reads an export and holds one line at a time.
pub(super) struct ExportReader<'r> {
    from: &'r mut dyn BufRead,
    buffer: Vec<u8>,
    /// Number of the last line, counted from 1.
    pub(super) number: u64,
}

impl<'r> ExportReader<'r> {
    /// Reads and checks the first line.
    pub(super) fn begin(from: &'r mut dyn BufRead) -> Result<Self, ImportError> {
        let mut lines = Self { from, buffer: Vec::new(), number: 0 };
        if !lines.advance()? {
            return Err(ImportError::Cut { lines: 0 });
        }
        match serde_json::from_slice::<ExportHeader>(&lines.buffer) {
            Ok(header) if header.format != FORMAT => Err(ImportError::Foreign),
            Ok(header) if header.version > VERSION => Err(ImportError::Newer { found: header.version, known: VERSION }),
            Ok(_) => Ok(lines),
            Err(_) => Err(ImportError::Foreign),
        }
    }

    /// The next line. An export without its last line is an error.
    pub(super) fn next(&mut self) -> Result<ExportLine, ImportError> {
        if !self.advance()? {
            return Err(ImportError::Cut { lines: self.number });
        }
        serde_json::from_slice(&self.buffer).map_err(|error| {
            // The file was cut within this line.
            if error.is_eof() && !self.buffer.ends_with(b"\n") {
                ImportError::Cut { lines: self.number }
            } else {
                self.problem(error.to_string())
            }
        })
    }

    /// Refuses an export that goes on after its last line.
    pub(super) fn finish(mut self) -> Result<(), ImportError> {
        if self.advance()? { Err(self.problem("something follows the line that ends the export")) } else { Ok(()) }
    }

    pub(super) fn problem(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Line { line: self.number, problem: problem.into() }
    }

    fn advance(&mut self) -> Result<bool, ImportError> {
        self.buffer.clear();
        let read =
            (&mut self.from).take(LINE_BYTES + 1).read_until(b'\n', &mut self.buffer).map_err(ImportError::Read)?;
        self.number += u64::from(read > 0);
        if read as u64 > LINE_BYTES {
            return Err(self.problem(format!("it has more than {LINE_BYTES} bytes")));
        }
        Ok(read > 0)
    }
}
