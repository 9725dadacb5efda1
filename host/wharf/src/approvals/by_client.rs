//! Calls that the person at the client allows: asked by a round of input, as a tool would ask.
//!
//! What a client carries from one round to the next is sealed by the transport for the same request
//! of the same caller. So a word in it says whether the person was asked, and what they said.

use serde_json::{Map, Value, json};
use wharf_core::{
    Answer, InputGiven, InputRequired,
    service::input::{InputMethod, InputRequest},
    text,
};

use super::AskedCall;

/// The name of what the person is asked. No tool sees it.
const NAME: &str = "wharf-approval";
/// What the state of such a call begins with.
const STATE: &str = "wharf-approval:";
const ASKED: &str = "asked";
/// Before the state of the tool itself.
const ALLOWED: &str = "allowed:";
/// Of a tool that has none.
const ALLOWED_ALONE: &str = "allowed";
/// What the person is shown of the arguments.
const MOST_SHOWN: usize = 2_000;
/// The box in the form with which the person allows the tool for the rest of the session.
const SESSION: &str = "session";

/// What is known of a call by what its client carries.
#[derive(Debug, PartialEq)]
pub(crate) enum Carried {
    /// Nobody was asked.
    Nothing,
    /// The person has answered.
    Answered(ClientAnswer),
    /// The person has allowed it in an earlier round; the tool itself asks now.
    Allowed,
}

/// What the person at the client said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAnswer {
    Once,
    Session,
    Refused,
}

/// Whether a client can ask its person with a form.
pub(crate) fn can_ask(capabilities: Option<&Map<String, Value>>) -> bool {
    let Some(Value::Object(modes)) = capabilities.and_then(|all| all.get("elicitation")) else { return false };
    modes.is_empty() || modes.contains_key("form")
}

/// What the client says of an approval. The tool's own input is left.
pub(crate) fn take(input: &mut InputGiven) -> Carried {
    let Some(word) = input.state.as_deref().and_then(|state| state.strip_prefix(STATE)) else {
        return Carried::Nothing;
    };
    if word == ASKED {
        let answer = input.responses.remove(NAME);
        input.state = None;
        return Carried::Answered(read(answer.as_ref()));
    }
    match word.strip_prefix(ALLOWED).map(str::to_owned) {
        Some(of_tool) => input.state = Some(of_tool),
        None if word == ALLOWED_ALONE => input.state = None,
        None => return Carried::Nothing,
    }
    Carried::Allowed
}

fn read(answer: Option<&Value>) -> ClientAnswer {
    let Some(answer) = answer.filter(|answer| answer["action"] == "accept") else { return ClientAnswer::Refused };
    if answer["content"][SESSION] == true { ClientAnswer::Session } else { ClientAnswer::Once }
}

/// The question, in the place of an answer of the tool.
pub(crate) fn question(asked: &AskedCall<'_>) -> Answer {
    let arguments = text::visible(text::cut(asked.arguments, MOST_SHOWN).to_owned());
    let cut = if asked.arguments.len() > MOST_SHOWN { " …" } else { "" };
    let message = format!("May {} (plugin {}) run with these arguments?\n{arguments}{cut}", asked.tool, asked.plugin);
    let form = json!({
        "type": "object",
        "properties": {
            SESSION: {"type": "boolean", "title": "And every further call of this tool in this session", "default": false},
        },
    });
    let parameters = Map::from_iter([
        ("mode".to_owned(), "form".into()),
        ("message".to_owned(), message.into()),
        ("requestedSchema".to_owned(), form),
    ]);
    let request = InputRequest { method: InputMethod::Elicitation, parameters };
    let required =
        InputRequired { requests: [(NAME.to_owned(), request)].into(), state: Some(format!("{STATE}{ASKED}")) };
    Answer { input_required: Some(required), ..Answer::default() }
}

/// Has the next round of an allowed call know that it is.
pub(crate) fn keep_allowed(answer: &mut Answer) {
    if let Some(required) = &mut answer.input_required {
        required.state = Some(match required.state.take() {
            Some(of_tool) => format!("{STATE}{ALLOWED}{of_tool}"),
            None => format!("{STATE}{ALLOWED_ALONE}"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(state: &str, response: Value) -> InputGiven {
        InputGiven { responses: Map::from_iter([(NAME.to_owned(), response)]), state: Some(state.to_owned()) }
    }

    #[test]
    fn only_who_was_asked_has_answered() {
        let accept = json!({"action": "accept", "content": {}});
        let mut unasked = InputGiven { state: None, ..given("", accept.clone()) };
        assert_eq!(take(&mut unasked), Carried::Nothing);
        assert_eq!(take(&mut given("of the tool", accept.clone())), Carried::Nothing);
        assert_eq!(take(&mut given("wharf-approval:other", accept.clone())), Carried::Nothing);
        for (response, said) in [
            (accept, ClientAnswer::Once),
            (json!({"action": "accept", "content": {"session": true}}), ClientAnswer::Session),
            (json!({"action": "decline"}), ClientAnswer::Refused),
            (json!({"action": "cancel"}), ClientAnswer::Refused),
            (json!("accept"), ClientAnswer::Refused),
            (Value::Null, ClientAnswer::Refused),
        ] {
            let mut input = given("wharf-approval:asked", response.clone());
            assert_eq!(take(&mut input), Carried::Answered(said), "{response}");
            assert!(input.is_empty(), "the tool sees nothing of it: {input:?}");
        }
        let mut silent = InputGiven { state: Some("wharf-approval:asked".to_owned()), ..InputGiven::default() };
        assert_eq!(take(&mut silent), Carried::Answered(ClientAnswer::Refused));
    }

    #[test]
    fn a_tool_that_asks_in_an_allowed_call_has_its_own_state_back() {
        for own in [None, Some(""), Some("allowed"), Some("wharf-approval:asked")] {
            let required = InputRequired { state: own.map(str::to_owned), ..InputRequired::default() };
            let mut answer = Answer { input_required: Some(required), ..Answer::default() };
            keep_allowed(&mut answer);
            let state = answer.input_required.expect("it asks").state;
            let mut input = InputGiven { state, ..InputGiven::default() };
            assert_eq!((take(&mut input), input.state.as_deref()), (Carried::Allowed, own));
        }
    }

    #[test]
    fn clients_without_forms_are_not_asked() {
        let can = |capabilities: Value| can_ask(capabilities.as_object());
        assert!(can(json!({"elicitation": {}})) && can(json!({"elicitation": {"form": {}}})));
        assert!(!can(json!({})) && !can(json!({"elicitation": {"url": {}}})) && !can(json!({"elicitation": null})));
        assert!(!can_ask(None));
    }
}
