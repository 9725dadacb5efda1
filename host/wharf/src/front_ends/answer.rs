//! What a front end answers, checked while it can still be told what is wrong
//! with it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Map;
use wharf_core::{
    Answer, CallLimits, Code, Content, Error, Tool,
    limit::TimeLeft,
    service::front_end::{AnswerCall, AnswerError, AnswerPart},
    text,
    tool::check_size,
};

use crate::{
    answer_schema::{ANSWER, promised, unfit_answer},
    app::AppCall,
    checking::{Check, Checks, check_here},
};

/// Longest message of an error for a client.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// What the caller of the tool gets: an answer that keeps its rules, or the error
/// that the front end has chosen.
type CheckedAnswer = Result<Answer, Error>;

/// Checks an answer, and holds up nobody meanwhile.
pub(super) async fn checked(
    answer: AnswerCall,
    tool: &Tool,
    limits: &CallLimits,
    checks: &Checks,
    call: &AppCall,
    time: TimeLeft,
) -> Result<CheckedAnswer, Error> {
    let mut answer = match read(answer, limits)? {
        Ok(answer) => answer,
        told => return Ok(told),
    };
    if let Some(schema) = promised(&answer, tool).map_err(told)?
        && let Some(structured) = answer.structured.take()
    {
        let check = Check { context: &call.caller.context, schema, what: ANSWER, limits, time, cancel: &call.ended };
        let fitting = checks.check(check, structured).await.map_err(|unfit| told(unfit_answer(unfit)))?;
        answer.structured = Some(fitting.value);
    }
    Ok(Ok(answer))
}

/// Checks an answer on the thread that asks.
pub(super) fn checked_here(answer: AnswerCall, tool: &Tool, limits: &CallLimits) -> Result<CheckedAnswer, Error> {
    let answer = match read(answer, limits)? {
        Ok(answer) => answer,
        told => return Ok(told),
    };
    if let (Some(schema), Some(structured)) = (promised(&answer, tool).map_err(told)?, &answer.structured) {
        check_here(schema, ANSWER, structured, limits).map_err(|unfit| told(unfit_answer(unfit)))?;
    }
    Ok(Ok(answer))
}

/// What was sent, before it is held against the tool's schema.
fn read(answer: AnswerCall, limits: &CallLimits) -> Result<CheckedAnswer, Error> {
    let AnswerCall { content, structured, is_error, error } = answer;
    if let Some(AnswerError { code, message }) = error {
        if !content.is_empty() || structured.is_some() || is_error {
            return Err(refused(Code::Invalid, "beside `error` nothing else is sent"));
        }
        let message = text::visible(text::cut(&message, MAX_MESSAGE_BYTES).to_owned());
        return Ok(Err(Error::new(Code::from_guest(&code), message)));
    }
    let content = content.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    let answer = Answer { content, structured, is_error, ..Answer::default() };
    check_size(answer.bytes(), answer.content.len(), limits).map_err(told)?;
    Ok(Ok(answer.checked().map_err(told)?))
}

/// What the front end is told of an answer that cannot be passed on.
fn told(error: Error) -> Error {
    match error.code {
        Code::Limit => refused(Code::Limit, &error.message),
        _ => refused(Code::Invalid, &error.message),
    }
}

fn part(part: AnswerPart) -> Result<Content, Error> {
    let data = match (part.text, part.base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(encoded)) => {
            STANDARD.decode(encoded).map_err(|_| refused(Code::Invalid, "`base64` of a part is none"))?
        }
        _ => return Err(refused(Code::Invalid, "a part has either `text` or `base64`")),
    };
    let mime_type = part.mime_type.unwrap_or_else(|| "text/plain".to_owned());
    Ok(Content { mime_type, data, meta: Map::new() })
}

/// The call goes on: it may be answered anew.
fn refused(code: Code, why: &str) -> Error {
    Error::new(code, format!("the answer is refused, and the call still waits for one: {why}"))
}
