//! The format of a line: a JSON object without line breaks, at most 4 KiB long.

use std::{net::IpAddr, time::SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use wharf_core::{
    TenantId,
    audit::{AuditAddresses, AuditKind, AuditRecord},
};

use crate::{
    chain::CHAIN_BYTES,
    current_file::PreviousFile,
    entry::{BEGIN, HEAD, REMOVED},
};

/// Most bytes of a line, with its chain and its line break.
pub const MAX_LINE_BYTES: usize = 4 << 10;
/// Most bytes of what a line says, with its line break.
const MAX_CONTENT_BYTES: usize = MAX_LINE_BYTES - CHAIN_BYTES;

/// Bytes that a line of the kind [`HEAD`] takes at most, with its chain.
pub(crate) const HEAD_BYTES: u64 = 512;

/// A time in the format of lines: RFC 3339 in UTC, with milliseconds. All times have one
/// length, so that their texts compare as the times do.
#[must_use]
pub fn stamp(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[derive(Serialize)]
struct AuditLine<'r> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<&'r str>,
    tool: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'r str>,
    outcome: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    bytes_in: u64,
    bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'r str>,
    microseconds: u64,
}

/// A record as a line, without its line break.
#[must_use]
pub fn line(record: &AuditRecord) -> String {
    let mut written = Vec::new();
    write(record, AuditAddresses::Full, &mut written);
    // JSON is text.
    String::from_utf8(written).unwrap_or_default()
}

/// Writes a record as a line, without its line break.
pub(crate) fn write(record: &AuditRecord, addresses: AuditAddresses, out: &mut Vec<u8>) {
    let subject = &record.subject;
    // Host calls of a call have its id, and so its client and who sent it.
    let of_request = !matches!(record.kind, AuditKind::HostCall | AuditKind::Denied | AuditKind::Approval);
    let requester = subject.requester.as_deref().filter(|_| of_request);
    let replaced = record.replaced.as_deref();
    let context = subject.context.as_ref();
    let mut shown = AuditLine {
        time: stamp(record.time),
        kind: record.kind.as_str(),
        id: subject.id.to_string(),
        tenant: context.map(|context| context.tenant.as_str()),
        session: context.map(|context| context.session.as_str()),
        assistant: context.and_then(|context| Some(context.assistant.as_ref()?.as_str())),
        thread: context.and_then(|context| Some(context.thread.as_ref()?.as_str())),
        plugin: subject.plugin.as_ref().map(|plugin| plugin.as_str()),
        digest: subject.digest.as_ref().map(ToString::to_string),
        signer: subject.signer.as_deref(),
        tool: &subject.tool,
        client: subject.client.as_deref().filter(|_| of_request),
        token: requester.and_then(|requester| requester.token.as_deref()),
        subject: requester.and_then(|requester| requester.subject.as_deref()),
        address: requester.and_then(|requester| addresses.kept(requester.address?)),
        function: record.function.as_deref(),
        asked: record.asked.as_deref(),
        before: replaced.and_then(|replaced| replaced.before.as_deref()),
        after: replaced.and_then(|replaced| replaced.after.as_deref()),
        outcome: record.outcome.as_str(),
        count: (record.count != 1).then_some(record.count),
        bytes_in: record.bytes_in,
        bytes_out: record.bytes_out,
        memory_bytes: record.memory_bytes,
        trace: record.trace.map(|trace| trace.to_string()),
        arguments: record.arguments.as_deref(),
        microseconds: u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX),
    };
    let begun = out.len();
    // A struct of texts and numbers always serialises, and writing to memory never fails.
    let _ = serde_json::to_writer(&mut *out, &shown);
    if out.len() - begun >= MAX_CONTENT_BYTES {
        // Records of the host have bounded names; a longer one, which an app may make,
        // becomes a line without them.
        out.truncate(begun);
        (shown.tool, shown.client, shown.function, shown.asked) = ("", None, None, None);
        (shown.token, shown.subject, shown.before, shown.after) = (None, None, None, None);
        (shown.arguments, shown.signer) = (None, None);
        let _ = serde_json::to_writer(out, &shown);
    }
}

/// The party that a line belongs to; each has a share of the files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Party {
    /// The operator, whose share is unlimited.
    Operator,
    /// All callers without a valid token.
    Strangers,
    /// A tenant.
    Tenant(TenantId),
}

