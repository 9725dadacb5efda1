//! One line of text from a client, and the message in it.
//!
//! The protocol crate tries a message against every shape that it knows, one
//! after the other, and answers a malformed one without its id, so that the
//! client waits for ever. Here calls of tools are recognised first, and
//! whatever has an id is answered under it.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{
        CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode, GetExtensions,
        JsonRpcMessage, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wharf_core::RequestShare;

use super::scan;
use crate::request_permit::{AnswerHold, RequestPermit};

/// The longest message that a client may send, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// What a line turned out to be.
pub(super) enum IncomingLine {
    /// To be served.
    Message(ClientJsonRpcMessage),
    /// To be answered with this.
    Refused(ServerJsonRpcMessage),
    /// Nothing that wants an answer.
    Nothing,
}

/// Reads one line, without its line break, where there is memory for what is in it. What
/// it takes it has until its request is answered.
pub(super) fn admit(line: &[u8], mut share: RequestShare) -> IncomingLine {
    if let Err(full) = share.read(line) {
        let data = json!({"code": full.code.as_str(), "retryable": full.retryable});
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, full.message, Some(data));
        return IncomingLine::Refused(JsonRpcMessage::error(error, scan::find_id(line)));
    }
    let mut incoming = parse(line);
    if let IncomingLine::Message(JsonRpcMessage::Request(request)) = &mut incoming {
        request.request.extensions_mut().insert(RequestPermit::new(Arc::new(share), AnswerHold::default()));
    }
    incoming
}

/// Reads one line, without its line break.
pub(super) fn parse(line: &[u8]) -> IncomingLine {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return IncomingLine::Nothing;
    }
    let object = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            let rule = "a message is one JSON object on a line of its own; batches are not supported";
            return refuse(ErrorCode::INVALID_REQUEST, rule, None);
        }
        Err(error) => {
            let message = format!("this line is not JSON: {error}");
            return refuse(ErrorCode::PARSE_ERROR, message, scan::find_id(line));
        }
    };
    match object.get("method") {
        Some(Value::String(method)) if object.contains_key("id") => {
            let call = method == "tools/call";
            request(object, call)
        }
        // Notifications are never answered, and unknown ones are ignored.
        Some(Value::String(_)) => message(object),
        Some(_) => refuse(ErrorCode::INVALID_REQUEST, "`method` must be a string", id_of(&object)),
        None if object.contains_key("result") || object.contains_key("error") => message(object),
        None => refuse(ErrorCode::INVALID_REQUEST, "a request needs a `method`", id_of(&object)),
    }
}

/// The answer to a line of more than [`MAX_MESSAGE_BYTES`].
pub(super) fn oversized(line_bytes: u64, id: Option<RequestId>) -> ServerJsonRpcMessage {
    let text = format!("this message has {line_bytes} bytes; the limit is {MAX_MESSAGE_BYTES}");
    JsonRpcMessage::error(ErrorData::new(ErrorCode::INVALID_REQUEST, text, None), id)
}

fn refuse(code: ErrorCode, message: impl Into<String>, id: Option<RequestId>) -> IncomingLine {
    IncomingLine::Refused(JsonRpcMessage::error(ErrorData::new(code, message.into(), None), id))
}

fn id_of(object: &Map<String, Value>) -> Option<RequestId> {
    object.get("id").and_then(|id| RequestId::deserialize(id).ok())
}

fn message(object: Map<String, Value>) -> IncomingLine {
    match ClientJsonRpcMessage::deserialize(Value::Object(object)) {
        Ok(message) => IncomingLine::Message(message),
        Err(error) => {
            tracing::debug!(%error, "a notification or response that makes no sense was ignored");
            IncomingLine::Nothing
        }
    }
}

