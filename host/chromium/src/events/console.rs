//! Entries of a page's console: its own, and those of the browser.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use wharf_webview::{ConsoleEntry, ConsoleKind, PageEvent};

use super::flood;
use crate::{
    connection::Event,
    page::{MOST_ENTRY_BYTES, Page, plain_entry},
};

/// How many values of one entry are reported.
const MOST_VALUES: usize = 32;
/// A longer event is not read: a page writes what it likes.
const EVENT_BYTES: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConsoleCall {
    #[serde(rename = "type")]
    kind: String,
    args: Vec<RemoteValue>,
    stack_trace: Option<StackTrace>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteValue {
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StackTrace {
    call_frames: Vec<CallFrame>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    url: String,
    line_number: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionThrown {
    exception_details: ExceptionDetails,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionDetails {
    text: String,
    url: Option<String>,
    line_number: u64,
    exception: Option<RemoteValue>,
}

#[derive(Debug, Deserialize)]
struct LogEntryAdded {
    entry: LogEntry,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogEntry {
    level: String,
    text: String,
    url: Option<String>,
    line_number: Option<u64>,
}

pub(super) fn hear(page: &Arc<Page>, session: &str, event: Event<'_>) {
    let read = match event.method {
        "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => event,
        _ => return,
    };
    if !flood::admits(page, session, read.bytes()) {
        return;
    }
    let entry = if read.bytes() > EVENT_BYTES {
        Some(plain_entry(ConsoleKind::Warning, "an entry was left out: it is longer than 1 MiB"))
    } else {
        entry(read)
    };
    if let Some(entry) = entry {
        page.sink.tell(PageEvent::Console(entry));
    }
}

fn entry(event: Event<'_>) -> Option<ConsoleEntry> {
    Some(match event.method {
        "Runtime.consoleAPICalled" => {
            let ConsoleCall { kind, args, stack_trace } = event.read()?;
            let mut text = String::new();
            for value in args.into_iter().take(MOST_VALUES) {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&said(value));
                if text.len() > MOST_ENTRY_BYTES {
                    break;
                }
            }
            let place = stack_trace.and_then(|stack| stack.call_frames.into_iter().next());
            let (url, line) = place.map_or((None, None), |place| (Some(place.url), Some(place.line_number)));
            at(kind_of(&kind), &text, url, line)
        }
        "Runtime.exceptionThrown" => {
            let ExceptionThrown { exception_details: ExceptionDetails { text, url, line_number, exception } } =
                event.read()?;
            let text = exception.map(said).filter(|said| !said.is_empty()).unwrap_or(text);
            at(ConsoleKind::Exception, &text, url, Some(line_number))
        }
        _ => {
            let LogEntryAdded { entry: LogEntry { level, text, url, line_number } } = event.read()?;
            at(kind_of(&level), &text, url, line_number)
        }
    })
}

fn kind_of(word: &str) -> ConsoleKind {
    match word {
        "error" | "assert" => ConsoleKind::Error,
        "warning" => ConsoleKind::Warning,
        "info" => ConsoleKind::Info,
        _ => ConsoleKind::Log,
    }
}

fn said(value: RemoteValue) -> String {
    let RemoteValue { value, unserializable_value, description, kind } = value;
    match value {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => unserializable_value.or(description).unwrap_or(kind),
    }
}

fn at(kind: ConsoleKind, text: &str, url: Option<String>, line: Option<u64>) -> ConsoleEntry {
    let url = url.filter(|url| !url.is_empty()).map(|url| wharf_core::text::cut(&url, 2_048).to_owned());
    // The browser counts from 0.
    let line = line.filter(|_| url.is_some()).map(|line| line.saturating_add(1));
    ConsoleEntry { url, line, ..plain_entry(kind, text) }
}