impl Party {
    /// The party of a record.
    pub(crate) fn of(record: &AuditRecord) -> Self {
        match (&record.subject.context, record.kind) {
            (Some(context), _) => Self::Tenant(context.tenant.clone()),
            (None, AuditKind::Authentication | AuditKind::Limited) => Self::Strangers,
            (None, _) => Self::Operator,
        }
    }

    /// The party of a written line.
    pub(crate) fn of_line(line: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct LineOwner {
            #[serde(default)]
            kind: String,
            tenant: Option<TenantId>,
        }
        match serde_json::from_slice(line) {
            Ok(LineOwner { tenant: Some(tenant), .. }) => Self::Tenant(tenant),
            Ok(LineOwner { kind, .. })
                if [AuditKind::Authentication.as_str(), AuditKind::Limited.as_str()].contains(&kind.as_str()) =>
            {
                Self::Strangers
            }
            _ => Self::Operator,
        }
    }
}

/// The line that begins a file, and says which one of its group came before it.
pub(crate) fn begin(time: SystemTime, file: &str, previous: Option<&PreviousFile>) -> Vec<u8> {
    let previous = previous
        .map(|previous| format!(r#","previous":"{}","previous_chain":"{}""#, previous.name, previous.chain.to_hex()));
    let previous = previous.unwrap_or_default();
    format!(r#"{{"time":"{}","kind":"{BEGIN}","file":"{file}"{previous}}}"#, stamp(time)).into_bytes()
}

/// The line that signs where the chain of a file stands before it.
pub(crate) fn head(time: SystemTime, file: &str, key: &str, signature: &str) -> Vec<u8> {
    let time = stamp(time);
    format!("{{\"time\":\"{time}\",\"kind\":\"{HEAD}\",\"file\":\"{file}\",\"key\":\"{key}\",\"signature\":\"{signature}\"}}\n")
        .into_bytes()
}

/// The line that tells of a file that made room for others.
pub(crate) fn removed(time: SystemTime, file: &str) -> Vec<u8> {
    format!(r#"{{"time":"{}","kind":"{REMOVED}","file":"{file}"}}"#, stamp(time)).into_bytes()
}

/// The line that counts a party's dropped records.
pub(crate) fn dropped(time: SystemTime, of: &Party, count: u64) -> String {
    let tenant = match of {
        // A tenant's name needs no escapes.
        Party::Tenant(tenant) => format!(r#","tenant":"{tenant}""#),
        Party::Operator | Party::Strangers => String::new(),
    };
    format!(r#"{{"time":"{}","kind":"dropped"{tenant},"count":{count}}}"#, stamp(time))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{sync::Arc, time::Duration};

    use wharf_core::{
        Code, Context, Digest, TenantId,
        audit::{AuditId, AuditKind, AuditOutcome, AuditSubject, MAX_CHANGE_BYTES, Replaced, Requester, shown},
    };

    use super::*;
    use crate::AuditEntry;

    /// A record of a call of this tool.
    pub(crate) fn record(tool: &str) -> AuditRecord {
        AuditRecord {
            time: SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123),
            count: 1,
            kind: AuditKind::Call,
            subject: Arc::new(AuditSubject {
                context: Some(Context::new(TenantId::local(), "s-1".parse().expect("legal"))),
                plugin: Some("echo".parse().expect("legal")),
                tool: tool.into(),
                ..AuditSubject::outside_calls(AuditId { host: 1, number: 2 })
            }),
            function: None,
            asked: None,
            outcome: AuditOutcome::Ok,
            bytes_in: 3,
            bytes_out: 4,
            memory_bytes: None,
            trace: None,
            arguments: None,
            replaced: None,
            took: Duration::from_micros(5),
        }
    }

    #[test]
    fn a_line_is_as_it_is_documented() {
        let with_memory = AuditRecord { memory_bytes: Some(65_536), ..record("echo") };
        assert_eq!(
            line(&with_memory),
            r#"{"time":"2026-09-21T14:13:20.123Z","kind":"call","id":"0000000000000001-2","tenant":"local","session":"s-1","plugin":"echo","tool":"echo","outcome":"ok","bytes_in":3,"bytes_out":4,"memory_bytes":65536,"microseconds":5}"#
        );
    }

    #[test]
    fn a_line_of_several_says_how_many_and_one_of_a_call_who_called() {
        let mut denied = record("echo");
        let client = Some(shown("claude-code 2.0\u{202e}\n"));
        denied.subject = Arc::new(AuditSubject { client, ..(*denied.subject).clone() });
        let call = AuditEntry::read(line(&denied).as_bytes()).expect("a line");
        assert_eq!((call.client.as_str(), call.times()), ("claude-code 2.0", 1));
        (denied.kind, denied.count) = (AuditKind::Denied, 98_999);
        let several = AuditEntry::read(line(&denied).as_bytes()).expect("a line");
        assert_eq!((several.client.as_str(), several.times()), ("", 98_999));
        assert_eq!(Party::of_line(line(&denied).as_bytes()), Party::of(&denied));
        let dropped = dropped(SystemTime::now(), &Party::of(&denied), 7);
        assert_eq!(AuditEntry::read(dropped.as_bytes()).expect("a line").tenant, "local");
    }

    #[test]
    fn a_line_says_who_sent_a_request_and_those_of_its_host_calls_do_not() {
        let mut call = record("echo");
        let requester =
            Requester { token: Some("ci".into()), subject: Some("ada".into()), address: "203.0.113.7".parse().ok() };
        call.subject = Arc::new(AuditSubject { requester: Some(Arc::new(requester)), ..(*call.subject).clone() });
        let who = |record: &AuditRecord, addresses| {
            let mut written = Vec::new();
            write(record, addresses, &mut written);
            let AuditEntry { token, subject, address, .. } = AuditEntry::read(&written).expect("a line");
            [token, subject, address]
        };
        assert_eq!(who(&call, AuditAddresses::Full), ["ci", "ada", "203.0.113.7"]);
        assert_eq!(who(&call, AuditAddresses::Network), ["ci", "ada", "203.0.113.0"]);
        assert_eq!(who(&call, AuditAddresses::None), ["ci", "ada", ""]);
        call.kind = AuditKind::HostCall;
        assert_eq!(who(&call, AuditAddresses::Full), ["", "", ""]);
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
            client: Some(shown(&hostile)),
            requester: Some(Arc::new(Requester {
                token: Some(shown(&hostile)),
                subject: Some(shown(&hostile)),
                address: "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff".parse().ok(),
            })),
            ..(*longest.subject).clone()
        });
        longest.function = Some(long.as_str().into());
        longest.asked = Some(shown(&hostile));
        (longest.bytes_in, longest.bytes_out, longest.took) = (u64::MAX, u64::MAX, Duration::MAX);
        longest.memory_bytes = Some(u64::MAX);
        let written = line(&longest);
        assert!(written.len() < MAX_LINE_BYTES, "{}", written.len());
        let entry = AuditEntry::read(written.as_bytes()).expect("a line");
        assert_eq!(entry.asked, "\"\\".repeat(64));
        // So does a change, which has no tenant.
        let mut change = record("");
        change.kind = AuditKind::Operator;
        change.subject = Arc::new(AuditSubject { context: None, ..(*longest.subject).clone() });
        let text: Box<str> = "\"\\".repeat(256).into();
        change.replaced = Some(Box::new(Replaced { before: Some(text.clone()), after: Some(text.clone()) }));
        let entry = AuditEntry::read(line(&change).as_bytes()).expect("a line");
        assert_eq!((entry.before.len(), entry.after.as_str()), (MAX_CHANGE_BYTES, &*text));
        // A record of an app with a longer name becomes a line, too.
        longest.asked = Some("y".repeat(1 << 20).into());
        let written = line(&longest);
        assert!(written.len() < MAX_LINE_BYTES && AuditEntry::read(written.as_bytes()).is_some());
    }

    #[test]
    fn no_name_starts_a_line_or_moves_a_cursor() {
        let hostile = "x\n{\"time\":\"2026-09-21T14:13:20.123Z\",\"kind\":\"call\"}\u{1b}[2J\u{9b}1m\u{202e}";
        let mut asked = record(&shown::<String>(hostile));
        asked.asked = Some(shown(hostile));
        let written = line(&asked);
        assert!(!written.contains(['\n', '\r', '\u{1b}', '\u{9b}', '\u{202e}']), "{written}");
        assert_eq!(AuditEntry::read(written.as_bytes()).map(|entry| entry.kind), Some("call".to_owned()));
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
            assert_eq!(AuditEntry::read(damaged.as_bytes()), None, "{damaged}");
        }
        assert!(
            AuditEntry::read(dropped(SystemTime::now(), &Party::Operator, 7).as_bytes())
                .is_some_and(|entry| entry.count == 7)
        );
    }
}