fn request(mut object: Map<String, Value>, call: bool) -> IncomingLine {
    let Some(id) = id_of(&object) else {
        return refuse(ErrorCode::INVALID_REQUEST, "`id` must be a string or an integer", None);
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(ErrorCode::INVALID_REQUEST, "`jsonrpc` must be \"2.0\"", Some(id));
    }
    if object.contains_key("result") || object.contains_key("error") {
        return refuse(ErrorCode::INVALID_REQUEST, "a request has neither `result` nor `error`", Some(id));
    }
    // Rounds of input are rare: they take the long way.
    let plain =
        |params: &Map<String, Value>| !params.contains_key("inputResponses") && !params.contains_key("requestState");
    if call && object.get("params").and_then(Value::as_object).is_none_or(plain) {
        return match tool_call(object.remove("params")) {
            Ok(call) => IncomingLine::Message(JsonRpcMessage::request(ClientRequest::CallToolRequest(call), id)),
            Err(rule) => refuse(ErrorCode::INVALID_PARAMS, rule, Some(id)),
        };
    }
    match ClientJsonRpcMessage::deserialize(Value::Object(object)) {
        Ok(message) => IncomingLine::Message(message),
        Err(error) => {
            let message = format!("this request is malformed: {error}");
            refuse(ErrorCode::INVALID_PARAMS, message, Some(id))
        }
    }
}

fn tool_call(params: Option<Value>) -> Result<CallToolRequest, &'static str> {
    let Some(Value::Object(mut params)) = params else {
        return Err("tools/call needs `params`, an object with `name` and `arguments`");
    };
    let Some(Value::String(name)) = params.remove("name") else {
        return Err("`params.name` must be the name of a tool");
    };
    let arguments = match params.remove("arguments") {
        Some(Value::Object(arguments)) => Some(arguments),
        None | Some(Value::Null) => None,
        Some(_) => return Err("`params.arguments` must be an object"),
    };
    let meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => Some(meta),
        None | Some(Value::Null) => None,
        Some(_) => return Err("`params._meta` must be an object"),
    };
    let mut call = CallToolRequestParams::new(name);
    call.arguments = arguments;
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Value {
        match parse(line.as_bytes()) {
            IncomingLine::Refused(answer) => serde_json::to_value(answer).expect("serializes"),
            IncomingLine::Message(message) => panic!("served: {message:?}"),
            IncomingLine::Nothing => panic!("ignored"),
        }
    }

    #[test]
    fn a_tool_call_reads_the_same_as_the_protocol_crate_reads_it() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,2.5,"y"]}}}"#,
            r#"{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"a","_meta":{"progressToken":1,"k":{}}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}},"extra":1}"#,
        ] {
            let IncomingLine::Message(ours) = parse(line.as_bytes()) else { panic!("{line}") };
            let theirs: ClientJsonRpcMessage = serde_json::from_str(line).expect("parses");
            let value = |message| serde_json::to_value(message).expect("serializes");
            assert_eq!(value(ours), value(theirs));
        }
    }

    #[test]
    fn a_malformed_request_is_answered_under_its_own_id() {
        for (line, id, code) in [
            (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":[1]}}"#, 3, -32602),
            (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}"#, 3, -32602),
            (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#, 3, -32602),
            (r#"{"jsonrpc":"1.0","id":3,"method":"tools/list"}"#, 3, -32600),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, 3, -32600),
            (r#"{"jsonrpc":"2.0","id":3}"#, 3, -32600),
            (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a",}}"#, 3, -32700),
        ] {
            let answer = refusal(line);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id.into(), &code.into()), "{line}");
        }
    }

    #[test]
    fn what_has_no_id_is_answered_without_one() {
        for (line, code) in [
            ("not json", -32700),
            ("[]", -32600),
            ("7", -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
        ] {
            let answer = refusal(line);
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert!(answer.get("id").is_none_or(Value::is_null), "{line}");
        }
    }

    #[test]
    fn nesting_beyond_what_is_parsed_is_an_error_and_no_crash() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{}}}}}}}"#,
            "[".repeat(100_000) + &"]".repeat(100_000),
        );
        assert_eq!(refusal(&deep)["id"], 5);
    }

    #[test]
    fn broken_notifications_are_never_answered() {
        for line in ["", "  \r", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#] {
            assert!(!matches!(parse(line.as_bytes()), IncomingLine::Refused(_)), "{line}");
        }
    }
}
