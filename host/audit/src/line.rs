//! One line: a JSON object without line breaks, at most 4 KiB long.

use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use wharf_core::audit::AuditRecord;

/// Longest line, with its line break.
pub const MAX_LINE_BYTES: usize = 4 << 10;

/// Length of a time as lines have it.
const STAMP_BYTES: usize = "2026-01-01T00:00:00.000Z".len();

/// A time as lines have it: RFC 3339 in UTC, with milliseconds. All have one
/// length, so that texts compare as times do.
#[must_use]
pub fn stamp(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[derive(Serialize)]
struct Line<'r> {
    time: String,
    kind: &'r str,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assistant: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    tool: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'r str>,
    outcome: &'r str,
    bytes_in: u64,
    bytes_out: u64,
    microseconds: u64,
}

/// A record as a line, without its line break.
#[must_use]
pub fn line(record: &AuditRecord) -> String {
    let mut written = Vec::new();
    write(record, &mut written);
    // JSON is text.
    String::from_utf8(written).unwrap_or_default()
}

/// Writes a record as a line, without its line break.
pub(crate) fn write(record: &AuditRecord, out: &mut Vec<u8>) {
    let subject = &record.subject;
    let context = subject.context.as_ref();
    let mut shown = Line {
        time: stamp(record.time),
        kind: record.kind.as_str(),
        id: subject.id.to_string(),
        tenant: context.map(|context| context.tenant.as_str()),
        session: context.map(|context| context.session.as_str()),
        assistant: context.and_then(|context| Some(context.assistant.as_ref()?.as_str())),
        thread: context.and_then(|context| Some(context.thread.as_ref()?.as_str())),
        plugin: subject.plugin.as_ref().map(|plugin| plugin.as_str()),
        digest: subject.digest.as_ref().map(ToString::to_string),
        tool: &subject.tool,
        function: record.function.as_deref(),
        asked: record.asked.as_deref(),
        outcome: record.outcome.as_str(),
        bytes_in: record.bytes_in,
        bytes_out: record.bytes_out,
        microseconds: u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX),
    };
    let begun = out.len();
    // A struct of texts and numbers always has a form in JSON, and memory takes it.
    let _ = serde_json::to_writer(&mut *out, &shown);
    if out.len() - begun >= MAX_LINE_BYTES {
        // Names are bounded where records are made; whoever makes one elsewhere
        // gets a line, too.
        out.truncate(begun);
        (shown.tool, shown.function, shown.asked) = ("", None, None);
        let _ = serde_json::to_writer(out, &shown);
    }
}

/// The line that says how many could not be kept.
pub(crate) fn dropped(time: SystemTime, count: u64) -> String {
    format!(r#"{{"time":"{}","kind":"dropped","count":{count}}}"#, stamp(time))
}

/// A line that was read. Whoever can write the file may have written anything:
/// texts are to be cleaned before a terminal shows them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// When it was over; see [`stamp`].
    pub time: String,
    /// `call`, `offer`, `host-call`, `denied`, `change` or `dropped`.
    pub kind: String,
    /// Names the call: `HOST-NUMBER`.
    #[serde(default)]
    pub id: String,
    /// Whose it was.
    #[serde(default)]
    pub tenant: String,
    /// The session.
    #[serde(default)]
    pub session: String,
    /// The assistant, where there was one.
    #[serde(default)]
    pub assistant: String,
    /// The thread, where there was one.
    #[serde(default)]
    pub thread: String,
    /// The plugin.
    #[serde(default)]
    pub plugin: String,
    /// The component.
    #[serde(default)]
    pub digest: String,
    /// The tool's own name.
    #[serde(default)]
    pub tool: String,
    /// `INTERFACE.FUNCTION` of a host call.
    #[serde(default)]
    pub function: String,
    /// What a host call was about.
    #[serde(default)]
    pub asked: String,
    /// `ok`, `tool-error`, `input-required` or the code of an error.
    #[serde(default)]
    pub outcome: String,
    /// Bytes that came from who asked.
    #[serde(default)]
    pub bytes_in: u64,
    /// Bytes that were answered.
    #[serde(default)]
    pub bytes_out: u64,
    /// How long it took.
    #[serde(default)]
    pub microseconds: u64,
    /// How many lines were dropped, in one that says so.
    #[serde(default)]
    pub count: u64,
    /// The line itself.
    #[serde(skip)]
    pub line: String,
}

