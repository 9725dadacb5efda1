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

/// Lets the schema of a tool's input have a second name for a field, as clients that were
/// written for another tool call it. `#[serde(alias)]` reads it:
///
/// ```
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// #[schemars(transform = wharf_sdk::second_name("path", "filePath"))]
/// struct Which {
///     /// The file.
///     #[serde(alias = "filePath")]
///     path: String,
/// }
/// ```
///
/// A field that is required is so no more by the schema, since either name will do and some
/// clients take no schema with alternatives: its description says so. An input with neither
/// name, or with both, is refused where it is read.
pub fn second_name(name: &'static str, second: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let mut is_required = false;
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            let before = required.len();
            required.retain(|field| field != name);
            is_required = required.len() < before;
            if required.is_empty() {
                schema.remove("required");
            }
        }
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
        if let Some(Value::Object(mut field)) = properties.get(name).cloned() {
            field.insert("description".to_owned(), format!("Another name of `{name}`.").into());
            properties.insert(second.to_owned(), Value::Object(field));
        }
        if is_required && let Some(Value::Object(field)) = properties.get_mut(name) {
            let described = field.get("description").and_then(Value::as_str).unwrap_or_default();
            let told = format!("{described} Required, by this name or as `{second}`.");
            field.insert("description".to_owned(), told.trim_start().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[schemars(transform = second_name("path", "filePath"))]
    struct Named {
        /// The file.
        #[serde(alias = "filePath")]
        #[schemars(length(min = 1))]
        path: String,
        line: u32,
    }

    #[test]
    fn a_second_name_is_taken_as_the_first_is() {
        let schema: Value = serde_json::from_str(&input::<Named>()).expect("a schema is JSON");
        assert_eq!(schema["required"], serde_json::json!(["line"]));
        assert_eq!(
            schema["properties"],
            serde_json::json!({
                "path": { "type": "string", "minLength": 1, "description": "The file. Required, by this name or as `filePath`." },
                "filePath": { "type": "string", "minLength": 1, "description": "Another name of `path`." },
                "line": { "type": "integer", "minimum": 0 },
            })
        );
        let read = |text: &str| serde_json::from_str::<Named>(text).map(|named| named.path);
        assert_eq!(read(r#"{"filePath": "a", "line": 1}"#).expect("the second"), "a");
        assert_eq!(read(r#"{"path": "a", "line": 1}"#).expect("the first"), "a");
        assert!(
            read(r#"{"path": "a", "filePath": "a", "line": 1}"#)
                .is_err_and(|error| error.to_string().contains("duplicate"))
        );
        assert!(read(r#"{"line": 1}"#).is_err_and(|error| error.to_string().contains("`path`")));
    }

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
