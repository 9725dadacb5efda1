//! Rounds of input: what a tool or a prompt asks of its caller, and what was
//! given.
//!
//! Nothing waits. A tool that needs something answers with [`InputRequired`];
//! the client asks, and the tool is called anew with what was given
//! ([`Call::input`]).

use serde_json::{Map, Value, json};
use wharf_contract::caller::{CAPABILITIES, CLIENT, INPUT, RESPONSES, STATE};
use wharf_contract::tools::{INPUT_REQUIRED, InputMethod, REQUESTS};

use crate::answer::{Answer, ToolOutput};
use crate::{Call, ToolError};

/// What a call needs before it can answer: up to 16 things, each under a name by
/// which [`Call::input`] finds it in the next round.
///
/// ```
/// use wharf_sdk::{Call, InputRequired, Round, Text, ToolError, testing::TestCall, tool};
///
/// /// Greets the person who sits there.
/// #[tool]
/// fn greet(call: &Call) -> Result<Round<Text>, ToolError> {
///     let input = call.input();
///     let Some(name) = input.form("who").and_then(|form| form["name"].as_str()) else {
///         let form = serde_json::json!({
///             "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
///         });
///         return Ok(InputRequired::new().form("who", "What is your name?", form).into());
///     };
///     Ok(Round::Answer(Text(format!("Hello, {name}!"))))
/// }
///
/// wharf_sdk::plugin!(greet);
///
/// let host = TestCall::new();
/// let asked = host.run::<WharfPlugin>("greet", &serde_json::json!({}));
/// assert_eq!(asked.input_required().expect("it asks")["requests"]["who"]["params"]["message"], "What is your name?");
/// let given = host.given("who", serde_json::json!({ "action": "accept", "content": { "name": "Ada" } }));
/// assert_eq!(given.run::<WharfPlugin>("greet", &serde_json::json!({})).as_text(), "Hello, Ada!");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputRequired {
    requests: Map<String, Value>,
    state: Option<String>,
}

impl InputRequired {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks a person to fill a form. Its fields are the properties of this JSON
    /// Schema of a flat object.
    #[must_use]
    pub fn form(self, name: &str, message: &str, schema: Value) -> Self {
        self.request(name, InputMethod::Elicitation.as_str(), json!({ "message": message, "requestedSchema": schema }))
    }

    /// Asks the client's model, which answers with at most so many tokens.
    #[must_use]
    pub fn model(self, name: &str, prompt: &str, max_tokens: u32) -> Self {
        let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
        self.request(name, InputMethod::Sampling.as_str(), json!({ "messages": [message], "maxTokens": max_tokens }))
    }

    /// Asks which folders the client works in.
    #[must_use]
    pub fn roots(self, name: &str) -> Self {
        self.request(name, InputMethod::Roots.as_str(), json!({}))
    }

    /// Asks anything that the contract knows, with parameters as the Model
    /// Context Protocol defines them.
    #[must_use]
    pub fn request(mut self, name: &str, method: &str, parameters: Value) -> Self {
        self.requests.insert(name.to_owned(), json!({ "method": method, "params": parameters }));
        self
    }

    /// What comes back unchanged with the responses, in [`Input::state`]: at most
    /// 16,384 bytes. The caller may read it, and cannot change it.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.state.is_none()
    }

    /// The `meta` of an answer that asks for it.
    pub(crate) fn to_meta(&self) -> String {
        let mut required = json!({ (REQUESTS): self.requests });
        if let Some(state) = &self.state {
            required[STATE] = state.as_str().into();
        }
        json!({ (INPUT_REQUIRED): required }).to_string()
    }
}

impl From<InputRequired> for Answer {
    fn from(required: InputRequired) -> Self {
        Self { meta: Some(required.to_meta()), ..Self::default() }
    }
}

impl Answer {
    /// What the answer asks for before it is one, where it does.
    #[must_use]
    pub fn input_required(&self) -> Option<Value> {
        required(self.meta.as_deref())
    }
}

pub(crate) fn required(meta: Option<&str>) -> Option<Value> {
    serde_json::from_str::<Map<String, Value>>(meta?).ok()?.remove(INPUT_REQUIRED)
}

/// The answer of a tool or a prompt that may ask first.
#[derive(Debug, Clone, PartialEq)]
pub enum Round<T> {
    /// It needs nothing more.
    Answer(T),
    /// It needs this first.
    Ask(InputRequired),
}

impl<T> From<InputRequired> for Round<T> {
    fn from(required: InputRequired) -> Self {
        Self::Ask(required)
    }
}

impl<T: ToolOutput> ToolOutput for Round<T> {
    fn output_schema() -> Option<String> {
        T::output_schema()
    }

    fn into_answer(self) -> Result<Answer, ToolError> {
        match self {
            Self::Answer(answer) => answer.into_answer(),
            Self::Ask(required) => Ok(required.into()),
        }
    }
}

/// What was given to the round before. Whatever the caller says: nothing of it
/// was checked against what was asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    responses: Map<String, Value>,
    state: Option<String>,
}

impl Input {
    /// Whether this is the first round.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.responses.is_empty() && self.state.is_none()
    }

    /// The state of the round before, unchanged.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// What was said to one request, as the Model Context Protocol defines the
    /// result of its method.
    #[must_use]
    pub fn response(&self, name: &str) -> Option<&Value> {
        self.responses.get(name)
    }

    /// What a person filled in, where they accepted the form.
    #[must_use]
    pub fn form(&self, name: &str) -> Option<&Map<String, Value>> {
        let response = self.response(name)?;
        let accepted = response.get("action").and_then(Value::as_str) == Some("accept");
        response.get("content").and_then(Value::as_object).filter(|_| accepted)
    }

    /// What the client's model said, where it was text.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&str> {
        let content = self.response(name)?.get("content")?;
        // One block, or a list of them.
        let block = content.as_array().and_then(|blocks| blocks.first()).unwrap_or(content);
        block.get("text").and_then(Value::as_str)
    }

    /// The addresses of the client's folders.
    #[must_use]
    pub fn roots(&self, name: &str) -> Option<Vec<&str>> {
        let roots = self.response(name)?.get("roots")?.as_array()?;
        Some(roots.iter().filter_map(|root| root.get("uri")?.as_str()).collect())
    }
}

impl Call {
    /// What was given to the round before; empty in the first.
    #[must_use]
    pub fn input(&self) -> Input {
        let Some(Value::Object(mut given)) = self.request_meta().remove(INPUT) else { return Input::default() };
        let responses = match given.remove(RESPONSES) {
            Some(Value::Object(responses)) => responses,
            _ => Map::new(),
        };
        let state = match given.remove(STATE) {
            Some(Value::String(state)) => Some(state),
            _ => None,
        };
        Input { responses, state }
    }

    /// Whether the client can do this: `elicitation`, `sampling` or `roots`. A
    /// call that asks for what it cannot do ends with an error.
    #[must_use]
    pub fn client_can(&self, capability: &str) -> bool {
        let client = self.request_meta().remove(CLIENT);
        client.is_some_and(|client| client[CAPABILITIES].get(capability).is_some_and(|known| !known.is_null()))
    }
}
