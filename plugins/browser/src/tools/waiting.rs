//! The tool that waits for something to come or to go.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wharf_sdk::check::range as check_range;
use wharf_sdk::webview::Operation;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::check_optional;
use crate::answer::{PageNow, quoted};
use crate::limits::{self, within};
use crate::page::{PageReply, SessionPage};
use crate::trouble::{self, near_of};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitFor {
    /// A text that the page shows; case does not matter.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    text: Option<String>,
    /// An element that can be seen: a CSS selector, a reference, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: Option<String>,
    /// An address that the page is at, or a part of it; with `*` for any characters, all of it.
    #[schemars(length(min = 1, max = limits::URL))]
    url: Option<String>,
    /// That nothing is loaded any more.
    #[serde(default)]
    network_idle: bool,
    /// Whether to wait until text, element or address are gone, and not until they are there.
    #[serde(default)]
    gone: bool,
    /// Seconds to wait at most.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = limits::WAIT_SECONDS))]
    timeout_seconds: u64,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

fn default_timeout() -> u64 {
    15
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitAnswer {
    /// What was waited for, and came.
    came: String,
    #[serde(flatten)]
    page: PageNow,
}

/// How long nothing is loaded before that counts.
const IDLE: Duration = Duration::from_millis(500);
/// A wait is asked for again where the page goes elsewhere meanwhile; each time it
/// may be a little longer than was wanted in all.
const ROUNDS: u32 = 3;

/// Waits until a page shows a text or an element, is at an address, or loads nothing any more; with `gone`, until it no
/// longer does. Give one of `text`, `element`, `url` and `network_idle`. click and the other tools wait for their
/// elements by themselves.
#[tool(title = "Wait for something", read_only, idempotent, timeout_milliseconds = 150_000)]
pub(crate) fn wait_for(call: &Call, input: WaitFor) -> Result<Reply<WaitAnswer>, ToolError> {
    check_range("timeout_seconds", input.timeout_seconds, 1, limits::WAIT_SECONDS)?;
    check_optional("text", input.text.as_deref(), limits::ELEMENT)?;
    check_optional("element", input.element.as_deref(), limits::ELEMENT)?;
    check_optional("url", input.url.as_deref(), limits::URL)?;
    let given = [input.text.is_some(), input.element.is_some(), input.url.is_some(), input.network_idle];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err(ToolError::invalid("give one of `text`, `element`, `url` and `network_idle`"));
    }
    if input.network_idle && input.gone {
        return Err(ToolError::invalid("`gone` makes no sense with `network_idle`"));
    }
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    let timeout = within(call, Duration::from_secs(input.timeout_seconds));
    let came = if input.network_idle {
        page.perform(&Operation::NetworkIdle { idle: IDLE }, timeout)?;
        "nothing is loaded any more".to_owned()
    } else {
        until(&page, &input, timeout)?
    };
    let now = PageNow::from(&page.info()?);
    let text = format!("It came: {came}.\n{}", now.text());
    Ok(Reply::new(text, WaitAnswer { came, page: now }))
}

fn until(page: &SessionPage<'_>, input: &WaitFor, timeout: Duration) -> Result<String, ToolError> {
    let what = match (&input.text, &input.element, &input.url) {
        (Some(text), _, _) => format!("the text {}", quoted(text)),
        (_, Some(element), _) => format!("an element `{element}` that can be seen"),
        (_, _, Some(url)) => format!("the address `{url}`"),
        (None, None, None) => return Err(ToolError::internal("there is nothing to wait for")),
    };
    let what = if input.gone { format!("the end of {what}") } else { what };
    let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let given = json!({
        "text": input.text, "target": input.element, "url": input.url, "gone": input.gone, "milliseconds": milliseconds,
    });
    let mut answer = Value::Null;
    for _ in 0..ROUNDS {
        match page.act("until", &given)? {
            PageReply::Answer(told) => {
                answer = told;
                break;
            }
            PageReply::Left => {}
            PageReply::Dialog => return Err(interrupted(page)),
        }
    }
    trouble::check(input.element.as_deref().unwrap_or_default(), &answer)?;
    if answer["holds"] == true {
        return Ok(what);
    }
    let info = page.info()?;
    let now = PageNow::from(&info);
    let mut message = format!("{what} did not come within {} s", timeout.as_secs());
    if answer["near"].is_object() {
        message.push_str(&format!("; {}", near_of(&answer["near"])));
    }
    message.push_str(&format!(". {}", now.text()));
    Err(ToolError::timeout(message))
}

/// Why nothing can come any more.
fn interrupted(page: &SessionPage<'_>) -> ToolError {
    let open = page.info().ok().and_then(|info| PageNow::from(&info).dialog);
    let says = open.map(|dialog| dialog.text()).unwrap_or_default();
    ToolError { retryable: false, ..ToolError::conflict(format!("a dialog opened before it came. {says}")) }
}
