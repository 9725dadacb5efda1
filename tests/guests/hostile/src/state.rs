//! Attacks through state and handles, and a look at every import.

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::state::{Bucket, Change};
use wharf_sdk::bindings::wharf::plugin::types::Error;
use wharf_sdk::bindings::wharf::plugin::{caller, events, log, process, settings, terminal, workspace};

use crate::attack::{Attack, length, number, part, refusal, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new("open_buckets", "Opens so many handles and keeps them.", &[("count", "integer")], open_buckets),
    Attack::new(
        "open_bucket",
        "Opens one bucket of any scope and name.",
        &[("scope", "string"), ("name", "string")],
        open_bucket,
    ),
    Attack::new("host_calls", "Makes so many cheap host calls.", &[("count", "integer")], host_calls),
    Attack::new(
        "state_write",
        "Writes so many entries of so many bytes, one by one.",
        &[("count", "integer"), ("bytes", "integer")],
        state_write,
    ),
    Attack::new(
        "state_apply",
        "Writes so many entries of so many bytes at once.",
        &[("count", "integer"), ("bytes", "integer")],
        state_apply,
    ),
    Attack::new("state_key", "Writes an entry whose key has so many bytes.", &[("bytes", "integer")], state_key),
    Attack::new(
        "state_read",
        "Reads so many entries, as `state_write` names them, in one call.",
        &[("count", "integer")],
        state_read,
    ),
    Attack::new(
        "state_scan",
        "Reads so many pages of everything.",
        &[("count", "integer"), ("limit", "integer")],
        state_scan,
    ),
    Attack::new(
        "state_put",
        "Writes one entry.",
        &[("scope", "string"), ("key", "string"), ("value", "string")],
        state_put,
    ),
    Attack::new("state_get", "Reads one entry.", &[("scope", "string"), ("key", "string")], state_get),
    Attack::new("caller", "Says everything that the host says of the caller.", &[], caller),
    Attack::new("settings", "Says what the operator set for this plugin.", &[], |_| Ok(part_of(settings::get()))),
    Attack::new(
        "forge_context",
        "Tries to reach the state of another context, and to answer for one.",
        &[("session", "string")],
        forge_context,
    ),
    Attack::new("probe_imports", "Calls every import once.", &[], |_| report(&probe_imports())),
];

fn bucket(scope: &str) -> Result<Bucket, Error> {
    Bucket::open(scope, "hostile")
}

fn key(index: usize) -> String {
    format!("entry/{index:06}")
}

fn put(key: String, value: Vec<u8>) -> Change {
    Change { key, value: Some(value), if_revision: None }
}

fn open_buckets(arguments: &Value) -> Result<Answer, Error> {
    let mut open = Vec::new();
    for _ in 0..number(arguments, "count") {
        match bucket("thread") {
            Ok(bucket) => open.push(bucket),
            Err(error) => return report(&json!({ "opened": open.len(), "refused": refusal(&error) })),
        }
    }
    report(&json!({ "opened": open.len() }))
}

fn open_bucket(arguments: &Value) -> Result<Answer, Error> {
    Bucket::open(text(arguments, "scope"), text(arguments, "name"))?;
    report(&json!({ "opened": 1 }))
}

fn host_calls(arguments: &Value) -> Result<Answer, Error> {
    let count = number(arguments, "count");
    for _ in 0..count {
        caller::remaining();
    }
    report(&json!({ "called": count }))
}

fn state_write(arguments: &Value) -> Result<Answer, Error> {
    let bucket = bucket("thread")?;
    for index in 0..length(arguments, "count") {
        if let Err(error) = bucket.apply(&[put(key(index), vec![b'x'; length(arguments, "bytes")])]) {
            return report(&json!({ "written": index, "refused": refusal(&error) }));
        }
    }
    report(&json!({ "written": number(arguments, "count") }))
}

fn state_apply(arguments: &Value) -> Result<Answer, Error> {
    let entries = 0..length(arguments, "count");
    let changes: Vec<Change> = entries.map(|index| put(key(index), vec![b'x'; length(arguments, "bytes")])).collect();
    let revisions = bucket("thread")?.apply(&changes)?;
    report(&json!({ "written": revisions.len() }))
}

fn state_key(arguments: &Value) -> Result<Answer, Error> {
    bucket("thread")?.apply(&[put("k".repeat(length(arguments, "bytes")), Vec::new())])?;
    report(&json!({ "written": 1 }))
}

