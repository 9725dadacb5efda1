//! The tools that look at elements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wharf_sdk::check::range as check_range;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{check_element, check_optional, reading};
use crate::answer::{PageNow, fenced};
use crate::limits;
use crate::page::{SessionPage, TextPiece};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetElement {
    /// Which one: a reference of a snapshot such as `k3e12`, a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// A frame of another origin, as get_snapshot names it.
    #[schemars(length(min = 1, max = limits::ID))]
    frame: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// An option of a select.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct SelectChoice {
    label: String,
    value: String,
    selected: bool,
}

/// Where an element is, in pixels from the top left of what is seen.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ElementArea {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// What the page tells of an element: all of it words of the page.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ElementDetails {
    #[serde(rename(deserialize = "ref"))]
    element: String,
    role: String,
    name: String,
    tag: String,
    /// Such as `checked`, `disabled`, `expanded`.
    states: Vec<String>,
    visible: bool,
    enabled: bool,
    /// What a field holds; of a password dots alone.
    value: String,
    text: String,
    attributes: BTreeMap<String, String>,
    /// Of a select.
    options: Vec<SelectChoice>,
    #[serde(rename(deserialize = "box"))]
    area: ElementArea,
    /// Its HTML, cut to 4 KiB.
    html: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Element {
    #[serde(flatten)]
    details: ElementDetails,
    #[serde(flatten)]
    page: PageNow,
}

/// Tells all about one element of a page: role, name, state, value, text, attributes, options, where it is, and its HTML.
#[tool(title = "Look at an element", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn get_element(call: &Call, input: GetElement) -> Result<Reply<Element>, ToolError> {
    check_element("element", &input.element)?;
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let given = json!({ "target": input.element, "bytes": limits::ELEMENT_BYTES });
    let details: ElementDetails = page.ask_of("details", &input.element, &given)?;
    let now = PageNow::from(&page.info()?);
    let words = serde_json::to_string_pretty(&details)?;
    let text = format!("{}\n{}", now.text(), fenced(&now, "element", &words));
    Ok(Reply::new(text, Element { details, page: now }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListInteractable {
    /// Only those whose role, name or id has this text, such as `button` or `search`.
    #[schemars(length(min = 1, max = 200))]
    filter: Option<String>,
    /// `next_cursor` of an earlier answer, for the next part of the same list.
    #[schemars(length(min = 1, max = limits::ID))]
    cursor: Option<String>,
    /// Bytes to show at most.
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

/// Lists what can be clicked, filled or chosen on a page, a line each with its reference, without the texts between: shorter than
/// get_snapshot where only the way on is looked for.
#[tool(title = "List what can be used", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn list_interactable(call: &Call, input: ListInteractable) -> Result<Reply<reading::ReadPage>, ToolError> {
    check_range("max_bytes", input.max_bytes.into(), 500, limits::TEXT_BYTES_AT_MOST.into())?;
    check_optional("filter", input.filter.as_deref(), 200)?;
    check_optional("cursor", input.cursor.as_deref(), limits::ID)?;
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let given = json!({ "cursor": input.cursor, "bytes": input.max_bytes, "filter": input.filter });
    let piece: TextPiece = page.ask_of("interactable", "", &given)?;
    reading::read(&page, "list", "list_interactable", piece)
}
