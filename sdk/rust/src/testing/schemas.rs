//! Calls under the schemas of their tools, as the host makes them.

use serde_json::Value;

use super::TestCall;
use crate::{Plugin, ToolDefinition};

impl TestCall {
    /// What the tool `name` of `P` answers for programs, and for the model:
    /// [`TestCall::run`] with the arguments and the structured answer checked
    /// against the tool's schemas.
    ///
    /// # Panics
    /// Where `P` has no such tool, it refuses, or a schema is broken.
    #[must_use]
    #[track_caller]
    pub fn expect_answer<P: Plugin>(&self, name: &str, arguments: &Value) -> (Value, String) {
        let definition = definition::<P>(name);
        check(&definition.input_schema, arguments);
        let answer = self.run::<P>(name, arguments);
        assert!(!answer.is_error, "{name} failed: {}", answer.as_text());
        let structured = answer.structured.as_deref().unwrap_or("null");
        let structured: Value = serde_json::from_str(structured)
            .unwrap_or_else(|error| panic!("the structured answer of `{name}` is no JSON: {error}"));
        if let Some(schema) = &definition.output_schema {
            check(schema, &structured);
        }
        (structured, answer.as_text())
    }

    /// What the model reads where the tool `name` of `P` refuses. The arguments
    /// need not fit its schema.
    ///
    /// # Panics
    /// Where `P` has no such tool, or it does not refuse.
    #[must_use]
    #[track_caller]
    pub fn expect_refusal<P: Plugin>(&self, name: &str, arguments: &Value) -> String {
        let answer = self.run::<P>(name, arguments);
        assert!(answer.is_error, "{name} should have refused: {}", answer.as_text());
        assert_eq!(answer.structured, None, "a refusal of {name} has structure");
        answer.as_text()
    }
}

/// Whether the host would let these arguments through to the tool `name`.
///
/// # Panics
/// Where `P` has no such tool.
#[must_use]
pub fn accepts<P: Plugin>(name: &str, arguments: &Value) -> bool {
    jsonschema::is_valid(&parsed(&definition::<P>(name).input_schema), arguments)
}

fn definition<P: Plugin>(name: &str) -> ToolDefinition {
    let found = P::definitions().into_iter().find(|definition| definition.name == name);
    found.unwrap_or_else(|| panic!("this plugin has no tool `{name}`"))
}

fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap_or_else(|error| panic!("a schema is no JSON: {error}"))
}

#[track_caller]
fn check(schema: &str, value: &Value) {
    if let Err(error) = jsonschema::validate(&parsed(schema), value) {
        panic!("{value} breaks its schema: {error}");
    }
}
