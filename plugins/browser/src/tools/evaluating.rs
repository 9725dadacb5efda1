//! The tool that runs JavaScript.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::webview::{FailureKind, Outcome, RequestState, Script, ScriptFailure};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{check_optional, reading};
use crate::answer::{OpenDialog, PageNow, fenced};
use crate::limits::{self, within};
use crate::page::SessionPage;
use crate::session::of_session;
use crate::trouble;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evaluate {
    /// JavaScript: an expression, or statements that `return` something; `await` may be used. What it comes to is told as JSON.
    #[schemars(length(min = 1, max = limits::SCRIPT))]
    script: Option<String>,
    /// In place of a script: `next_cursor` of an earlier answer, for the next part of its result.
    #[schemars(length(min = 1, max = limits::ID))]
    cursor: Option<String>,
    /// Whether to run apart from the page's own scripts: it sees the same elements, but none of their variables.
    #[serde(default)]
    isolated: bool,
    /// Seconds that it may take.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = limits::WAIT_SECONDS))]
    timeout_seconds: u64,
    /// Bytes of the result to show at most.
    #[serde(default = "reading::default_bytes")]
    #[schemars(range(min = 500, max = limits::TEXT_BYTES_AT_MOST))]
    max_bytes: u32,
    /// A frame of another origin, as get_snapshot names it.
    #[schemars(length(min = 1, max = limits::ID))]
    frame: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

fn default_timeout() -> u64 {
    10
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Evaluated {
    /// JSON, or a part of it: words of the page.
    result: String,
    /// Bytes of the whole result.
    bytes: u64,
    /// The cursor of the next part; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    page: PageNow,
}

/// Runs JavaScript in a page and answers its value as JSON: for what no other tool does, such as reading data out of a
/// large page in one step. Promises are awaited, for `timeout_seconds` at most. A long result comes in parts: go on
/// with `cursor`.
#[tool(title = "Run JavaScript", destructive, open_world, timeout_milliseconds = 150_000)]
pub(crate) fn evaluate(call: &Call, input: Evaluate) -> Result<Reply<Evaluated>, ToolError> {
    check_optional("cursor", input.cursor.as_deref(), limits::ID)?;
    check_range("timeout_seconds", input.timeout_seconds, 1, limits::WAIT_SECONDS)?;
    check_range("max_bytes", input.max_bytes.into(), 500, limits::TEXT_BYTES_AT_MOST.into())?;
    let page = SessionPage::find(call, input.session.as_deref(), input.frame.clone())?;
    let (request, from, data, bytes) = match (&input.script, &input.cursor) {
        (Some(script), None) => {
            check_text("script", script, limits::SCRIPT)?;
            let (request, outcome) = run(&page, script, &input)?;
            (request, 0, outcome.data, outcome.bytes)
        }
        (None, Some(cursor)) => {
            let (request, from) = parse(cursor)?;
            let deadline = within(call, Duration::from_secs(input.timeout_seconds));
            ended(&page, request, deadline)?;
            let piece = call.web_pages().read_result(request, from, input.max_bytes)?;
            (request.to_owned(), piece.start, piece.data, piece.bytes)
        }
        _ => return Err(ToolError::invalid("give a `script`, or the `cursor` of an earlier one")),
    };
    let next = from + u64::try_from(data.len()).unwrap_or_default();
    let next_cursor = (next < bytes && !data.is_empty()).then(|| format!("{request}.{next}"));
    if next_cursor.is_none() {
        call.web_pages().acknowledge(&request)?;
    }
    let result = String::from_utf8_lossy(&data).into_owned();
    let now = PageNow::from(&page.info()?);
    let mut text = format!("{}\n{}", fenced(&now, "result", &result), now.text());
    if let Some(cursor) = &next_cursor {
        text.push_str(&format!("\nBytes {from} to {next} of {bytes}; evaluate goes on with cursor {cursor}"));
    }
    Ok(Reply::new(text, Evaluated { result, bytes, next_cursor, page: now }))
}

/// Runs a script and keeps its result in the page, so that more of it can be read.
fn run(page: &SessionPage<'_>, script: &str, input: &Evaluate) -> Result<(String, Outcome), ToolError> {
    let deadline = within(page.call, Duration::from_secs(input.timeout_seconds));
    let mut script = Script::new(script).deadline(deadline).max_bytes(input.max_bytes);
    if input.isolated {
        script = script.isolated();
    }
    if let Some(frame) = &input.frame {
        script = script.frame(frame);
    }
    let request = page.call.web_pages().execute(&page.id, &script).map_err(of_session)?;
    let outcome = ended(page, &request, deadline.saturating_add(Duration::from_secs(1)))?;
    Ok((request, outcome))
}

/// The result of a script; where it has not ended by then, it is stopped, unless a
/// dialog keeps it from ending.
fn ended(page: &SessionPage<'_>, request: &str, longest: Duration) -> Result<Outcome, ToolError> {
    let web_pages = page.call.web_pages();
    let outcome = web_pages.wait(request, longest)?;
    let failure = match (&outcome.state, &outcome.dialog) {
        (RequestState::Done, _) => return Ok(outcome),
        (RequestState::Pending, Some(dialog)) => {
            let message = format!(
                "{} evaluate with cursor {request}.0 tells what the script came to afterwards.",
                OpenDialog::from(dialog).text()
            );
            return Err(ToolError { retryable: false, ..ToolError::conflict(message) });
        }
        (RequestState::Pending, None) => {
            web_pages.cancel(request)?;
            web_pages.acknowledge(request)?;
            ScriptFailure::Failed { kind: FailureKind::TimeOut, message: String::new() }
        }
        (RequestState::Failed, _) => {
            web_pages.acknowledge(request)?;
            let kind = outcome.kind.unwrap_or(FailureKind::Exception);
            ScriptFailure::Failed { kind, message: outcome.message }
        }
        _ => ToolError::gone("the result is not kept any more: run it again").into(),
    };
    Err(trouble::of_failure(page, failure))
}

fn parse(cursor: &str) -> Result<(&str, u64), ToolError> {
    let parts = cursor.rsplit_once('.').and_then(|(request, from)| Some((request, from.parse().ok()?)));
    parts.ok_or_else(|| ToolError::invalid(format!("`{cursor}` is no cursor of an earlier answer of evaluate")))
}
