//! JSON Schemas (2020-12) of Rust types, in the shape that models read best:
//! nothing referenced that can stand in place, nothing that only Rust means.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of what a tool takes.
pub(crate) fn input<T: JsonSchema>() -> String {
    write::<T>(SchemaSettings::draft2020_12())
}

/// The schema of what a tool answers.
pub(crate) fn output<T: JsonSchema>() -> String {
    write::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn write<T: JsonSchema>(settings: SchemaSettings) -> String {
    let settings = settings
        .with(|settings| {
            // The contract names the dialect.
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(drop_rust_formats));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of the Rust type.
    schema.remove("title");
    if schema.get("type").is_some_and(|kind| kind == "object") && schema.get("properties").is_none() {
        // Some clients take an object without this member for an error.
        schema.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
    }
    schema.to_value().to_string()
}

/// `uint32` and the like are no formats of JSON Schema.
fn drop_rust_formats(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    if ["int", "uint", "float", "double"].iter().any(|rust| format.starts_with(rust)) {
        schema.remove("format");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Example {
        /// How many.
        #[schemars(range(min = 1, max = 9))]
        how_many: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        inner: Option<Inner>,
    }

    #[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
    struct Inner {
        name: String,
    }

    #[test]
    fn a_schema_stands_alone_and_says_nothing_that_only_rust_means() {
        let schema: Value = serde_json::from_str(&input::<Example>()).expect("a schema is JSON");
        assert_eq!(
            schema,
            serde_json::json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["howMany"],
                "properties": {
                    "howMany": { "type": "integer", "minimum": 1, "maximum": 9, "description": "How many." },
                    "inner": {
                        "type": ["object", "null"],
                        "properties": { "name": { "type": "string" } },
                        "required": ["name"],
                    },
                },
            })
        );
    }

    #[test]
    fn an_object_without_properties_says_so() {
        let schema: Value = serde_json::from_str(&input::<crate::NoInput>()).expect("a schema is JSON");
        assert_eq!(schema, serde_json::json!({ "type": "object", "additionalProperties": false, "properties": {} }));
    }
}