fn state_read(arguments: &Value) -> Result<Answer, Error> {
    let keys: Vec<String> = (0..length(arguments, "count")).map(key).collect();
    let entries = bucket("thread")?.get_many(&keys)?;
    let bytes: usize = entries.iter().flatten().map(|entry| entry.value.len()).sum();
    report(&json!({ "found": entries.iter().flatten().count(), "bytes": bytes }))
}

fn state_scan(arguments: &Value) -> Result<Answer, Error> {
    let bucket = bucket("thread")?;
    let limit = u32::try_from(number(arguments, "limit")).unwrap_or(u32::MAX);
    let (mut found, mut bytes, mut after) = (0, 0, None);
    for page in 0..number(arguments, "count") {
        let answer = bucket.scan("", after.as_deref(), limit)?;
        found += answer.entries.len();
        bytes += answer.entries.iter().map(|entry| entry.value.len()).sum::<usize>();
        if answer.next.is_none() {
            return report(&json!({ "pages": page + 1, "found": found, "bytes": bytes, "complete": true }));
        }
        after = answer.next;
    }
    report(&json!({ "pages": number(arguments, "count"), "found": found, "bytes": bytes, "complete": false }))
}

fn state_put(arguments: &Value) -> Result<Answer, Error> {
    let value = text(arguments, "value").as_bytes().to_vec();
    let revisions = bucket(text(arguments, "scope"))?.apply(&[put(text(arguments, "key").to_owned(), value)])?;
    report(&json!({ "revision": revisions.first() }))
}

fn state_get(arguments: &Value) -> Result<Answer, Error> {
    let bucket = bucket(text(arguments, "scope"))?;
    let entry = bucket.get_many(&[text(arguments, "key").to_owned()])?.pop().flatten();
    report(&json!({
        "value": entry.as_ref().map(|entry| String::from_utf8_lossy(&entry.value)),
        "revision": entry.as_ref().map(|entry| entry.revision),
        "expiredAt": bucket.expired_at()?,
    }))
}

fn caller(_arguments: &Value) -> Result<Answer, Error> {
    report(&json!({
        "session": caller::session(), "assistant": caller::assistant(), "thread": caller::thread(),
        "requestMeta": caller::request_meta(),
    }))
}

fn part_of(text: String) -> Answer {
    part("text/plain", text.into_bytes())
}

fn forge_context(arguments: &Value) -> Result<Answer, Error> {
    let session = text(arguments, "session");
    let scopes = [
        session.to_owned(),
        format!("session:{session}"),
        format!("thread/{session}"),
        "tenant".to_owned(),
        "host".to_owned(),
        "Thread".to_owned(),
        String::new(),
    ];
    let names =
        [format!("../{session}"), format!("{session}::hostile"), "a/b".to_owned(), String::new(), "n".repeat(65)];
    let mut opened: Vec<&str> = scopes.iter().filter(|scope| bucket(scope).is_ok()).map(String::as_str).collect();
    opened.extend(names.iter().filter(|name| Bucket::open("session", name).is_ok()).map(String::as_str));
    let mut answer = part("text/plain", json!({ "opened": opened }).to_string().into_bytes());
    let claims = json!({ "dev.wharf/sessionId": session, "dev.wharf/threadId": session, "dev.wharf/tenant": session });
    answer.meta = Some(claims.to_string());
    Ok(answer)
}

/// The code of each import's refusal; `ok` where it works.
pub(crate) fn probe_imports() -> Value {
    fn word<T>(result: Result<T, Error>) -> String {
        result.map_or_else(|error| error.code, |_| "ok".to_owned())
    }
    log::write("info", "a probe");
    let written = |scope| word(bucket(scope).and_then(|bucket| bucket.apply(&[put("probe".to_owned(), Vec::new())])));
    json!({
        "session": caller::session(),
        "settings": settings::get(),
        "state": { "thread": written("thread"), "session": written("session"), "plugin": written("plugin") },
        "process": word(process::list()),
        "workspace": word(workspace::files()),
        "terminal": word(terminal::list()),
        "progress": word(events::progress(0.0, None, None)),
        "message": word(events::message("info", "\"a probe\"")),
        "stream": word(events::open_stream("a probe", None)),
    })
}
