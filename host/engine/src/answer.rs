//! What a tool answered: checked, and converted for core.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wharf_core::{
    Answer, AnswerReader, CallLimits, Code, Content, Error, InputRequired, QuotaFull, json::Estimate, text, tool,
};

use crate::{
    adapter::types::MAX_MESSAGE_BYTES,
    bindings::{exports::wharf::plugin::tools as wit, wharf::plugin::types},
};

/// What is said of JSON that is none.
const STRUCTURED: &str = "its structured answer is not JSON";
const META: &str = "the `meta` of its answer is no JSON object";

/// Checks and converts what a tool answered, and charges what its JSON takes.
pub(crate) fn answer(
    returned: Result<wit::Answer, types::Error>,
    limits: &CallLimits,
    mut reader: AnswerReader,
) -> Result<Answer, Error> {
    let answer = returned.map_err(guest_error)?;
    tool::check_size(answer_bytes(&answer), answer.content.len(), limits)?;
    let mut meta = object(answer.meta.as_deref(), &mut reader)?;
    let content = |part: wit::Content| content(part.mime_type, part.data, part.meta.as_deref(), &mut reader);
    let answer = Answer {
        content: answer.content.into_iter().map(content).collect::<Result<_, _>>()?,
        structured: answer.structured.as_deref().map(|raw| json(raw, STRUCTURED, &mut reader)).transpose()?,
        is_error: answer.is_error,
        input_required: InputRequired::take(&mut meta)?,
        meta,
        memory: reader.finish(),
    };
    answer.checked()
}

pub(crate) fn guest_error(error: types::Error) -> Error {
    let told = text::visible(text::cut(&error.message, MAX_MESSAGE_BYTES).to_owned());
    let message = if told.trim().is_empty() { "the plugin refused this and does not say why".to_owned() } else { told };
    Error { code: Code::from_guest(&error.code), message, retryable: error.retryable }
}

pub(crate) fn answer_bytes(answer: &wit::Answer) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let parts: usize =
        answer.content.iter().map(|part| part.data.len() + part.mime_type.len() + length(&part.meta)).sum();
    (parts + length(&answer.structured) + length(&answer.meta)) as u64
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: {what}"))
}

/// One part of an answer.
pub(crate) fn content(
    mime_type: String,
    data: Vec<u8>,
    meta: Option<&str>,
    reader: &mut AnswerReader,
) -> Result<Content, Error> {
    Ok(Content { mime_type, data, meta: object(meta, reader)? })
}

/// A `meta` of an answer.
pub(crate) fn object(raw: Option<&str>, reader: &mut AnswerReader) -> Result<Map<String, Value>, Error> {
    raw.map_or_else(|| Ok(Map::new()), |raw| json(raw, META, reader))
}

/// The one place where JSON of an answer is parsed: a text of 1 MiB may take a hundred times as
/// much, so it is charged before.
fn json<T: DeserializeOwned>(raw: &str, what: &str, reader: &mut AnswerReader) -> Result<T, Error> {
    reader.take(&Estimate::of(raw.as_bytes()))?;
    serde_json::from_str(raw).map_err(|error| broken(format!("{what}: {error}")))
}

/// The error of a call that failed after a write of it was refused.
pub(crate) fn write_refused(full: &QuotaFull, said: &str) -> types::Error {
    types::Error {
        code: Code::Limit.as_str().to_owned(),
        message: format!(
            "a write of this call was refused: {}; remove what is not needed. The tool said: {said}",
            full.rule()
        ),
        retryable: true,
    }
}
