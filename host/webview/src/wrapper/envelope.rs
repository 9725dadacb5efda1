//! The envelope in which a result comes back from a page: one line of JSON, a line
//! break, and the result.
//!
//! All of it is hostile. It is bounded before it is read, and only what the wrapper can
//! have written is taken.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};
use wharf_contract::webview::TYPE;

use crate::{Failure, FailureKind};

/// The longest line before the result.
const MAXIMUM_HEAD_BYTES: usize = 64 << 10;
/// How many lines of a stack are told.
const STACK_LINES: usize = 6;
/// The largest whole number that JavaScript has.
const MAXIMUM_NUMBER: u64 = (1 << 53) - 1;

const NO_RESULT: &str = "what came back from the page is no result: its scripts have changed what results are made \
    with; run this in the isolated world";

/// A result as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptResult {
    pub(crate) data: String,
    /// How many bytes the whole result has.
    pub(crate) bytes: u64,
    /// The number by which the page keeps the rest.
    pub(crate) kept: Option<u64>,
    pub(crate) meta: Map<String, Value>,
}

/// A piece of a result that the page kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredPiece {
    pub(crate) start: u64,
    pub(crate) data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeHead {
    r#type: Option<String>,
    bytes: Option<u64>,
    kept: Option<u64>,
    failed: Option<String>,
    name: Option<String>,
    message: Option<String>,
    stack: Option<String>,
    start: Option<u64>,
    next: Option<u64>,
    gone: Option<bool>,
}

/// What a script comes to where a backend makes the result itself, and no page does.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptAnswer<'a> {
    /// A value.
    Value(&'a Value),
    /// `undefined`.
    Undefined,
    /// An exception with this message.
    Throws(&'a str),
}

impl ScriptAnswer<'_> {
    /// The text for [`Settled::Envelope`](crate::Settled::Envelope).
    #[must_use]
    pub fn envelope(&self) -> String {
        let (head, data) = match self {
            Self::Value(value) => {
                let type_of = match value {
                    Value::Null | Value::Array(_) | Value::Object(_) => "object",
                    Value::Bool(_) => "boolean",
                    Value::Number(_) => "number",
                    Value::String(_) => "string",
                };
                (json!({ "type": type_of }), value.to_string())
            }
            Self::Undefined => (json!({ "type": "undefined" }), Value::Null.to_string()),
            Self::Throws(message) => {
                // JSON makes a character six bytes long at most.
                let told: String = message.chars().take(MAXIMUM_HEAD_BYTES / 8).collect();
                (json!({ "failed": FailureKind::Exception.as_str(), "name": "Error", "message": told }), String::new())
            }
        };
        format!("{head}\n{data}")
    }
}

/// Reads the result of a script, of which at most `most` bytes were asked for.
pub(crate) fn result(envelope: &str, most: usize) -> Result<ScriptResult, Failure> {
    let none = || Failure::new(FailureKind::Unserialisable, NO_RESULT);
    let (head, data) = split(envelope, most).ok_or_else(none)?;
    if head.start.or(head.next).is_some() || head.gone.is_some() {
        return Err(none());
    }
    if let Some(kind) = &head.failed {
        let kind = match FailureKind::find(kind) {
            Some(kind @ (FailureKind::Exception | FailureKind::Unserialisable)) => kind,
            _ => return Err(none()),
        };
        return Err(Failure::new(kind, words(&head)));
    }
    let type_of = head.r#type.filter(|word| TYPES.contains(&word.as_str())).ok_or_else(none)?;
    let bytes = match head.bytes {
        Some(bytes) if bytes > data.len() as u64 && bytes <= MAXIMUM_NUMBER => bytes,
        Some(_) => return Err(none()),
        // It is whole, so it is JSON.
        None if serde_json::from_str::<IgnoredAny>(data).is_ok() => data.len() as u64,
        None => return Err(none()),
    };
    let kept = head.kept.filter(|number| head.bytes.is_some() && *number <= MAXIMUM_NUMBER);
    let meta = Map::from_iter([(TYPE.to_owned(), type_of.into())]);
    Ok(ScriptResult { data: data.to_owned(), bytes, kept, meta })
}

/// What `typeof` can say of what can be JSON.
const TYPES: [&str; 5] = ["undefined", "object", "boolean", "number", "string"];

/// Reads a piece from `from` on; nothing where the page does not keep it.
pub(crate) fn piece(envelope: &str, from: u64, most: usize) -> Option<StoredPiece> {
    // A character is never split, so it may begin later, and be longer than asked.
    let (head, data) = split(envelope, most.max(4))?;
    let (start, next) = (head.start?, head.next?);
    let holds = (from..=from.saturating_add(3)).contains(&start) && next.checked_sub(start)? == data.len() as u64;
    (holds && !data.is_empty()).then(|| StoredPiece { start, data: data.to_owned() })
}

fn split(envelope: &str, most: usize) -> Option<(EnvelopeHead, &str)> {
    let (head, data) = envelope.split_once('\n')?;
    if head.len() > MAXIMUM_HEAD_BYTES || data.len() > most {
        return None;
    }
    Some((serde_json::from_str(head).ok()?, data))
}

/// The exception of a script, in words for a person or a model.
fn words(head: &EnvelopeHead) -> String {
    let text = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
    let (name, message, stack) = (text(&head.name), text(&head.message), text(&head.stack));
    let mut words = match (name.as_str(), message.as_str()) {
        ("", "") => "it failed, and says no more".to_owned(),
        ("", message) => message.to_owned(),
        (name, "") => name.to_owned(),
        (name, message) => format!("{name}: {message}"),
    };
    // Some engines begin the stack with what it is about.
    let stack = stack.strip_prefix(words.as_str()).unwrap_or(&stack);
    for line in stack.lines().map(str::trim).filter(|line| !line.is_empty()).filter_map(of_script).take(STACK_LINES) {
        words.push_str("\n    ");
        words.push_str(&line);
    }
    words
}

/// What engines call a source without an address.
const NAMELESS: [&str; 2] = ["<anonymous>:", "<eval_script>:"];

/// A line of a stack with the line of the script that was asked for, which the
/// wrapper is one line before. Nothing for the wrapper itself.
fn of_script(line: &str) -> Option<String> {
    let place = NAMELESS.iter().find_map(|name| line.find(name).map(|at| at + name.len()));
    let Some(place) = place else { return Some(line.to_owned()) };
    let (before, after) = line.split_at(place);
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let Ok(number) = after[..digits].parse::<u64>() else { return Some(line.to_owned()) };
    (number > 1).then(|| format!("{before}{}{}", number - 1, &after[digits..]))
}
