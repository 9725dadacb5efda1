//! What an attack is, how it is listed, and how it reports.

use serde_json::{Map, Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::{Answer, Content, Tool};
use wharf_sdk::bindings::wharf::plugin::types::Error;

/// One tool of this plugin.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Name and JSON type; a `?` behind the name makes it optional.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
    pub(crate) output_schema: Option<&'static str>,
    pub(crate) run: fn(&Value) -> Result<Answer, Error>,
}

impl Attack {
    pub(crate) const fn new(
        name: &'static str,
        description: &'static str,
        arguments: &'static [(&'static str, &'static str)],
        run: fn(&Value) -> Result<Answer, Error>,
    ) -> Self {
        Self { name, description, arguments, output_schema: None, run }
    }

    pub(crate) fn definition(&self) -> Tool {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, kind) in self.arguments {
            let bare = name.trim_end_matches('?');
            properties.insert(bare.to_owned(), json!({ "type": kind }));
            if bare == *name {
                required.push(bare);
            }
        }
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        Tool {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            input_schema: schema.to_string(),
            output_schema: self.output_schema.map(str::to_owned),
            meta: None,
        }
    }
}

/// A number of the arguments; 0 where it is left out.
pub(crate) fn number(arguments: &Value, name: &str) -> u64 {
    arguments.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// The same as a length in memory.
pub(crate) fn length(arguments: &Value, name: &str) -> usize {
    usize::try_from(number(arguments, name)).unwrap_or(usize::MAX)
}

/// A text of the arguments; empty where it is left out.
pub(crate) fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The texts of a list of the arguments; none where it is left out.
pub(crate) fn texts(arguments: &Value, name: &str) -> Vec<String> {
    let listed = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
    listed.map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
}

/// An answer of one part.
pub(crate) fn part(mime_type: &str, data: Vec<u8>) -> Answer {
    let content = Content { mime_type: mime_type.to_owned(), data, meta: None };
    Answer { content: vec![content], structured: None, is_error: false, meta: None }
}

/// What was found, as JSON in a text.
pub(crate) fn report(found: &Value) -> Result<Answer, Error> {
    Ok(part("text/plain", found.to_string().into_bytes()))
}

pub(crate) fn error(code: &str, message: &str) -> Error {
    Error { code: code.to_owned(), message: message.to_owned(), retryable: false }
}

/// An error of the host, as a report names it.
pub(crate) fn refusal(error: &Error) -> Value {
    json!({ "code": error.code, "message": error.message, "retryable": error.retryable })
}

/// The outcome of a function of the host.
pub(crate) fn found(answer: Result<Value, Error>) -> Result<Answer, Error> {
    match answer {
        Ok(found) => report(&json!({ "ok": found })),
        Err(error) => report(&json!({ "refused": refusal(&error) })),
    }
}
