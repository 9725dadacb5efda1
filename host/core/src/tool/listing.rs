//! Definitions as lists show them: with as much of their schemas as the operator wants.
//!
//! An agent pays for each byte of a list with its context, and reads the schema of an answer
//! seldom or never. What is left out here is still checked: a listed schema accepts whatever
//! the tool's own one accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Tool, ToolDefinition};
use crate::SchemaDocument;

/// How much of their schemas the tools of a list show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputSchemas {
    /// No output schemas; input schemas as in `compact`.
    None,
    /// Of an output schema the names and types of what each answer has; of an input schema all but
    /// lengths, formats, bounds and defaults that say nothing, and what members a member may not have.
    #[default]
    Compact,
    /// The schemas as the plugins wrote them.
    Full,
}

/// References that are followed to learn a type.
const MOST_REFERENCES: usize = 4;

impl OutputSchemas {
    /// The definition as a list shows it.
    #[must_use]
    pub fn listed(self, tool: &Tool) -> ToolDefinition {
        let CompactSchemas { input, output } = tool.compact.clone();
        let own = tool.definition.clone();
        match self {
            Self::None => ToolDefinition { input_schema: input, output_schema: None, ..own },
            Self::Compact => ToolDefinition { input_schema: input, output_schema: output, ..own },
            Self::Full => own,
        }
    }
}

/// The schemas of a tool as a compact list shows them: made once, since each change of the
/// plugins makes a list, and each start.
#[derive(Debug, Clone)]
pub struct CompactSchemas {
    /// Of the arguments.
    pub input: SchemaDocument,
    /// Of the structured answer.
    pub output: Option<SchemaDocument>,
}

impl CompactSchemas {
    pub(super) fn of(definition: &ToolDefinition) -> Self {
        Self {
            input: compact_input(&definition.input_schema).into(),
            output: definition.output_schema.as_ref().map(|schema| compact_output(schema).into()),
        }
    }
}

/// The names and types of the members that each answer has.
fn compact_output(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut compact = Map::from_iter([("type".to_owned(), "object".into())]);
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let always = properties.iter().filter(|(name, _)| required.iter().any(|required| required == *name));
        let always: Map<_, _> = always.map(|(name, property)| (name.clone(), type_alone(property, schema))).collect();
        if !always.is_empty() {
            compact.insert("properties".to_owned(), always.into());
        }
    }
    compact
}

/// A schema that says no more than the type of a value.
fn type_alone<'s>(mut property: &'s Value, root: &'s Map<String, Value>) -> Value {
    for _ in 0..MOST_REFERENCES {
        if let Some(kind) = property.get("type") {
            return Map::from_iter([("type".to_owned(), kind.clone())]).into();
        }
        let Some(reference) = property.get("$ref").and_then(Value::as_str) else { break };
        let definition = reference.strip_prefix("#/$defs/").and_then(|name| root.get("$defs")?.get(name));
        let Some(definition) = definition else { break };
        property = definition;
    }
    Map::new().into()
}

/// Keywords whose value is one schema.
const ONE: [&str; 4] = ["items", "additionalProperties", "contains", "not"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value names schemas.
const NAMED: [&str; 3] = ["properties", "patternProperties", "$defs"];
/// Keywords that a model needs only where it breaks them, and is then told.
const UNSAID: [&str; 6] = ["format", "maxItems", "maxLength", "minItems", "minLength", "uniqueItems"];

/// A schema of arguments without what a model does not need to call the tool.
fn compact_input(schema: &Map<String, Value>) -> Map<String, Value> {
    compact_members(schema, true)
}

fn compact_members(schema: &Map<String, Value>, is_root: bool) -> Map<String, Value> {
    let is_listed = |key: &str, value: &Value| match key {
        "default" => !is_empty(value),
        // A count is not negative, and the values say what type they have.
        "minimum" => value.as_u64().is_none_or(|minimum| minimum > 1),
        "type" => !schema.contains_key("enum"),
        // Of the arguments themselves it says that these are all.
        "additionalProperties" => is_root || *value != Value::Bool(false),
        _ => !UNSAID.contains(&key),
    };
    let members = schema.iter().filter(|(key, value)| is_listed(key, value));
    members.map(|(key, value)| (key.clone(), compact_keyword(key, value))).collect()
}

fn compact_keyword(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(named) if NAMED.contains(&key) => {
            named.iter().map(|(name, schema)| (name.clone(), compact_schema(schema))).collect::<Map<_, _>>().into()
        }
        Value::Array(schemas) if LISTS.contains(&key) => schemas.iter().map(compact_schema).collect(),
        // A model leaves out what may be null.
        Value::Array(values) if key == "enum" && values.len() > 1 => {
            values.iter().filter(|value| !value.is_null()).cloned().collect()
        }
        Value::Array(kinds) if key == "type" => match kinds.as_slice() {
            [kind, null] | [null, kind] if null == "null" => kind.clone(),
            _ => value.clone(),
        },
        schema if ONE.contains(&key) => compact_schema(schema),
        value => value.clone(),
    }
}

