//! What the `_meta` of a request says about its caller.
//!
//! Owns the names of keys, ours and those of known clients. What the values
//! are worth is decided in `wharf-core`.

use http::{HeaderMap, HeaderName, request::Parts};
use rmcp::model::Extensions;
use serde_json::{Map, Value};
use wharf_contract::caller::OWN_PREFIX;
use wharf_core::{Code, ContextClaims, Error};

/// The session of the older era that a request over HTTP belongs to.
pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// The revision of the protocol that a request over HTTP is of.
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What the headers of a request say of its context, as its transport has read them.
#[derive(Clone)]
pub(crate) struct TransportClaims(pub(crate) Result<ContextClaims, Error>);

const SESSION: &str = "dev.wharf/sessionId";
const ASSISTANT: &str = "dev.wharf/assistantId";
const THREAD: &str = "dev.wharf/threadId";

/// Keys of the protocol's own: not for plugins.
const PROTOCOL_PREFIX: &str = "io.modelcontextprotocol/";
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

const CODEX_THREAD: &str = "threadId";
const CODEX_TURN: &str = "x-codex-turn-metadata";
const VS_CODE_CONVERSATION: &str = "vscode.conversationId";

/// A turn's metadata that is longer, where it is text, is not parsed.
const TURN_BYTES: usize = 16 * 1024;

/// Takes our own keys and the protocol's out of `meta`, those that only the host
/// may set among them; what is left is for the plugin to read, the keys of known
/// clients among it.
///
/// # Errors
/// `invalid` where one of our own keys is no text.
fn take(meta: &mut Map<String, Value>) -> Result<ContextClaims, Error> {
    if meta.is_empty() {
        return Ok(ContextClaims::default());
    }
    let mut claims = ContextClaims {
        session: own(meta, SESSION)?,
        assistant: own(meta, ASSISTANT)?,
        thread: own(meta, THREAD)?,
        ..ContextClaims::default()
    };
    meta.retain(|key, _| key != PROGRESS_TOKEN && !key.starts_with(PROTOCOL_PREFIX) && !key.starts_with(OWN_PREFIX));
    if !meta.is_empty() {
        of_known_clients(meta, &mut claims);
    }
    Ok(claims)
}

/// Adds what the HTTP request around a message says, where it came over HTTP:
/// its headers name what our own keys name, and come after all that
/// `_meta` says; a session of the older era comes last.
///
/// # Errors
/// `invalid` where a header is there twice or is no text.
fn of_http(extensions: &Extensions, claims: &mut ContextClaims) -> Result<(), Error> {
    let Some(request) = extensions.get::<Parts>() else { return Ok(()) };
    let said = match request.extensions.get::<TransportClaims>() {
        Some(TransportClaims(said)) => said.clone()?,
        None => ContextClaims::default(),
    };
    claims.transport_session = if said.session.is_some() { said.session } else { session(&request.headers)? };
    claims.assistant = claims.assistant.take().or(said.assistant);
    claims.thread = claims.thread.take().or(said.thread);
    Ok(())
}

/// The session that a request of HTTP names in its header, as it came.
pub(crate) fn session_header(parts: &Parts) -> Option<&str> {
    parts.headers.get(SESSION_HEADER)?.to_str().ok()
}

/// The session that a header names, which is there at most once.
fn session(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let mut values = headers.get_all(SESSION_HEADER).iter();
    let Some(session) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Error::new(Code::Invalid, format!("send the header `{SESSION_HEADER}` once")));
    }
    let illegal = |_| Error::new(Code::Invalid, format!("the header `{SESSION_HEADER}` must be ASCII"));
    session.to_str().map(|session| Some(session.to_owned())).map_err(illegal)
}

/// What a request says of its context: in its `_meta`, from which it is taken, and over
/// HTTP.
///
/// # Errors
/// `invalid` where one of our own keys or headers is no text, or a header is there twice.
pub(crate) fn of_request(meta: &mut Map<String, Value>, extensions: &Extensions) -> Result<ContextClaims, Error> {
    let mut claims = take(meta)?;
    of_http(extensions, &mut claims)?;
    Ok(claims)
}

fn own(meta: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Error> {
    match meta.remove(key) {
        None => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(Error::new(Code::Invalid, format!("`{key}` in `_meta` must be a text"))),
    }
}

fn of_known_clients(meta: &Map<String, Value>, claims: &mut ContextClaims) {
    let parsed;
    let turn = match meta.get(CODEX_TURN) {
        Some(Value::Object(turn)) => Some(turn),
        Some(Value::String(text)) if text.len() <= TURN_BYTES => {
            parsed = serde_json::from_str::<Map<String, Value>>(text).ok();
            parsed.as_ref()
        }
        _ => None,
    };
    let of_turn = |key| turn.and_then(|turn| text(turn.get(key)));
    claims.client_thread = text(meta.get(CODEX_THREAD)).or_else(|| of_turn("thread_id"));
    // A Codex without a session of its own has one conversation per thread.
    claims.client_session =
        of_turn("session_id").or_else(|| text(meta.get(VS_CODE_CONVERSATION))).or_else(|| claims.client_thread.clone());
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn taken(meta: Value) -> (ContextClaims, Value) {
        let mut meta = meta.as_object().expect("an object").clone();
        let claims = take(&mut meta).expect("legal");
        (claims, Value::Object(meta))
    }

    #[test]
    fn own_and_protocol_keys_are_taken_out_and_the_rest_is_for_the_plugin() {
        let (claims, rest) = taken(json!({
            "dev.wharf/sessionId": "s", "dev.wharf/assistantId": "a", "dev.wharf/threadId": "t",
            "progressToken": 1, "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "traceparent": "00-1", "com.example/k": {"x": 1}, "dev.wharf/client": {"capabilities": {"roots": {}}},
        }));
        assert_eq!(claims.session.as_deref(), Some("s"));
        assert_eq!(claims.assistant.as_deref(), Some("a"));
        assert_eq!(claims.thread.as_deref(), Some("t"));
        assert_eq!(rest, json!({"traceparent": "00-1", "com.example/k": {"x": 1}}));
    }

    #[test]
    fn known_clients_name_their_conversations() {
        let (claims, _) = taken(json!({"vscode.conversationId": "v"}));
        assert_eq!((claims.client_session.as_deref(), claims.client_thread), (Some("v"), None));

        let (claims, _) = taken(json!({"threadId": "t"}));
        assert_eq!((claims.client_session.as_deref(), claims.client_thread.as_deref()), (Some("t"), Some("t")));

        for turn in [json!({"session_id": "s", "thread_id": "t"}), json!(r#"{"session_id":"s","thread_id":"t"}"#)] {
            let (claims, _) = taken(json!({ "x-codex-turn-metadata": turn }));
            assert_eq!((claims.client_session.as_deref(), claims.client_thread.as_deref()), (Some("s"), Some("t")));
        }
    }

    #[test]
    fn an_own_key_that_is_no_text_is_refused_and_not_ignored() {
        for value in [json!(1), json!(null), json!({})] {
            let mut meta = json!({"dev.wharf/sessionId": value}).as_object().expect("an object").clone();
            assert_eq!(take(&mut meta).expect_err("no text").code, Code::Invalid);
        }
        let (claims, _) =
            taken(json!({"threadId": 7, "x-codex-turn-metadata": "no json", "vscode.conversationId": ""}));
        assert_eq!((claims.client_session, claims.client_thread), (None, None));
    }
}
