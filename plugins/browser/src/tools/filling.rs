//! The tools that fill forms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wharf_sdk::check::{length as check_length, range as check_range};
use wharf_sdk::webview::Operation;
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ActionAnswer, acted, check_element};
use crate::acting::{ACTION, ActionEffects, Click};
use crate::answer::{PageNow, quoted};
use crate::limits;
use crate::page::{ElementBrief, PageReply, SessionPage};
use crate::trouble::one;

/// A field and what it is to hold.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct FormField {
    /// The field: a reference of a snapshot such as `k3e12`, a CSS selector such as `#email`, or `text=E-mail` for the one that
    /// is labelled so.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// What it is to hold. Of a checkbox or radio "true" or "false", of a select the label or value of an option, of a date
    /// 2026-12-31. Empty clears it.
    #[schemars(length(max = limits::INPUT))]
    value: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fill {
    /// The fields to fill, in this order; a whole form in one call.
    #[schemars(length(min = 1, max = limits::FIELDS))]
    fields: Vec<FormField>,
    /// A frame of another origin in which they are, as get_snapshot names it.
    #[schemars(length(min = 1, max = limits::ID))]
    frame: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// A field as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilledField {
    /// Its reference.
    element: String,
    /// What it is called.
    name: String,
    /// What it holds now; of a password dots alone.
    value: String,
    /// What the page complains of.
    #[serde(skip_serializing_if = "String::is_empty")]
    complaint: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilledForm {
    /// The fields that were filled.
    fields: Vec<FilledField>,
    /// Effects: the page went elsewhere, a window.
    happened: Vec<String>,
    #[serde(flatten)]
    page: PageNow,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PreparedField {
    #[serde(flatten)]
    element: ElementBrief,
    /// The text has to be typed into what is selected now.
    #[serde(rename = "type")]
    types: Value,
    /// It has to be clicked.
    click: bool,
    value: String,
    says: String,
}

/// Fills fields of a form, one or all of them in one call: replaces what they hold, ticks boxes, chooses options, sets
/// dates. Sends nothing: click the button that does, or press_key Enter. Where one cannot be filled, those before it
/// are.
#[tool(title = "Fill fields", destructive, open_world, timeout_milliseconds = 180_000)]
pub(crate) fn fill(call: &Call, input: Fill) -> Result<Reply<FilledForm>, ToolError> {
    let count = u64::try_from(input.fields.len()).unwrap_or(u64::MAX);
    check_range("fields", count, 1, u64::try_from(limits::FIELDS).unwrap_or(u64::MAX))?;
    for field in &input.fields {
        check_element("element", &field.element)?;
        check_length("value", &field.value, limits::INPUT)?;
    }
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let before = page.before()?;
    let (mut filled, mut last) = (Vec::new(), PageReply::Answer(Value::Null));
    for field in &input.fields {
        let (one, told) = fill_one(&page, field).map_err(|error| after(&filled, error))?;
        filled.push(one);
        last = told;
        if !matches!(last, PageReply::Answer(_)) {
            break;
        }
    }
    let left = input.fields.len() - filled.len();
    let ActionEffects { page: now, mut happened } = page.settle(&before, &last)?;
    if left > 0 {
        happened.push(format!("{left} fields were not filled any more, since the page changed or a dialog opened."));
    }
    let mut text = String::from("Filled:");
    for FilledField { element, name, value, complaint } in &filled {
        text.push_str(&format!("\n{} [{element}]: {}", quoted(name), quoted(value)));
        if !complaint.is_empty() {
            text.push_str(&format!("; the page complains: {}", quoted(complaint)));
        }
    }
    for line in &happened {
        text.push_str(&format!("\n{line}"));
    }
    text.push_str(&format!("\n{}", now.text()));
    Ok(Reply::new(text, FilledForm { fields: filled, happened, page: now }))
}

/// An error that says which fields were filled before it.
fn after(filled: &[FilledField], error: ToolError) -> ToolError {
    if filled.is_empty() {
        return error;
    }
    let names: Vec<String> = filled.iter().map(|field| quoted(&field.name)).collect();
    error.with_advice(format!("filled before: {}", names.join(", ")))
}

fn fill_one(page: &SessionPage<'_>, field: &FormField) -> Result<(FilledField, PageReply), ToolError> {
    let target = field.element.as_str();
    page.ready(target, &["enabled", "editable"])?;
    let given = json!({ "target": target, "value": field.value, "types": page.rules.performs("text") });
    let told = page.act_on("fill", target, &given)?;
    let PageReply::Answer(answer) = told else { return Ok((unknown(target), told)) };
    let prepared: PreparedField = serde_json::from_value(answer)?;
    let told = if prepared.types == true {
        page.perform(&Operation::Text { text: field.value.clone() }, ACTION)?
    } else if prepared.click {
        page.click(target, &Click::plain())?.1
    } else {
        let PreparedField { element, value, .. } = prepared;
        let now = FilledField { element: element.reference, name: element.name, value, complaint: String::new() };
        return Ok((now, PageReply::Answer(Value::Null)));
    };
    let PageReply::Answer(_) = told else { return Ok((unknown(target), told)) };
    if prepared.click {
        let ElementBrief { reference, name, .. } = prepared.element;
        let value = field.value.trim().to_ascii_lowercase();
        return Ok((FilledField { element: reference, name, value, complaint: String::new() }, told));
    }
    // By its reference: what a selector names may have changed with the typing.
    let reference = prepared.element.reference.as_str();
    let confirmed = page.act_on("filled", reference, &json!({ "target": reference, "value": field.value }))?;
    let PageReply::Answer(answer) = confirmed else { return Ok((unknown(target), confirmed)) };
    let PreparedField { element, value, says, .. } = serde_json::from_value(answer)?;
    Ok((FilledField { element: element.reference, name: element.name, value, complaint: says }, told))
}

/// One whose page went elsewhere while it was filled.
fn unknown(target: &str) -> FilledField {
    let (element, name) = (target.to_owned(), target.to_owned());
    FilledField { element, name, value: String::new(), complaint: String::new() }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectOption {
    /// The select: a reference of a snapshot, a CSS selector, or `text=…`.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: String,
    /// The labels or values of the options to choose: one, or several where the select takes several. They replace what was
    /// chosen.
    #[schemars(length(min = 1, max = limits::OPTIONS), inner(length(max = limits::ELEMENT)))]
    options: Vec<String>,
    /// A frame of another origin, as get_snapshot names it.
    #[schemars(length(min = 1, max = limits::ID))]
    frame: Option<String>,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Chooses options of a select by label or value. Lists that are no selects are clicked open, and then the option is clicked.
#[tool(title = "Choose options", destructive, open_world, timeout_milliseconds = 60_000)]
pub(crate) fn select_option(call: &Call, input: SelectOption) -> Result<Reply<ActionAnswer>, ToolError> {
    check_element("element", &input.element)?;
    let count = u64::try_from(input.options.len()).unwrap_or(u64::MAX);
    check_range("options", count, 1, u64::try_from(limits::OPTIONS).unwrap_or(u64::MAX))?;
    input.options.iter().try_for_each(|option| check_length("options", option, limits::ELEMENT))?;
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let before = page.before()?;
    let target = input.element.as_str();
    page.ready(target, &["enabled"])?;
    let told = page.act_on("choose", target, &json!({ "target": target, "values": input.options }))?;
    let done = match &told {
        PageReply::Answer(answer) => {
            let PreparedField { element, value, .. } = serde_json::from_value(answer.clone())?;
            format!("Chose {} in {}", quoted(&value), one(&element.role, &element.name, &element.reference))
        }
        PageReply::Left | PageReply::Dialog => format!("Chose {}", quoted(&input.options.join(", "))),
    };
    acted(&page, &before, &told, done, false)
}