impl Entry {
    /// Reads a line; nothing where it is damaged.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let mut entry: Self = serde_json::from_slice(line).ok()?;
        if entry.time.len() != STAMP_BYTES || DateTime::parse_from_rfc3339(&entry.time).is_err() {
            return None;
        }
        entry.line = String::from_utf8(line.to_vec()).ok()?;
        Some(entry)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{sync::Arc, time::Duration};

    use wharf_core::{
        Code, Context, Digest, TenantId,
        audit::{AuditId, AuditKind, AuditOutcome, AuditSubject, shown},
    };

    use super::*;

    /// A record of a call of this tool.
    pub(crate) fn record(tool: &str) -> AuditRecord {
        AuditRecord {
            time: SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123),
            kind: AuditKind::Call,
            subject: Arc::new(AuditSubject {
                id: AuditId { host: 1, number: 2 },
                context: Some(Context::new(TenantId::local(), "s-1".parse().expect("legal"))),
                plugin: Some("echo".parse().expect("legal")),
                digest: None,
                tool: tool.into(),
            }),
            function: None,
            asked: None,
            outcome: AuditOutcome::Ok,
            bytes_in: 3,
            bytes_out: 4,
            took: Duration::from_micros(5),
        }
    }

    #[test]
    fn a_line_is_as_it_is_documented() {
        assert_eq!(
            line(&record("echo")),
            r#"{"time":"2026-09-21T14:13:20.123Z","kind":"call","id":"0000000000000001-2","tenant":"local","session":"s-1","plugin":"echo","tool":"echo","outcome":"ok","bytes_in":3,"bytes_out":4,"microseconds":5}"#
        );
    }

    #[test]
    fn the_longest_names_that_there_are_fit_a_line() {
        let long = "x".repeat(128);
        let hostile = "\"\\".repeat(200);
        let mut longest = record(&shown::<String>(&hostile));
        longest.kind = AuditKind::Denied;
        longest.outcome = AuditOutcome::Failed(Code::Unavailable);
        longest.subject = Arc::new(AuditSubject {
            context: Some(Context {
                tenant: long.parse().expect("legal"),
                session: long.parse().expect("legal"),
                assistant: Some(long.parse().expect("legal")),
                thread: Some(long.parse().expect("legal")),
            }),
            plugin: Some("p".repeat(64).parse().expect("legal")),
            digest: Some(Digest::of(b"x")),
            id: AuditId { host: u64::MAX, number: u64::MAX },
            ..(*longest.subject).clone()
        });
        longest.function = Some(long.as_str().into());
        longest.asked = Some(shown(&hostile));
        (longest.bytes_in, longest.bytes_out, longest.took) = (u64::MAX, u64::MAX, Duration::MAX);
        let written = line(&longest);
        assert!(written.len() < MAX_LINE_BYTES, "{}", written.len());
        let entry = Entry::read(written.as_bytes()).expect("a line");
        assert_eq!(entry.asked, "\"\\".repeat(64));
        // Who makes records by hand gets a line, too.
        longest.asked = Some("y".repeat(1 << 20).into());
        let written = line(&longest);
        assert!(written.len() < MAX_LINE_BYTES && Entry::read(written.as_bytes()).is_some());
    }

    #[test]
    fn no_name_starts_a_line_or_moves_a_cursor() {
        let hostile = "x\n{\"time\":\"2026-09-21T14:13:20.123Z\",\"kind\":\"call\"}\u{1b}[2J\u{9b}1m\u{202e}";
        let mut asked = record(&shown::<String>(hostile));
        asked.asked = Some(shown(hostile));
        let written = line(&asked);
        assert!(!written.contains(['\n', '\r', '\u{1b}', '\u{9b}', '\u{202e}']), "{written}");
        assert_eq!(Entry::read(written.as_bytes()).map(|entry| entry.kind), Some("call".to_owned()));
    }

    #[test]
    fn what_is_no_line_is_not_read() {
        for damaged in [
            "",
            "{",
            "[]",
            r#"{"time":"yesterday, at about noon","kind":"call"}"#,
            r#"{"time":"2026-09-21","kind":"call"}"#,
            r#"{"time":"2026-09-21T14:13:20.123Z"}"#,
        ] {
            assert_eq!(Entry::read(damaged.as_bytes()), None, "{damaged}");
        }
        assert!(Entry::read(dropped(SystemTime::now(), 7).as_bytes()).is_some_and(|entry| entry.count == 7));
    }
}
