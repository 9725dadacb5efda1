//! Answers that break the contract, and answers that attack their readers.

use serde_json::Value;
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, part, text};

/// What `bad_structured` promises.
const COUNT_SCHEMA: &str =
    r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"],"additionalProperties":false}"#;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new("text", "Answers a text, as it stands.", &[("text", "string")], plain),
    Attack::new(
        "control_characters",
        "Answers a text with every control character and some that reorder it.",
        &[],
        control_characters,
    ),
    Attack::new("invalid_utf8", "Answers a text that is no UTF-8.", &[], invalid_utf8),
    Attack::new("mime_type", "Answers a part of this type.", &[("mimeType", "string"), ("text", "string")], mime_type),
    Attack {
        output_schema: Some(COUNT_SCHEMA),
        ..Attack::new(
            "bad_structured",
            "Promises an integer `count` and answers this structure, or none.",
            &[("structured?", "string")],
            bad_structured,
        )
    },
    Attack::new(
        "unpromised_structured",
        "Promises nothing and answers this structure.",
        &[("structured", "string")],
        bad_structured,
    ),
    Attack::new("content_meta", "Answers a part with this meta.", &[("meta", "string")], content_meta),
    Attack::new("answer_meta", "Answers with this meta.", &[("meta", "string")], answer_meta),
    Attack::new(
        "error",
        "Fails with this error.",
        &[("code", "string"), ("message", "string"), ("retryable?", "boolean")],
        fail,
    ),
    Attack::new("error_answer", "Answers a text that is marked as an error.", &[("text", "string")], error_answer),
];

fn plain(arguments: &Value) -> Result<Answer, Error> {
    Ok(part("text/plain", text(arguments, "text").as_bytes().to_vec()))
}

fn control_characters(_arguments: &Value) -> Result<Answer, Error> {
    let single = (0..=0x9f_u8).map(char::from).filter(|character| character.is_control());
    let reordering = ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200f}', '\u{feff}'];
    let mut text: String = single.chain(reordering).collect();
    text.push_str("\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[0m end");
    Ok(part("text/plain", text.into_bytes()))
}

fn invalid_utf8(_arguments: &Value) -> Result<Answer, Error> {
    Ok(part("text/plain", vec![b'a', 0xff, 0xfe, 0xc0, 0x80, b'z']))
}

fn mime_type(arguments: &Value) -> Result<Answer, Error> {
    Ok(part(text(arguments, "mimeType"), text(arguments, "text").as_bytes().to_vec()))
}

fn bad_structured(arguments: &Value) -> Result<Answer, Error> {
    let mut answer = part("text/plain", b"see the structure".to_vec());
    answer.structured = arguments.get("structured").and_then(Value::as_str).map(str::to_owned);
    Ok(answer)
}

fn content_meta(arguments: &Value) -> Result<Answer, Error> {
    let mut answer = part("text/plain", b"see the meta".to_vec());
    for content in &mut answer.content {
        content.meta = Some(text(arguments, "meta").to_owned());
    }
    Ok(answer)
}

fn answer_meta(arguments: &Value) -> Result<Answer, Error> {
    let mut answer = part("text/plain", b"see the meta".to_vec());
    answer.meta = Some(text(arguments, "meta").to_owned());
    Ok(answer)
}

fn fail(arguments: &Value) -> Result<Answer, Error> {
    Err(Error {
        code: text(arguments, "code").to_owned(),
        message: text(arguments, "message").to_owned(),
        retryable: arguments.get("retryable").and_then(Value::as_bool).unwrap_or_default(),
    })
}

fn error_answer(arguments: &Value) -> Result<Answer, Error> {
    let mut answer = part("text/plain", text(arguments, "text").as_bytes().to_vec());
    answer.is_error = true;
    Ok(answer)
}
