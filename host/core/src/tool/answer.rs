//! What a tool answers, and what of it a client may see.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{clean_fields, json_bytes};
use crate::{AnswerShare, CallLimits, Code, Error, service::InputRequired, text};

/// Parts of one answer.
const MAX_CONTENT_PARTS: usize = 256;
/// Length of a media type.
const MAX_MIME_BYTES: usize = 255;

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// `text/plain`, `image/png` and others.
    pub mime_type: String,
    /// UTF-8 where the type is `text/plain`.
    pub data: Vec<u8>,
    /// Further protocol fields of this part.
    pub meta: Map<String, Value>,
}

impl Content {
    /// A part of plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { mime_type: "text/plain".to_owned(), data: text.into().into_bytes(), meta: Map::new() }
    }

    /// The text of a part that is plain text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if self.mime_type == "text/plain" { std::str::from_utf8(&self.data).ok() } else { None }
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Parts in reading order.
    pub content: Vec<Content>,
    /// Conforms to the tool's output schema.
    pub structured: Option<Value>,
    /// The tool could not do it, in a way that the model should react to.
    pub is_error: bool,
    /// What it needs of its caller first; then nothing else of the answer counts.
    pub input_required: Option<InputRequired>,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
    /// What its JSON takes of the account of answers; the host sets it.
    pub memory: AnswerShare,
}

impl Answer {
    /// How large it is as a whole; JSON counts as text.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let object = |meta: &Map<String, Value>| if meta.is_empty() { 0 } else { json_bytes(meta) };
        let part = |part: &Content| (part.data.len() + part.mime_type.len()) as u64 + object(&part.meta);
        let parts = self.content.iter().map(part).sum::<u64>();
        parts.saturating_add(self.structured.as_ref().map_or(0, json_bytes)).saturating_add(object(&self.meta))
    }

    /// The answer as a client may see it: without invisible characters in its
    /// texts and in its structure, and without members that would speak for the
    /// host. Its size is checked by [`check_size`].
    ///
    /// # Errors
    /// `internal` where it breaks the contract.
    pub fn checked(mut self) -> Result<Self, Error> {
        self.content = self.content.into_iter().map(Content::checked).collect::<Result<_, _>>()?;
        if let Some(structured) = &mut self.structured {
            text::visible_value(structured);
        }
        clean_fields(&mut self.meta);
        Ok(self)
    }
}

impl Content {
    pub(crate) fn checked(mut self) -> Result<Self, Error> {
        if !is_media_type(&self.mime_type) {
            return Err(broken("the type of a part of its answer is no media type"));
        }
        // Every kind of text may end up on a screen; only the plain one must be text.
        self.data = match String::from_utf8(self.data) {
            Ok(text) if text::is_visible(&text) => text.into_bytes(),
            Ok(text) if self.mime_type.starts_with("text/") && !is_json(&text) => text::visible(text).into_bytes(),
            Ok(json) if is_text(&self.mime_type) => text::visible_json(json).into_bytes(),
            Ok(other) => other.into_bytes(),
            Err(_) if self.mime_type == "text/plain" => return Err(broken("a text of its answer is not UTF-8")),
            Err(error) => error.into_bytes(),
        };
        clean_fields(&mut self.meta);
        Ok(self)
    }
}

/// Whether a client is shown a part of this type as text, and not as bytes: all of
/// `text/`, and JSON.
#[must_use]
pub fn is_text(mime_type: &str) -> bool {
    mime_type.starts_with("text/") || mime_type == "application/json" || mime_type.ends_with("+json")
}

