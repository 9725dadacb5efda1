//! Rounds of input: what a tool or a prompt needs of its caller before it can answer,
//! and what the caller gave.
//!
//! No call waits for a person. One that needs something ends with [`InputRequired`],
//! and is made again with what was given: by clients of the newer era themselves, for
//! those of the older one by the transport.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
pub use wharf_contract::tools::InputMethod;
use wharf_contract::{
    caller::STATE,
    tools::{INPUT_REQUIRED, REQUESTS},
};

use crate::{Code, Error, text, tool::json_bytes};

/// What one round may ask for at most.
pub const MAX_INPUT_REQUESTS: usize = 16;
/// Bytes of what a plugin has carried from one round to the next.
pub const MAX_INPUT_STATE_BYTES: usize = 16 << 10;
/// Bytes of all that one round asks for, as JSON.
pub const MAX_INPUT_BYTES: usize = 256 << 10;
/// The length of the name of one thing that is asked for.
const MAX_KEY_BYTES: usize = 64;

/// What a call needs before it can answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputRequired {
    /// By a name of the plugin's, under which the response comes back.
    pub requests: BTreeMap<String, InputRequest>,
    /// Comes back unchanged with the responses: what the plugin has to know then. The
    /// caller may read it, and is kept from changing it.
    pub state: Option<String>,
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequest {
    /// What is asked, and of whom.
    pub method: InputMethod,
    /// As the Model Context Protocol defines them for the method.
    pub parameters: Map<String, Value>,
}

/// What a caller gave to an earlier round of the same call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputGiven {
    /// By the names of the requests. Whatever the caller says: nothing of it is
    /// checked against what was asked.
    pub responses: Map<String, Value>,
    /// The state of that round, which the transport has found to be the plugin's own.
    pub state: Option<String>,
}

impl InputGiven {
    /// Whether this is the first round.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.responses.is_empty() && self.state.is_none()
    }
}

impl InputRequired {
    /// Takes the member `inputRequired` out of an answer's `meta`, where it is.
    ///
    /// # Errors
    /// As [`InputRequired::read`].
    pub fn take(meta: &mut Map<String, Value>) -> Result<Option<Self>, Error> {
        meta.remove(INPUT_REQUIRED).map(|value| Self::read(&value)).transpose()
    }

    /// The member `inputRequired` that this was read from.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let request = |request: &InputRequest| {
            let method = Value::from(request.method.as_str());
            Value::Object(Map::from_iter([
                ("method".to_owned(), method),
                ("params".to_owned(), Value::Object(request.parameters.clone())),
            ]))
        };
        let requests = self.requests.iter().map(|(name, asked)| (name.clone(), request(asked))).collect();
        let state = self.state.clone().map_or(Value::Null, Value::String);
        Value::Object(Map::from_iter([(REQUESTS.to_owned(), Value::Object(requests)), (STATE.to_owned(), state)]))
    }

    /// Reads the member `inputRequired` of an answer's `meta`:
    /// `{"requests": {NAME: {"method": …, "params": {…}}}, "state": …}`.
    ///
    /// # Errors
    /// `internal` where it breaks the contract.
    pub fn read(value: &Value) -> Result<Self, Error> {
        let Value::Object(members) = value else { return Err(broken("is no object")) };
        let state = match members.get(STATE) {
            None | Some(Value::Null) => None,
            Some(Value::String(state)) if state.len() <= MAX_INPUT_STATE_BYTES => Some(state.clone()),
            Some(_) => {
                return Err(broken(format!("has a `state` that is no text of at most {MAX_INPUT_STATE_BYTES} bytes")));
            }
        };
        let requests = match members.get(REQUESTS) {
            None => BTreeMap::new(),
            Some(Value::Object(requests)) if requests.len() <= MAX_INPUT_REQUESTS => requests
                .iter()
                .map(|(name, request)| Ok((name.clone(), request_of(name, request)?)))
                .collect::<Result<_, Error>>()?,
            Some(_) => {
                return Err(broken(format!(
                    "has `requests` that are no object of at most {MAX_INPUT_REQUESTS} members"
                )));
            }
        };
        if requests.is_empty() && state.is_none() {
            return Err(broken("asks for nothing"));
        }
        if json_bytes(value) > (MAX_INPUT_BYTES + MAX_INPUT_STATE_BYTES) as u64 {
            return Err(broken(format!("has more than {MAX_INPUT_BYTES} bytes")));
        }
        Ok(Self { requests, state })
    }
}