fn compact_schema(schema: &Value) -> Value {
    schema.as_object().map_or_else(|| schema.clone(), |schema| compact_members(schema, false).into())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::SchemaBudget;

    fn object(value: Value) -> SchemaDocument {
        value.as_object().expect("an object").clone().into()
    }

    fn tool() -> Tool {
        let definition = ToolDefinition {
            name: "find".into(),
            description: "Finds.".into(),
            input_schema: object(json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["default"],
                "properties": {
                    "default": {"type": "string", "minLength": 1, "maxLength": 9, "description": "A word."},
                    "format": {"type": ["string", "null"], "enum": ["a", "b", null], "default": null},
                    "many": {"type": "array", "maxItems": 3, "default": [], "items": {"$ref": "#/$defs/One"}},
                    "limit": {"type": "integer", "format": "uint32", "minimum": 1, "maximum": 50, "default": 10},
                    "extra": {"type": "object", "additionalProperties": false, "default": {}, "properties": {"a": {"type": "null"}}},
                },
                "$defs": {"One": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]}},
            })),
            output_schema: Some(object(json!({
                "type": "object",
                "description": "What was found.",
                "required": ["hits", "best", "kind", "gone"],
                "properties": {
                    "hits": {"type": "array", "items": {"type": "object"}, "description": "All."},
                    "best": {"$ref": "#/$defs/Hit"},
                    "next": {"type": ["string", "null"]},
                    "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
                    "gone": {"$ref": "#/$defs/Gone"},
                },
                "$defs": {"Gone": {"const": 1}, "Hit": {"type": "object", "properties": {"id": {"type": "string"}}}},
            }))),
            meta: Map::new(),
        };
        Tool::compile(definition, &mut SchemaBudget::default()).expect("a tool")
    }

    #[test]
    fn a_compact_definition_says_what_a_model_needs() {
        let listed = OutputSchemas::Compact.listed(&tool());
        assert_eq!(
            Value::Object((*listed.input_schema).clone()),
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["default"],
                "properties": {
                    "default": {"type": "string", "description": "A word."},
                    "format": {"enum": ["a", "b"]},
                    "many": {"type": "array", "items": {"$ref": "#/$defs/One"}},
                    "limit": {"type": "integer", "maximum": 50, "default": 10},
                    "extra": {"type": "object", "properties": {"a": {"type": "null"}}},
                },
                "$defs": {"One": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            })
        );
        assert_eq!(
            Value::Object((*listed.output_schema.expect("one")).clone()),
            json!({"type": "object", "properties": {
                "hits": {"type": "array"}, "best": {"type": "object"}, "kind": {}, "gone": {},
            }})
        );
    }

    #[test]
    fn the_operator_has_schemas_listed_whole_or_not_at_all() {
        assert_eq!(OutputSchemas::Full.listed(&tool()), tool().definition);
        let listed = OutputSchemas::None.listed(&tool());
        assert_eq!(listed.output_schema, None);
        assert_eq!(listed.input_schema, OutputSchemas::Compact.listed(&tool()).input_schema);
    }
}