/// Whether a text is a structure that a client may parse: plain text often repeats one.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether something may be called a media type.
pub(crate) fn is_media_type(name: &str) -> bool {
    (1..=MAX_MIME_BYTES).contains(&name.len()) && name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Whether an answer of so many bytes and parts may be given.
///
/// # Errors
/// `limit` where it has too many bytes, `internal` where it has too many parts.
pub fn check_size(bytes: u64, parts: usize, limits: &CallLimits) -> Result<(), Error> {
    if bytes <= limits.output_bytes {
        let fits = parts <= MAX_CONTENT_PARTS;
        return fits.then_some(()).ok_or_else(|| broken(format!("its answer has more than {MAX_CONTENT_PARTS} parts")));
    }
    Err(Error::new(
        Code::Limit,
        format!(
            "the tool's answer has {bytes} bytes, more than {} (limit `output_bytes`); ask for less at a time",
            limits.output_bytes
        ),
    ))
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn part(mime_type: &str, data: &[u8]) -> Content {
        Content { mime_type: mime_type.to_owned(), data: data.to_vec(), meta: Map::new() }
    }

    #[test]
    fn what_is_shown_loses_control_characters_and_what_would_speak_for_the_host() {
        let meta = json!({"dev.wharf/error": 1, "mine": 2}).as_object().expect("an object").clone();
        let content = vec![
            Content { meta: meta.clone(), ..Content::text("a\u{1b}[2Jb") },
            part("text/html", "c\u{202e}d".as_bytes()),
            part("image/png", b"\x1b\xff"),
            part("application/json", "{\"e\u{200b}\": \"f\u{2028}\"}".as_bytes()),
            part("application/octet-stream", "g\u{200b}".as_bytes()),
        ];
        let answer = Answer { content, meta, ..Answer::default() }.checked().expect("an answer");
        let shown: Vec<_> = answer.content.iter().map(|part| part.data.as_slice()).collect();
        let bytes = "g\u{200b}".as_bytes();
        assert_eq!(shown, [&b"a[2Jb"[..], b"cd", b"\x1b\xff", b"{\"e\": \"f\\n\"}", bytes]);
        assert_eq!(Value::Object(answer.meta), json!({"mine": 2}));
        assert_eq!(Value::Object(answer.content[0].meta.clone()), json!({"mine": 2}));
    }

    #[test]
    fn what_is_told_beside_an_answer_is_seen_as_the_answer_is() {
        let meta = json!({"uri": "test:\u{202e}x", "y\u{200b}": 1, "annotations": {"a": ["\u{e0041}b"]}});
        let meta = meta.as_object().expect("an object").clone();
        let content = vec![Content { meta: meta.clone(), ..Content::text("x") }];
        let structured = Some(json!({"a\u{200b}": ["b\r", {"c": "d\u{e0041}"}]}));
        let answer = Answer { content, meta, structured, ..Answer::default() }.checked().expect("an answer");
        let shown = json!({"uri": "test:x", "annotations": {"a": ["b"]}});
        assert_eq!(Value::Object(answer.content[0].meta.clone()), shown);
        assert_eq!(Value::Object(answer.meta), shown);
        assert_eq!(answer.structured, Some(json!({"a": ["b\n", {"c": "d"}]})));
    }

    #[test]
    fn a_structure_that_is_repeated_as_text_can_still_be_parsed() {
        let structured = json!({"a": "b\u{2028}\u{200b}c"});
        let content = vec![Content::text(structured.to_string()), Content::text("{a\u{2028}b")];
        let answer =
            Answer { content, structured: Some(structured), ..Answer::default() }.checked().expect("an answer");
        let told: Value = serde_json::from_str(answer.content[0].as_text().expect("a text")).expect("JSON");
        assert_eq!(Some(told), answer.structured);
        assert_eq!(answer.content[1].as_text(), Some("{a\nb"));
    }

    #[test]
    fn what_is_no_answer_is_a_defect_of_the_tool() {
        for content in [vec![part("text/plain", b"\xff")], vec![part("", b"x")], vec![part("a/\u{e4}", b"x")]] {
            let error = Answer { content, ..Answer::default() }.checked().expect_err("broken");
            assert!(error.code == Code::Internal && error.message.contains("broke its contract"), "{error}");
        }
        let limits = CallLimits::default();
        assert!(check_size(0, 256, &limits).is_ok());
        assert_eq!(check_size(0, 257, &limits).map_err(|error| error.code), Err(Code::Internal));
    }

    #[test]
    fn an_answer_is_as_large_as_its_texts() {
        let answer = Answer {
            content: vec![Content::text("12345")],
            structured: Some(json!({"a": [1, 2]})),
            ..Answer::default()
        };
        assert_eq!(answer.bytes(), 5 + 10 + 11);
        let limits = CallLimits { output_bytes: 26, ..CallLimits::default() };
        assert!(check_size(answer.bytes(), 1, &limits).is_ok());
        assert_eq!(check_size(27, 1, &limits).map_err(|error| error.code), Err(Code::Limit));
    }
}
