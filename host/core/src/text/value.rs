//! The rule for JSON: models are shown structures as they are shown texts.

use serde_json::{Map, Value};

use super::{is_visible, visible};

/// Makes all texts of a value visible, and the names of members. Where two names of an
/// object become the same one, the first member stays.
///
/// Goes as deep as the value does, which the parser that it came from has bounded.
pub fn visible_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if !is_visible(text) {
                *text = visible(std::mem::take(text));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(visible_value),
        Value::Object(members) => {
            members.values_mut().for_each(visible_value);
            if !members.keys().all(|name| is_visible(name)) {
                let mut shown = Map::new();
                for (name, member) in std::mem::take(members) {
                    shown.entry(visible(name)).or_insert(member);
                }
                *members = shown;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Text that is JSON: what breaks a line within a string is written as JSON writes it,
/// so that it is JSON still.
#[must_use]
pub fn visible_json(text: String) -> String {
    let separators = ['\u{2028}', '\u{2029}'];
    visible(if text.contains(separators) { text.replace(separators, "\\n") } else { text })
}
