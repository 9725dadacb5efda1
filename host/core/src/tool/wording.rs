//! The parts of a schema that are read: by a model, which is shown all of it, and by the
//! person who watches.
//!
//! What only describes is made visible. What values are checked against (names of
//! members, `enum`, `pattern`, …) cannot be changed without changing what the tool takes,
//! so a schema with something invisible there is refused.

use serde_json::{Map, Value};

use crate::text;

/// Members that hold subschemas by name: the names are those of the values' members.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Members that are data for readers, and change nothing.
const SHOWN: [&str; 3] = ["default", "examples", "$comment"];
/// Members that values are checked against.
const CHECKED: [&str; 12] = [
    "enum",
    "const",
    "required",
    "dependentRequired",
    "pattern",
    "format",
    "type",
    "$ref",
    "$dynamicRef",
    "$anchor",
    "$dynamicAnchor",
    "$id",
];

/// Makes a schema visible. Goes as deep as the schema does, which the parser that it came
/// from has bounded.
///
/// # Errors
/// The member that has invisible characters and must not be changed.
pub(super) fn visible_schema(schema: &mut Map<String, Value>) -> Result<(), String> {
    for (keyword, value) in schema {
        if !text::is_visible(keyword) {
            return Err(text::line(keyword, 64));
        }
        match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                for (name, subschema) in named {
                    if !text::is_visible(name) {
                        return Err(keyword.clone());
                    }
                    visible_part(subschema)?;
                }
            }
            _ if CHECKED.contains(&keyword.as_str()) => {
                if !is_visible(value) {
                    return Err(keyword.clone());
                }
            }
            _ if SHOWN.contains(&keyword.as_str()) => text::visible_value(value),
            _ => visible_part(value)?,
        }
    }
    Ok(())
}

/// A subschema, several of them, or a text.
fn visible_part(part: &mut Value) -> Result<(), String> {
    match part {
        Value::Object(schema) => visible_schema(schema),
        Value::Array(parts) => parts.iter_mut().try_for_each(visible_part),
        other => {
            text::visible_value(other);
            Ok(())
        }
    }
}

/// Whether all texts of a value are. A CR is no secret: a model reads JSON, which writes
/// it as `\r`, and some tools take the ends of lines as arguments.
fn is_visible(value: &Value) -> bool {
    let seen = |text: &str| text::is_visible(text) || text::is_visible(&text.replace('\r', ""));
    match value {
        Value::String(text) => seen(text),
        Value::Array(items) => items.iter().all(is_visible),
        Value::Object(members) => members.iter().all(|(name, member)| seen(name) && is_visible(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made_visible(schema: Value) -> Result<Value, String> {
        let Value::Object(mut schema) = schema else { panic!("an object") };
        visible_schema(&mut schema).map(|()| Value::Object(schema))
    }

    #[test]
    fn what_describes_is_made_visible_wherever_it_stands() {
        let hidden = "a\u{e0041}\u{200b}b\r\nc";
        let schema = json!({
            "type": "object", "title": hidden, "description": hidden, "$comment": hidden,
            "properties": {
                "one": {"description": hidden, "default": hidden, "examples": [hidden, {"x\u{200b}": hidden}]},
                "title": {"type": "string", "enumDescriptions": [hidden]},
            },
            "$defs": {"d": {"anyOf": [{"items": {"description": hidden}}, {"not": {"title": hidden}}]}},
            "x-note": {"deep": [{"deeper": hidden}]},
        });
        let seen = "ab\nc";
        assert_eq!(
            made_visible(schema),
            Ok(json!({
                "type": "object", "title": seen, "description": seen, "$comment": seen,
                "properties": {
                    "one": {"description": seen, "default": seen, "examples": [seen, {"x": seen}]},
                    "title": {"type": "string", "enumDescriptions": [seen]},
                },
                "$defs": {"d": {"anyOf": [{"items": {"description": seen}}, {"not": {"title": seen}}]}},
                "x-note": {"deep": [{"deeper": seen}]},
            }))
        );
    }

    #[test]
    fn what_values_are_checked_against_is_refused_where_nobody_sees_it() {
        for (schema, place) in [
            (json!({"properties": {"a\u{200b}": {}}}), "properties"),
            (json!({"properties": {"a": {"enum": ["x", "y\u{e0041}"]}}}), "enum"),
            (json!({"properties": {"a": {"const": {"b\u{202e}": 1}}}}), "const"),
            (json!({"items": [{"pattern": "[\u{2028}]"}]}), "pattern"),
            (json!({"required": ["a\u{2060}"]}), "required"),
            (json!({"dependentRequired": {"a\u{61c}": ["b"]}}), "dependentRequired"),
            (json!({"desc\u{200b}ription": "x"}), "description"),
        ] {
            assert_eq!(made_visible(schema), Err(place.to_owned()));
        }
    }

    #[test]
    fn values_that_a_script_or_a_format_needs_are_accepted() {
        let schema = json!({"enum": ["می\u{200c}خواهم", "👩\u{200d}🚀", "\r\n", "\n", "\t"], "pattern": "^[^\r\n]*$"});
        assert_eq!(made_visible(schema.clone()), Ok(schema));
    }
}
