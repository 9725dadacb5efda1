//! The tool that scrolls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wharf_sdk::check::range as check_range;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::check_optional;
use crate::answer::PageNow;
use crate::limits;
use crate::page::SessionPage;

/// Where to, as a model names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Direction {
    Up,
    Down,
    Left,
    Right,
    Top,
    Bottom,
}

/// Screens at once.
const SCREENS: u32 = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scroll {
    /// Where to; left out, `element` is scrolled to where it can be seen.
    direction: Option<Direction>,
    /// How many screens.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = SCREENS))]
    screens: u32,
    /// What to scroll to or, with a direction, what is scrolled, such as a list with a bar of its own: a reference of a snapshot,
    /// a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

fn one() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Scrolled {
    /// Pixels above what is seen now.
    above: i64,
    /// Pixels below it.
    below: i64,
    #[serde(flatten)]
    page: PageNow,
}

#[derive(Deserialize)]
struct ScrollPosition {
    y: i64,
    height: i64,
    seen: i64,
}

/// Scrolls a page, or a part of it, by screens, to its top or bottom, or until an element can be seen. Only needed for pages that
/// load more when they are scrolled, and for screenshots: the other tools scroll by themselves.
#[tool(title = "Scroll", idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn scroll(call: &Call, input: Scroll) -> Result<Reply<Scrolled>, ToolError> {
    check_range("screens", input.screens.into(), 1, SCREENS.into())?;
    check_optional("element", input.element.as_deref(), limits::ELEMENT)?;
    if input.direction.is_none() && input.element.is_none() {
        return Err(ToolError::invalid("give a `direction`, or an `element` to scroll to"));
    }
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    page.before()?;
    if let Some(element) = &input.element {
        page.ready(element, &[])?;
    }
    let given = json!({ "target": input.element, "direction": input.direction, "pages": input.screens });
    let ScrollPosition { y, height, seen } =
        page.ask_of("scroll", input.element.as_deref().unwrap_or_default(), &given)?;
    let now = PageNow::from(&page.info()?);
    let (above, below) = (y, (height - y - seen).max(0));
    let end = if below == 0 { "; this is the end" } else { "" };
    let text = format!("Scrolled: {above} pixels above, {below} below{end}.\n{}", now.text());
    Ok(Reply::new(text, Scrolled { above, below, page: now }))
}
