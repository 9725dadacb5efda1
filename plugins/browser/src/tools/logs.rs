//! The tools that read what a page logged, loaded and downloaded.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wharf_sdk::check::range as check_range;
use wharf_sdk::contract::webview::{
    AnyConsoleKind, ConsoleLogEntry, DownloadLogEntry, LogName, NetworkLogEntry, NumberedEntry,
};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::check_optional;
use crate::acting::downloaded;
use crate::answer::{PageNow, fenced, quoted};
use crate::limits::{self, within};
use crate::page::SessionPage;

/// Entries that a log holds at most.
const KEPT: u32 = 1_000;
/// How long one look for a download lasts.
const LOOK_MILLISECONDS: u64 = 500;

/// What of the console is shown, as a model names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum ConsoleLevel {
    #[default]
    All,
    Warnings,
    Errors,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetConsole {
    /// "errors" shows errors and exceptions alone, "warnings" warnings as well.
    #[serde(default)]
    level: ConsoleLevel,
    /// Only entries after this number: `next_after` of an earlier answer.
    #[serde(default)]
    after: u64,
    /// How many of the newest entries to show.
    #[serde(default = "default_entries")]
    #[schemars(range(min = 1, max = limits::ENTRIES))]
    max_entries: u32,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetNetwork {
    /// Only requests whose address has this text.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    url: Option<String>,
    /// Only those that failed, were refused, or came to a status of 400 and more.
    #[serde(default)]
    failed_only: bool,
    /// Only entries after this number: `next_after` of an earlier answer.
    #[serde(default)]
    after: u64,
    /// How many of the newest entries to show.
    #[serde(default = "default_entries")]
    #[schemars(range(min = 1, max = limits::ENTRIES))]
    max_entries: u32,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDownloads {
    /// Only entries after this number: `next_after` of an earlier answer.
    #[serde(default)]
    after: u64,
    /// Seconds to wait for one, where none has come yet.
    #[serde(default)]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

fn default_entries() -> u32 {
    50
}

/// Entries of a log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LogEntries {
    /// The entries, the oldest first, each with `number` and `time`: words of the page.
    // Of any JSON at all, a client could make nothing.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    entries: Vec<Value>,
    /// How many more there were that the answer has no room for; older ones.
    omitted: u64,
    /// How many are not kept any more.
    lost: u64,
    /// What `after` takes to see what comes from now on.
    next_after: u64,
    #[serde(flatten)]
    page: PageNow,
}

/// Shows what the page of a browser session wrote to its console: messages, warnings, errors, exceptions, and the dialogs that it
/// opened. The first thing to look at where a page does not do what it should.
#[tool(title = "Read the console", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn get_console(call: &Call, input: GetConsole) -> Result<Reply<LogEntries>, ToolError> {
    let wanted = |entry: &ConsoleLogEntry| {
        let failed = matches!(entry.kind, AnyConsoleKind::Error | AnyConsoleKind::Exception | AnyConsoleKind::Crash);
        match input.level {
            ConsoleLevel::All => true,
            ConsoleLevel::Warnings => failed || entry.kind == AnyConsoleKind::Warning,
            ConsoleLevel::Errors => failed,
        }
    };
    let line = |NumberedEntry { number, entry, .. }: &NumberedEntry<ConsoleLogEntry>| {
        let place = match (entry.url.as_deref().unwrap_or_default(), entry.line) {
            ("", _) => String::new(),
            (url, Some(line)) => format!(" ({url}:{line})"),
            (url, None) => format!(" ({url})"),
        };
        format!("{number} {}: {}{place}", entry.kind, shown(&entry.text))
    };
    log(call, LogName::Console, input.session.as_deref(), input.after, input.max_entries, wanted, line)
}

/// Shows what the page of a browser session loaded: method, address, status, size, time, and why something failed or was refused
/// by the host.
#[tool(title = "Read the network log", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn get_network(call: &Call, input: GetNetwork) -> Result<Reply<LogEntries>, ToolError> {
    check_optional("url", input.url.as_deref(), limits::ELEMENT)?;
    let wanted = |entry: &NetworkLogEntry| {
        let failed = entry.status.is_some_and(|status| status >= 400)
            || entry.failure.as_deref().is_some_and(|failure| !failure.is_empty())
            || entry.denied;
        (failed || !input.failed_only) && input.url.as_deref().is_none_or(|part| entry.url.contains(part))
    };
    let line = |NumberedEntry { number, entry, .. }: &NumberedEntry<NetworkLogEntry>| {
        let NetworkLogEntry { method, url, kind, status, mime_type, bytes, milliseconds, failure, denied } = entry;
        let came = match (denied, failure.as_deref().unwrap_or_default(), status) {
            (true, why, _) => format!("refused by the host {why}"),
            (_, "", Some(status)) => format!("{status} {}", mime_type.as_deref().unwrap_or_default()),
            (_, why, _) => format!("failed: {why}"),
        };
        let size = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
        let time = milliseconds.map(|time| format!(", {time} ms")).unwrap_or_default();
        format!("{number} {kind} {method} {} -> {came}{size}{time}", shown(url))
    };
    log(call, LogName::Network, input.session.as_deref(), input.after, input.max_entries, wanted, line)
}