fn request_of(name: &str, request: &Value) -> Result<InputRequest, Error> {
    if name.is_empty() || name.len() > MAX_KEY_BYTES || text::line(name, MAX_KEY_BYTES) != name {
        return Err(broken(format!(
            "has a request without a name of 1 to {MAX_KEY_BYTES} bytes of visible characters"
        )));
    }
    let method = request.get("method").and_then(Value::as_str).and_then(InputMethod::find);
    let method = method.ok_or_else(|| {
        broken("has a request whose `method` is not `elicitation/create`, `sampling/createMessage` or `roots/list`")
    })?;
    let parameters = match request.get("params") {
        None => Map::new(),
        Some(Value::Object(parameters)) => shown(parameters),
        Some(_) => return Err(broken("has a request whose `params` are no object")),
    };
    Ok(InputRequest { method, parameters })
}

/// What a person is asked is shown on a screen: it is seen as the texts of an answer are.
fn shown(parameters: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Value::Object(parameters.clone());
    text::visible_value(&mut shown);
    match shown {
        Value::Object(shown) => shown,
        _ => Map::new(),
    }
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: `{INPUT_REQUIRED}` of its answer {what}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_round_is_read_as_the_contract_has_it() {
        let read = InputRequired::read(&json!({
            "requests": {"name": {"method": "elicitation/create", "params": {"message": "Who?"}}, "r": {"method": "roots/list"}},
            "state": "s"
        }))
        .expect("legal");
        assert_eq!(read.requests["name"].method, InputMethod::Elicitation);
        assert_eq!(read.requests["name"].parameters["message"], "Who?");
        assert_eq!((read.requests["r"].method.capability(), read.state.as_deref()), ("roots", Some("s")));
        assert_eq!(InputRequired::read(&read.to_value()).expect("legal"), read, "as it was");
    }

    #[test]
    fn what_a_person_is_asked_has_no_control_characters_and_the_state_keeps_its_own() {
        let read = InputRequired::read(&json!({
            "requests": {"n": {"method": "elicitation/create", "params": {"a\u{1b}": ["b\u{202e}", {"c": "d\u{7}"}]}}},
            "state": "\u{1b}\u{0}"
        }))
        .expect("legal");
        assert_eq!(Value::Object(read.requests["n"].parameters.clone()), json!({"a": ["b", {"c": "d"}]}));
        assert_eq!(read.state.as_deref(), Some("\u{1b}\u{0}"));
    }

    #[test]
    fn what_is_no_round_is_a_defect_of_the_tool() {
        let many: Map<_, _> = (0..17).map(|at| (at.to_string(), json!({"method": "roots/list"}))).collect();
        for value in [
            json!(1),
            json!({}),
            json!({"requests": {}}),
            json!({"requests": []}),
            json!({"requests": {"a": {"method": "tools/call"}}}),
            json!({"requests": {"": {"method": "roots/list"}}}),
            json!({"requests": {"a\u{200b}": {"method": "roots/list"}}}),
            json!({"requests": {"a": {"method": "roots/list", "params": 1}}}),
            json!({"state": 1}),
            json!({"state": "x".repeat(MAX_INPUT_STATE_BYTES + 1)}),
            json!({"requests": many}),
            json!({"requests": {"a": {"method": "roots/list", "params": {"x": "y".repeat(300 << 10)}}}}),
        ] {
            let error = InputRequired::read(&value).expect_err("broken");
            assert!(error.code == Code::Internal && error.message.contains("inputRequired"), "{value}: {error}");
        }
    }
}
