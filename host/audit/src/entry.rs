//! A line that is read again.

use chrono::DateTime;
use serde::Deserialize;

/// The kind of the line that begins a file.
pub(crate) const BEGIN: &str = "begin";
/// The kind of a line that signs where the chain stands before it.
pub(crate) const HEAD: &str = "head";
/// The kind of a line that tells of a removed file.
pub(crate) const REMOVED: &str = "removed";

/// Bytes of a time in a line.
const STAMP_BYTES: usize = "2026-01-01T00:00:00.000Z".len();

/// A line that was read. Any program that can write the file may have written any text, so
/// clean texts before a terminal shows them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// When the event ended; see [`stamp`](crate::stamp).
    pub time: String,
    /// `call`, `offer`, `host-call`, `denied`, `approval`, `change`, `operator`, `authentication`, `limited` or
    /// `dropped`.
    pub kind: String,
    /// The id of the call: `HOST-NUMBER`.
    #[serde(default)]
    pub id: String,
    /// The tenant.
    #[serde(default)]
    pub tenant: String,
    /// The session.
    #[serde(default)]
    pub session: String,
    /// The assistant, if any.
    #[serde(default)]
    pub assistant: String,
    /// The thread, if any.
    #[serde(default)]
    pub thread: String,
    /// The plugin.
    #[serde(default)]
    pub plugin: String,
    /// The digest of the component.
    #[serde(default)]
    pub digest: String,
    /// Who signed that component, in the line of a change.
    #[serde(default)]
    pub signer: String,
    /// The tool's own name.
    #[serde(default)]
    pub tool: String,
    /// The calling program's name for itself.
    #[serde(default)]
    pub client: String,
    /// The operator's name for the token that was shown.
    #[serde(default)]
    pub token: String,
    /// The subject of the token, where an authorization server issued it.
    #[serde(default)]
    pub subject: String,
    /// The address that the request came from, as far as it is kept.
    #[serde(default)]
    pub address: String,
    /// `INTERFACE.FUNCTION` of a host call, the kind of a change, or the reason of a
    /// refused token.
    #[serde(default)]
    pub function: String,
    /// The object of a host call, or the distance of a refused request.
    #[serde(default)]
    pub asked: String,
    /// What a change replaced.
    #[serde(default)]
    pub before: String,
    /// What it put there.
    #[serde(default)]
    pub after: String,
    /// `ok`, `tool-error`, `input-required` or the code of an error.
    #[serde(default)]
    pub outcome: String,
    /// Bytes of the input.
    #[serde(default)]
    pub bytes_in: u64,
    /// Bytes of the answer.
    #[serde(default)]
    pub bytes_out: u64,
    /// Most bytes of linear memory that the call's instance had; 0 for what runs no component.
    #[serde(default)]
    pub memory_bytes: u64,
    /// The trace that tells of it too, as 32 hexadecimal digits; empty where it is in none.
    #[serde(default)]
    pub trace: String,
    /// The arguments of a call, where the operator has them recorded: the beginning of a JSON text.
    #[serde(default)]
    pub arguments: String,
    /// Duration in microseconds.
    #[serde(default)]
    pub microseconds: u64,
    /// In a line of dropped records, their number; in a line for several events of a kind,
    /// their number; else 0. See [`AuditEntry::times`].
    #[serde(default)]
    pub count: u64,
    /// The line itself.
    #[serde(skip)]
    pub line: String,
}

impl AuditEntry {
    /// Reads a line; none for a damaged one.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let mut entry: Self = serde_json::from_slice(line).ok()?;
        if entry.time.len() != STAMP_BYTES || DateTime::parse_from_rfc3339(&entry.time).is_err() {
            return None;
        }
        entry.line = String::from_utf8(line.to_vec()).ok()?;
        Some(entry)
    }

    /// Whether it tells of the files and of nothing that happened.
    pub(crate) fn is_of_files(&self) -> bool {
        [BEGIN, HEAD, REMOVED].contains(&self.kind.as_str())
    }

    /// The number of events that the line stands for.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.count.max(1)
    }
}
