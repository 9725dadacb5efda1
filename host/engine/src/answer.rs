//! What a tool answered: checked, and converted for core.

use serde_json::{Map, Value};
use wharf_core::{Answer, CallLimits, Code, Content, Error, InputRequired, QuotaFull, json::Estimate, text, tool};

use crate::{
    adapter::types::MAX_MESSAGE_BYTES,
    bindings::{exports::wharf::plugin::tools as wit, wharf::plugin::types},
};

/// Checks and converts what a tool answered.
pub(crate) fn answer(returned: Result<wit::Answer, types::Error>, limits: &CallLimits) -> Result<Answer, Error> {
    let answer = returned.map_err(guest_error)?;
    tool::check_size(answer_bytes(&answer), answer.content.len(), limits)?;
    let mut meta = object(answer.meta.as_deref())?;
    let answer = Answer {
        content: answer.content.into_iter().map(content).collect::<Result<_, _>>()?,
        structured: answer.structured.as_deref().map(|raw| json(raw, limits)).transpose()?,
        is_error: answer.is_error,
        input_required: InputRequired::take(&mut meta)?,
        meta,
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

fn content(part: wit::Content) -> Result<Content, Error> {
    Ok(Content { mime_type: part.mime_type, data: part.data, meta: object(part.meta.as_deref())? })
}

fn json(raw: &str, limits: &CallLimits) -> Result<Value, Error> {
    let bytes = Estimate::of(raw.as_bytes()).bytes();
    if bytes > limits.answer_json_bytes {
        return Err(Error::new(
            Code::Limit,
            format!(
                "the tool's structured answer takes about {bytes} bytes of memory, more than {} (limit \
                 `answer_json_bytes`); ask for less at a time",
                limits.answer_json_bytes
            ),
        ));
    }
    serde_json::from_str(raw).map_err(|error| broken(format!("its structured answer is not JSON: {error}")))
}

pub(crate) fn object(raw: Option<&str>) -> Result<Map<String, Value>, Error> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    serde_json::from_str(raw).map_err(|error| broken(format!("the `meta` of its answer is no JSON object: {error}")))
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
