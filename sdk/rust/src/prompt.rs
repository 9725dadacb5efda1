//! Prompts: texts that a person chooses in the client. `#[prompt]` makes one of
//! a function.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
pub use wharf_contract::prompts::Role;

use crate::answer::{Content, Text};
use crate::input::{InputRequired, Round, required};
use crate::{Call, ToolError, schema};

/// A prompt as the host lists it. `#[prompt]` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptDefinition {
    /// Unique within the plugin.
    pub name: &'static str,
    /// For the person who chooses.
    pub description: &'static str,
    /// A name for people.
    pub title: Option<&'static str>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// One value that a prompt takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name of a field of the input.
    pub name: String,
    /// The documentation of that field.
    pub description: String,
    /// Whether there is no prompt without it.
    pub required: bool,
}

/// The result of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptReply {
    /// In order.
    pub messages: Vec<(Role, Content)>,
    /// What it is, where that is known only now.
    pub description: Option<String>,
    /// JSON text of an object with further protocol fields.
    pub meta: Option<String>,
}

impl PromptReply {
    /// Without messages yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Something that the person says.
    #[must_use]
    pub fn user(mut self, content: impl Into<Content>) -> Self {
        self.messages.push((Role::User, content.into()));
        self
    }

    /// Something that the model says.
    #[must_use]
    pub fn assistant(mut self, content: impl Into<Content>) -> Self {
        self.messages.push((Role::Assistant, content.into()));
        self
    }

    /// What it asks for before it is a prompt, where it does.
    #[must_use]
    pub fn input_required(&self) -> Option<Value> {
        required(self.meta.as_deref())
    }
}

impl From<InputRequired> for PromptReply {
    fn from(required: InputRequired) -> Self {
        Self { meta: Some(required.to_meta()), ..Self::default() }
    }
}

/// What a prompt may return: a [`PromptReply`], [`Text`] that the person says, or
/// either of them in a [`Round`].
pub trait PromptOutput {
    /// Makes the reply.
    fn into_reply(self) -> PromptReply;
}

impl PromptOutput for PromptReply {
    fn into_reply(self) -> PromptReply {
        self
    }
}

impl PromptOutput for Text {
    fn into_reply(self) -> PromptReply {
        PromptReply::new().user(Content::text(self.0))
    }
}

impl<T: PromptOutput> PromptOutput for Round<T> {
    fn into_reply(self) -> PromptReply {
        match self {
            Self::Answer(reply) => reply.into_reply(),
            Self::Ask(required) => required.into(),
        }
    }
}

/// One prompt. `#[prompt]` implements it for a type of the function's name.
pub trait Prompt {
    /// Its name.
    const NAME: &'static str;

    /// How the host lists it.
    fn definition() -> PromptDefinition;

    /// Makes it of the JSON text of its arguments.
    ///
    /// # Errors
    /// Whatever it fails with; `invalid` for arguments of another shape.
    fn run(call: &Call, arguments: &str) -> Result<PromptReply, ToolError>;
}

/// All prompts of a component. [`plugin!`](crate::plugin) implements it.
pub trait Prompts {
    /// Every prompt, in the order in which they were given.
    fn prompts() -> Vec<PromptDefinition>;

    /// Makes the prompt `name`; none where there is no such prompt.
    fn make(call: &Call, name: &str, arguments: &str) -> Option<Result<PromptReply, ToolError>>;
}

/// What a prompt function returns: a `Result` of something to reply.
#[doc(hidden)]
pub trait PromptResult {
    /// The same with the error of all.
    fn into_result(self) -> Result<PromptReply, ToolError>;
}

impl<T: PromptOutput, E: Into<ToolError>> PromptResult for Result<T, E> {
    fn into_result(self) -> Result<PromptReply, ToolError> {
        self.map(PromptOutput::into_reply).map_err(Into::into)
    }
}

/// The definition of a prompt by the type of its input.
pub(crate) fn definition<I: JsonSchema, R: PromptResult>(
    name: &'static str,
    description: &'static str,
    title: Option<&'static str>,
    _function: impl Fn(&Call, I) -> R,
) -> PromptDefinition {
    PromptDefinition { name, description, title, arguments: arguments(&schema::input::<I>()) }
}

/// The properties of an input: those that are needed first, in their order.
fn arguments(schema: &str) -> Vec<PromptArgument> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let argument = |name: &str| PromptArgument {
        name: name.to_owned(),
        description: properties.get(name).and_then(|property| property["description"].as_str()).unwrap_or("").into(),
        required: required.contains(&name),
    };
    required.iter().copied().chain(optional).map(argument).collect()
}

/// Reads the arguments, runs the function, makes the reply.
pub(crate) fn run<I: DeserializeOwned, R: PromptResult>(
    call: &Call,
    arguments: &str,
    function: impl Fn(&Call, I) -> R,
) -> Result<PromptReply, ToolError> {
    let input = serde_json::from_str(arguments)
        .map_err(|error| ToolError::invalid(format!("the arguments do not fit this prompt: {error}")))?;
    function(call, input).into_result()
}
