//! The tools of the mouse.

use schemars::JsonSchema;
use serde::Deserialize;
use wharf_sdk::webview::{Modifier, MouseButton};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ActionAnswer, acted, check_element};
use crate::acting::Click;
use crate::limits;
use crate::page::SessionPage;
use crate::trouble::one;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClickInput {
    /// What to click: a reference of a snapshot such as `k3e12`, a CSS selector such as `#buy`, or `text=Buy now` for what is
    /// called so.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// Which button of the mouse.
    #[serde(default)]
    button: MouseButton,
    /// Whether to click twice.
    #[serde(default)]
    double: bool,
    /// Keys that are held meanwhile.
    #[serde(default)]
    #[schemars(length(max = 4))]
    modifiers: Vec<Modifier>,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// A frame of another origin, as get_snapshot names it.
    #[schemars(length(min = 1, max = limits::ID))]
    frame: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Clicks an element as a person would: waits until it is there, visible, enabled, still and not covered, scrolls to it
/// and clicks its middle. Then waits for the effect: a page that loads, a dialog (handle_dialog answers it), a
/// download.
#[tool(title = "Click", destructive, open_world, timeout_milliseconds = 90_000)]
pub(crate) fn click(call: &Call, input: ClickInput) -> Result<Reply<ActionAnswer>, ToolError> {
    check_element("element", &input.element)?;
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let before = page.before()?;
    let click = Click {
        button: input.button,
        count: if input.double { 2 } else { 1 },
        modifiers: input.modifiers.into_iter().take(4).collect(),
    };
    let (element, told) = page.click(&input.element, &click)?;
    let how = match (input.double, input.button) {
        (true, _) => "Double-clicked",
        (false, MouseButton::Left) => "Clicked",
        (false, MouseButton::Middle) => "Middle-clicked",
        (false, MouseButton::Right) => "Right-clicked",
    };
    let done = format!("{how} {}", one(&element.role, &element.name, &element.reference));
    acted(&page, &before, &told, done, input.snapshot)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hover {
    /// What to move over: a reference of a snapshot, a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Moves the mouse over an element of a page and leaves it there: for menus and hints that open by that.
#[tool(title = "Move the mouse over", open_world, timeout_milliseconds = 60_000)]
pub(crate) fn hover(call: &Call, input: Hover) -> Result<Reply<ActionAnswer>, ToolError> {
    check_element("element", &input.element)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    let before = page.before()?;
    let (element, told) = page.hover(&input.element)?;
    let done = format!("The mouse is over {}", one(&element.role, &element.name, &element.reference));
    acted(&page, &before, &told, done, input.snapshot)
}
