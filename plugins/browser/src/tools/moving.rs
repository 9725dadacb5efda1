//! The tools that go elsewhere.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::contract::webview::NavigationResult;
use wharf_sdk::webview::Operation;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{check_optional, reading};
use crate::acting::PageBefore;
use crate::answer::{PageNow, fenced};
use crate::limits;
use crate::page::{PageReply, SessionPage};
use crate::session;

/// What a page still loads when its load is over, such as what scripts fetch.
const LOADED_MILLISECONDS: u64 = 5_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Navigate {
    /// Where to go, such as `https://example.com/path`. Without a scheme, `https://` is put before it, or `http://` for this
    /// machine.
    #[schemars(length(min = 1, max = limits::URL))]
    url: String,
    /// The session; left out, the one that was used last, or a new one where there is none.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// Seconds that the page may take to load.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = limits::WAIT_SECONDS))]
    timeout_seconds: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// Seconds that the page may take to load.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = limits::WAIT_SECONDS))]
    timeout_seconds: u64,
}

fn default_timeout() -> u64 {
    30
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct NavigationAnswer {
    /// The status of HTTP, such as 200 or 404; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u64>,
    /// How often the address led elsewhere.
    redirects: u64,
    /// What the page is, such as `text/html`.
    mime_type: String,
    /// Whether the address turned out to be a download; the page stayed where it was.
    download: bool,
    /// What was downloaded, and other things that happened.
    happened: Vec<String>,
    /// The page as it is now, where that was asked for: words of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    #[serde(flatten)]
    page: PageNow,
}

/// Opens an address and waits until the page has loaded. Answers the HTTP status, where it ended after redirects, and
/// its title. Opens a session where there is none. Then look at the page with get_snapshot (what can be clicked and
/// filled) or get_page_content (what it says).
#[tool(title = "Open an address", open_world, timeout_milliseconds = 180_000)]
pub(crate) fn navigate(call: &Call, input: Navigate) -> Result<Reply<NavigationAnswer>, ToolError> {
    check_text("url", &input.url, limits::URL)?;
    check_range("timeout_seconds", input.timeout_seconds, 1, limits::WAIT_SECONDS)?;
    let (info, opened) = session::find_or_open(call, input.session.as_deref())?;
    let page = SessionPage::of(call, info.id, None)?;
    let url = with_scheme(input.url.trim());
    let timeout = Duration::from_secs(input.timeout_seconds);
    let result = go(&page, &Operation::Navigate { url: url.clone() }, timeout, input.snapshot);
    if opened && result.is_err() {
        // Nobody was told of it.
        let _ = call.web_pages().close(&page.id);
    }
    result
}

/// Goes back one page in the history of a browser session, as the button of a browser does.
#[tool(title = "Go back", open_world, timeout_milliseconds = 180_000)]
pub(crate) fn back(call: &Call, input: Move) -> Result<Reply<NavigationAnswer>, ToolError> {
    moved(call, &input, &Operation::Back)
}

/// Goes forward one page in the history of a browser session, after back.
#[tool(title = "Go forward", open_world, timeout_milliseconds = 180_000)]
pub(crate) fn forward(call: &Call, input: Move) -> Result<Reply<NavigationAnswer>, ToolError> {
    moved(call, &input, &Operation::Forward)
}

/// Loads the page of a browser session again; also brings back one that crashed.
#[tool(title = "Load again", open_world, timeout_milliseconds = 180_000)]
pub(crate) fn reload(call: &Call, input: Move) -> Result<Reply<NavigationAnswer>, ToolError> {
    moved(call, &input, &Operation::Reload)
}

fn moved(call: &Call, input: &Move, operation: &Operation) -> Result<Reply<NavigationAnswer>, ToolError> {
    check_optional("session", input.session.as_deref(), limits::ID)?;
    check_range("timeout_seconds", input.timeout_seconds, 1, limits::WAIT_SECONDS)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    go(&page, operation, Duration::from_secs(input.timeout_seconds), input.snapshot)
}

fn go(
    page: &SessionPage<'_>,
    operation: &Operation,
    timeout: Duration,
    show: bool,
) -> Result<Reply<NavigationAnswer>, ToolError> {
    let before: PageBefore = page.before()?;
    let loaded: NavigationResult = match page.perform(operation, timeout)? {
        PageReply::Answer(loaded) => serde_json::from_value(loaded)?,
        told @ (PageReply::Left | PageReply::Dialog) => {
            let came = page.settle(&before, &told)?;
            return Ok(tell(NavigationResult::default(), came.page, came.happened, None));
        }
    };
    let download = loaded.download;
    if !download {
        // What it is not done with by then, wait_for waits for.
        let _ = page.try_ask("loaded", &json!({ "milliseconds": LOADED_MILLISECONDS }));
    }
    let came = page.settle(&before, &PageReply::Answer(Value::Null))?;
    // That it is elsewhere goes without saying here.
    let happened =
        came.happened.into_iter().filter(|line| line.starts_with("Download") || line.starts_with("The download"));
    let happened: Vec<String> = happened.collect();
    let piece = match came.page.dialog {
        None if show && !download => Some(reading::snapshot(page, None, limits::TEXT_BYTES, None)?),
        _ => None,
    };
    Ok(tell(loaded, came.page, happened, piece))
}

fn tell(
    loaded: NavigationResult,
    page: PageNow,
    happened: Vec<String>,
    piece: Option<crate::page::TextPiece>,
) -> Reply<NavigationAnswer> {
    let NavigationResult { mime_type, redirects, status, download, .. } = loaded;
    let mut text = match (download, status) {
        (true, _) => "The address is a download; the page stayed where it was.".to_owned(),
        (_, Some(status)) => format!("Loaded: HTTP {status}"),
        (_, None) => "Loaded".to_owned(),
    };
    if redirects > 0 {
        text.push_str(&format!(", after {redirects} redirects"));
    }
    for line in &happened {
        text.push_str(&format!("\n{line}"));
    }
    if download && happened.is_empty() {
        text.push_str("\nlist_downloads tells the outcome.");
    }
    text.push_str(&format!("\n{}", page.text()));
    if let Some(piece) = &piece {
        text.push_str(&format!("\n{}", fenced(&page, "snapshot", &piece.text)));
        if let Some(next) = &piece.next {
            text.push_str(&format!("\nThere is more: get_snapshot with cursor {next}"));
        }
    }
    let snapshot = piece.map(|piece| piece.text);
    let (http_status, mime_type) = (status.map(u64::from), mime_type.unwrap_or_default());
    Reply::new(text, NavigationAnswer { http_status, redirects, mime_type, download, happened, snapshot, page })
}

/// An address as people write it.
fn with_scheme(url: &str) -> String {
    let named = url.split_once(':').is_some_and(|(scheme, rest)| {
        let port = rest.split(['/', '?', '#']).next().is_some_and(|port| port.parse::<u16>().is_ok());
        !port
            && !scheme.is_empty()
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    });
    if named {
        return url.to_owned();
    }
    let host = url.split([':', '/', '?', '#']).next().unwrap_or_default();
    let here = host == "localhost" || host.ends_with(".localhost") || host.parse::<std::net::Ipv4Addr>().is_ok();
    format!("{}://{url}", if here { "http" } else { "https" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_the_scheme_that_people_mean() {
        for (url, expected) in [
            ("example.com/a", "https://example.com/a"),
            ("example.com:8080/a", "https://example.com:8080/a"),
            ("localhost:8080", "http://localhost:8080"),
            ("127.0.0.1:80/x", "http://127.0.0.1:80/x"),
            ("http://a/b:c", "http://a/b:c"),
            ("about:blank", "about:blank"),
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("javascript:alert(1)", "javascript:alert(1)"),
        ] {
            assert_eq!(with_scheme(url), expected);
        }
    }
}
