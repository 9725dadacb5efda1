//! The tools of the keyboard.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wharf_sdk::check::{length as check_length, text as check_text};
use wharf_sdk::webview::{Modifier, Operation};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{ActionAnswer, acted, check_element, check_optional};
use crate::acting::ACTION;
use crate::limits;
use crate::page::{ElementBrief, PageReply, SessionPage};
use crate::trouble::one;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TypeText {
    /// What to type. It is added to what is there; fill replaces it.
    #[schemars(length(max = limits::INPUT))]
    text: String,
    /// Where to type: a reference of a snapshot, a CSS selector, or `text=…`. Left out, where the focus is.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: Option<String>,
    /// Whether to press Enter afterwards, which sends most forms.
    #[serde(default)]
    submit: bool,
    /// Whether to press a key for each character, for fields that look at keys, such as those that suggest something. At most
    /// 500 characters.
    #[serde(default)]
    key_by_key: bool,
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

/// Characters that are typed key by key.
const KEYS: usize = 500;

/// Types a text into a field of a page, behind what is there, and presses Enter where `submit` says so. To set the value of a
/// field, or of several, fill is simpler.
#[tool(title = "Type a text", destructive, open_world, timeout_milliseconds = 120_000)]
pub(crate) fn type_text(call: &Call, input: TypeText) -> Result<Reply<ActionAnswer>, ToolError> {
    check_length("text", &input.text, if input.key_by_key { KEYS } else { limits::INPUT })?;
    check_optional("element", input.element.as_deref(), limits::ELEMENT)?;
    if input.text.is_empty() && !input.submit {
        return Err(ToolError::invalid("there is nothing to type: give a `text`, or `submit`"));
    }
    let page = SessionPage::find(call, input.session.as_deref(), input.frame)?;
    let before = page.before()?;
    let element = match &input.element {
        Some(target) => {
            page.ready(target, &["enabled", "editable"])?;
            page.ask_of("caret", target, &json!({ "target": target }))?
        }
        None => focused(&page)?,
    };
    let mut told = type_into(&page, &element, &input.text, input.key_by_key)?;
    if input.submit && matches!(told, PageReply::Answer(_)) {
        told = page.perform(&Operation::Key { key: "Enter".to_owned(), modifiers: Vec::new() }, ACTION)?;
    }
    let field = one(&element.role, &element.name, &element.reference);
    let enter = if input.submit { " and pressed Enter" } else { "" };
    let done = format!("Typed {} characters into {field}{enter}", input.text.chars().count());
    acted(&page, &before, &told, done, input.snapshot)
}

fn focused(page: &SessionPage<'_>) -> Result<ElementBrief, ToolError> {
    let element: ElementBrief = page.ask("focused", &json!({}))?;
    if element.reference.is_empty() {
        return Err(ToolError::invalid("nothing on this page has the focus: say in which `element` to type"));
    }
    Ok(element)
}

fn type_into(
    page: &SessionPage<'_>,
    element: &ElementBrief,
    text: &str,
    key_by_key: bool,
) -> Result<PageReply, ToolError> {
    if text.is_empty() {
        return Ok(PageReply::Answer(Value::Null));
    }
    if key_by_key && page.rules.performs("key") {
        for character in text.chars() {
            let key = if character == '\n' { "Enter".to_owned() } else { character.to_string() };
            match page.perform(&Operation::Key { key, modifiers: Vec::new() }, ACTION)? {
                PageReply::Answer(_) => {}
                told => return Ok(told),
            }
        }
        return Ok(PageReply::Answer(Value::Null));
    }
    if page.rules.performs("text") {
        return page.perform(&Operation::Text { text: text.to_owned() }, ACTION);
    }
    let target = &element.reference;
    page.act_on("insert", target, &json!({ "target": target, "text": text }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PressKey {
    /// The key: a character, or `Enter`, `Tab`, `Escape`, `Backspace`, `Delete`, `ArrowUp`, `ArrowDown`, `ArrowLeft`,
    /// `ArrowRight`, `Home`, `End`, `PageUp`, `PageDown`, `F1` to `F12`; with `Control+`, `Shift+`, `Alt+` or `Meta+` before it, as
    /// in `Control+a`.
    #[schemars(length(min = 1, max = limits::KEY))]
    key: String,
    /// What gets the focus before: a reference of a snapshot, a CSS selector, or `text=…`. Left out, the
    /// key goes where the focus is.
    #[schemars(length(min = 1, max = limits::ELEMENT))]
    element: Option<String>,
    /// Answer a snapshot of the page, too.
    #[serde(default)]
    snapshot: bool,
    /// Left out: the session used last.
    #[schemars(length(min = 1, max = limits::ID))]
    session: Option<String>,
}

/// Presses a key in a page, and waits for the effect: for shortcuts, menus, lists of suggestions, and to send or leave a
/// field. To type a text, use type_text or fill.
#[tool(title = "Press a key", destructive, open_world, timeout_milliseconds = 90_000)]
pub(crate) fn press_key(call: &Call, input: PressKey) -> Result<Reply<ActionAnswer>, ToolError> {
    let (key, modifiers) = combination(&input.key)?;
    check_optional("element", input.element.as_deref(), limits::ELEMENT)?;
    let page = SessionPage::find(call, input.session.as_deref(), None)?;
    let before = page.before()?;
    let mut done = format!("Pressed {}", input.key.trim());
    if let Some(target) = &input.element {
        check_element("element", target)?;
        let ready = page.ready(target, &["enabled"])?;
        let focused: ElementBrief = page.ask_of("focus", target, &json!({ "target": target }))?;
        let element = if focused.reference.is_empty() { ready.element } else { focused };
        done.push_str(&format!(" in {}", one(&element.role, &element.name, &element.reference)));
    }
    let told = page.perform(&Operation::Key { key, modifiers }, ACTION)?;
    acted(&page, &before, &told, done, input.snapshot)
}

/// A key and those that are held, from `Control+a`.
fn combination(written: &str) -> Result<(String, Vec<Modifier>), ToolError> {
    if written == " " || written == "+" {
        return Ok((written.to_owned(), Vec::new()));
    }
    check_text("key", written, limits::KEY)?;
    let mut modifiers = Vec::new();
    let mut rest = written.trim();
    while let Some((held, key)) = rest.split_once('+').filter(|(held, key)| !held.is_empty() && !key.is_empty()) {
        modifiers.push(match held.trim().to_ascii_lowercase().as_str() {
            "alt" | "option" => Modifier::Alt,
            "control" | "ctrl" => Modifier::Control,
            "meta" | "command" | "cmd" => Modifier::Meta,
            "shift" => Modifier::Shift,
            _ => {
                return Err(ToolError::invalid(format!(
                    "`{held}` is no key that is held: Control, Shift, Alt or Meta"
                )));
            }
        });
        rest = key.trim();
    }
    let key = match rest {
        "Return" => "Enter",
        "Esc" => "Escape",
        "Space" => " ",
        "Up" | "Down" | "Left" | "Right" => return Ok((format!("Arrow{rest}"), modifiers)),
        key => key,
    };
    Ok((key.to_owned(), modifiers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        for (written, key, modifiers) in [
            ("Enter", "Enter", vec![]),
            ("a", "a", vec![]),
            ("+", "+", vec![]),
            (" ", " ", vec![]),
            ("Control+a", "a", vec![Modifier::Control]),
            ("ctrl+shift+ArrowLeft", "ArrowLeft", vec![Modifier::Control, Modifier::Shift]),
            ("Meta++", "+", vec![Modifier::Meta]),
            ("Down", "ArrowDown", vec![]),
            ("Esc", "Escape", vec![]),
        ] {
            assert_eq!(combination(written).expect(written), (key.to_owned(), modifiers));
        }
        assert!(combination("Hyper+x").is_err() && combination("").is_err());
    }
}
