//! The outline of arguments: all that headers may have to repeat (`Mcp-Param-…`), which are
//! texts of some length, numbers and truth values that stand in objects.

use serde_json::{Map, Value};

/// Values in an outline.
const OUTLINED_VALUES: usize = 1_000;
/// Longest text in an outline: no header is longer.
const OUTLINED_BYTES: usize = 64 << 10;

/// The objects, and what is short in them. Nothing where that is more than an outline may have.
pub(super) fn of(arguments: &Map<String, Value>) -> Option<Map<String, Value>> {
    outline(arguments, &mut OUTLINED_VALUES.clone())
}

fn outline(members: &Map<String, Value>, left: &mut usize) -> Option<Map<String, Value>> {
    let mut short = Map::new();
    for (name, member) in members {
        *left = left.checked_sub(1)?;
        let member = match member {
            Value::Array(_) => continue,
            Value::String(text) if text.len() > OUTLINED_BYTES => continue,
            Value::Object(members) => Value::Object(outline(members, left)?),
            scalar => scalar.clone(),
        };
        short.insert(name.clone(), member);
    }
    Some(short)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_outline_has_what_is_short_and_no_more_than_so_many_values() {
        let arguments = json!({"x": [1], "y": {"z": 1, "t": "é".repeat(40_000)}, "s": "short", "b": true, "n": null});
        let outlined = of(arguments.as_object().expect("an object")).map(Value::Object);
        assert_eq!(outlined, Some(json!({"y": {"z": 1}, "s": "short", "b": true, "n": null})));
        let many = |values: usize| (0..values).map(|at| (at.to_string(), json!({}))).collect::<Map<_, _>>();
        assert!(of(&many(1_000)).is_some());
        assert!(of(&many(1_001)).is_none());
    }
}
