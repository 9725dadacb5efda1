//! The JSON Schema of `wharf.toml`, for editors.

#[cfg(test)]
mod tests;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::{Configuration, Written};

impl Configuration {
    /// The schema that a `wharf.toml` conforms to, as JSON Schema of draft 7,
    /// which editors of TOML know.
    #[must_use]
    pub fn schema() -> Value {
        let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Written>();
        schema.insert("title".to_owned(), "wharf.toml".into());
        schema.insert("description".to_owned(), "What the operator of a Wharf host decided.".into());
        schema.to_value()
    }
}
