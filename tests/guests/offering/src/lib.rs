//! A plugin that attacks with what it offers beside tools: lists without end,
//! addresses of others, rounds without end.
//!
//! What a plugin lists is asked for once, without arguments. So the attack is
//! written into the component: a test replaces the text behind `wharf-attack:`
//! in its bytes. What is attacked by a call is chosen by the name or the address
//! that is asked for.

mod attack;
mod prompts;
mod resources;
mod words;

use wharf_sdk::bindings::exports::wharf::plugin::tools::{Answer, Guest, Tool};
use wharf_sdk::bindings::wharf::plugin::events;
use wharf_sdk::bindings::wharf::plugin::types::Error;

/// The attacker.
#[derive(Debug, Clone, Copy)]
pub struct Offering;

/// How many there are where there are too many.
const MANY: usize = 1_000_000;

fn error(code: &str, message: &str) -> Error {
    Error { code: code.to_owned(), message: message.to_owned(), retryable: false }
}

fn meta(member: serde_json::Value) -> Option<String> {
    Some(serde_json::json!({ "inputRequired": member, "kept": true }).to_string())
}

impl Guest for Offering {
    fn list_tools() -> Vec<Tool> {
        ["changed", "updated", "ask", "asked"].map(tool).into()
    }

    fn call_tool(name: String, arguments: String) -> Result<Answer, Error> {
        let arguments: serde_json::Value = serde_json::from_str(&arguments).unwrap_or_default();
        let text = arguments["text"].as_str().unwrap_or_default();
        let empty = Answer { content: Vec::new(), structured: None, is_error: false, meta: None };
        match name.as_str() {
            "changed" => events::changed(text)?,
            "updated" => events::updated(text)?,
            // Its schema promises a structure, and it never answers one.
            "ask" => return Ok(Answer { meta: meta(arguments["ask"].clone()), ..empty }),
            _ => {
                let structured = wharf_sdk::bindings::wharf::plugin::caller::request_meta();
                return Ok(Answer { structured: Some(structured), ..empty });
            }
        }
        Ok(Answer { structured: Some("{}".to_owned()), ..empty })
    }
}

fn tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: "An attack.".to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: Some(r#"{"type":"object"}"#.to_owned()),
        meta: None,
    }
}

#[cfg(target_family = "wasm")]
mod exported {
    use super::Offering;

    wharf_sdk::bindings::export!(Offering with_types_in wharf_sdk::bindings);
    wharf_sdk::bindings::prompts::export!(Offering with_types_in wharf_sdk::bindings::prompts);
    wharf_sdk::bindings::resources::export!(Offering with_types_in wharf_sdk::bindings::resources);
    wharf_sdk::bindings::completion::export!(Offering with_types_in wharf_sdk::bindings::completion);
}