/// Lists what the page of a browser session downloaded, with the files of the workspace in which it is. `wait_seconds` waits for a
/// download that was just begun.
#[tool(title = "List downloads", read_only, idempotent, timeout_milliseconds = 150_000)]
pub(crate) fn list_downloads(call: &Call, input: ListDownloads) -> Result<Reply<LogEntries>, ToolError> {
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    let wait = within(call, Duration::from_secs(input.wait_seconds));
    let looks = u64::try_from(wait.as_millis()).unwrap_or_default() / LOOK_MILLISECONDS;
    for _ in 0..looks {
        if !call.web_pages().entries(&page.id, LogName::Downloads.as_str(), input.after, 1)?.entries.is_empty() {
            break;
        }
        // The page waits: nothing here goes round meanwhile.
        page.try_ask("settle", &json!({ "milliseconds": LOOK_MILLISECONDS }))
            .map_err(|failure| crate::trouble::of_failure(&page, failure))?;
    }
    let line = |NumberedEntry { number, entry, .. }: &NumberedEntry<DownloadLogEntry>| {
        format!("{number} {}", downloaded(entry))
    };
    log(call, LogName::Downloads, Some(&page.id), input.after, limits::ENTRIES, |_| true, line)
}

/// Words of the page on one line, without the marks around them.
fn shown(text: &str) -> String {
    let quoted = quoted(text);
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// An entry as the host sent it, which goes into the answer, and as it is read.
type ReadEntry<E> = (Value, NumberedEntry<E>);

fn log<E: DeserializeOwned>(
    call: &Call,
    log: LogName,
    session: Option<&str>,
    after: u64,
    most: u32,
    wanted: impl Fn(&E) -> bool,
    line: impl Fn(&NumberedEntry<E>) -> String,
) -> Result<Reply<LogEntries>, ToolError> {
    check_range("max_entries", most.into(), 1, limits::ENTRIES.into())?;
    let page = SessionPage::find(call, session, None)?;
    let logged = call.web_pages().entries(&page.id, log.as_str(), after, KEPT)?;
    let mut found: Vec<ReadEntry<E>> = Vec::new();
    for sent in logged.entries {
        let read = NumberedEntry::<E>::deserialize(&sent)?;
        if wanted(&read.entry) {
            found.push((sent, read));
        }
    }
    let all = found.len();
    // From the newest on, as long as there is room.
    let mut room = usize::try_from(limits::TEXT_BYTES).unwrap_or(usize::MAX);
    let fits = |(_, read): &&ReadEntry<E>| {
        let size = line(read).len() + 1;
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let kept = found.iter().rev().take(usize::try_from(most).unwrap_or(usize::MAX)).take_while(fits).count();
    let newest = found.split_off(all - kept);
    let omitted = u64::try_from(all - kept).unwrap_or(u64::MAX);
    let now = PageNow::from(&page.info()?);
    let lines: Vec<String> = newest.iter().map(|(_, read)| line(read)).collect();
    let entries = newest.into_iter().map(|(sent, _)| sent).collect();
    let mut text = match lines.len() {
        0 => format!("Nothing of that is in the log `{log}`."),
        _ => fenced(&now, log.as_str(), &lines.join("\n")),
    };
    if omitted > 0 {
        text.push_str(&format!("\n{omitted} older ones are left out."));
    }
    if logged.lost > 0 {
        text.push_str(&format!("\n{} are not kept any more.", logged.lost));
    }
    text.push_str(&format!("\n{}", now.text()));
    let (lost, next_after) = (logged.lost, logged.next);
    Ok(Reply::new(text, LogEntries { entries, omitted, lost, next_after, page: now }))
}
