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

/// A model in a test, which calls the tools of one plugin as the host would.
///
/// A test has a kind of agent of its own, with what that needs, and gets the calls:
///
/// ```
/// use serde_json::json;
/// use wharf_sdk::{Call, Reply, ToolError, testing::{TestAgent, TestCall}, tool};
///
/// /// Whom to greet.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Visit {
///     /// The name of a person.
///     name: String,
/// }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Greeting {
///     letters: usize,
/// }
///
/// /// Greets somebody.
/// #[tool(title = "Greet")]
/// fn greet(_: &Call, input: Visit) -> Result<Reply<Greeting>, ToolError> {
///     Ok(Reply::new(format!("Welcome, {}.", input.name), Greeting { letters: input.name.len() }))
/// }
///
/// wharf_sdk::plugin!(greet);
///
/// struct Visitor(TestCall);
///
/// impl TestAgent for Visitor {
///     type Plugin = WharfPlugin;
///
///     fn test_call(&self) -> &TestCall {
///         &self.0
///     }
/// }
///
/// let visitor = Visitor(TestCall::new().session("a"));
/// assert_eq!(visitor.ok("greet", &json!({ "name": "Ada" })), json!({ "letters": 3 }));
/// ```
pub trait TestAgent {
    /// The plugin of the tools.
    type Plugin: Plugin;

    /// The context in which the agent calls.
    fn test_call(&self) -> &TestCall;

    /// What a tool answers for programs. The arguments and the answer must keep the tool's
    /// schemas.
    ///
    /// # Panics
    /// As [`TestCall::expect_answer`].
    #[track_caller]
    fn ok(&self, tool: &str, arguments: &Value) -> Value {
        self.answer(tool, arguments).0
    }

    /// The same with the text that the model reads.
    ///
    /// # Panics
    /// As [`TestCall::expect_answer`].
    #[track_caller]
    fn answer(&self, tool: &str, arguments: &Value) -> (Value, String) {
        self.test_call().expect_answer::<Self::Plugin>(tool, arguments)
    }

    /// What the model reads of a tool that refuses.
    ///
    /// # Panics
    /// As [`TestCall::expect_refusal`].
    #[track_caller]
    fn refused(&self, tool: &str, arguments: &Value) -> String {
        self.test_call().expect_refusal::<Self::Plugin>(tool, arguments)
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

/// What every tool of `P` owes a model: arguments that are an object, refuse
/// unknown members at every depth, describe each one and name nothing of the
/// host's; an answer with a schema; a title for people.
///
/// # Panics
/// Where one does not, with its name.
#[track_caller]
pub fn check_definitions<P: Plugin>() {
    for definition in P::definitions() {
        let name = definition.name;
        let input = parsed(&definition.input_schema);
        assert!(jsonschema::meta::is_valid(&input), "{name}: {input} is no schema");
        assert_eq!(input["type"], "object", "{name}: the arguments are no object");
        check_object(name, &input);
        let Some(output) = &definition.output_schema else { panic!("{name}: the answer has no schema") };
        let output = parsed(output);
        assert!(jsonschema::meta::is_valid(&output), "{name}: {output} is no schema");
        assert_eq!(output["type"], "object", "{name}: the answer is no object");
        assert!(definition.details.title.is_some(), "{name} has no title");
    }
}

#[track_caller]
fn check_object(tool: &str, schema: &Value) {
    assert_eq!(schema["additionalProperties"], false, "{tool}: unknown members of {schema} are accepted");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        assert!(!name.starts_with("__"), "{tool}: `{name}` is a name of the host's");
        assert!(property["description"].is_string(), "{tool}: `{name}` has no description");
        let choices = property["anyOf"].as_array().into_iter().flatten();
        for inner in [property, &property["items"]].into_iter().chain(choices) {
            if inner.get("properties").is_some() {
                check_object(tool, inner);
            }
        }
    }
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
