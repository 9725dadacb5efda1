//! Tools whose schemas have to arrive as they are.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use wharf_sdk::{Text, ToolError, tool};

/// A person who can be reached: a schema with most of what the dialect has.
#[derive(serde::Deserialize)]
pub(crate) struct Person(Map<String, Value>);

impl JsonSchema for Person {
    fn schema_name() -> Cow<'static, str> {
        "Person".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        })
    }
}

/// Takes a person, described with JSON Schema 2020-12.
#[tool(read_only)]
pub(crate) fn json_schema_2020_12_tool(input: Person) -> Result<Text, ToolError> {
    let Person(members) = input;
    Ok(Text(format!("JSON Schema 2020-12 tool called with: {}", Value::Object(members))))
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// Sent as a header, too.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

/// Answers a value that comes as a header of the request, too.
#[tool(read_only)]
pub(crate) fn test_custom_header(input: Header) -> Result<Text, ToolError> {
    Ok(Text(format!("The header has: {}", input.value)))
}
