//! A message as it came: read as far as the endpoint needs it, and once. Calls of tools are
//! read whole. Of any other message it reads what tells which permits the message takes.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use rmcp::model::{ProtocolVersion, RequestId, RequestMetaObject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use wharf_core::service::CallableTool;

use super::outline;
use crate::{carried::CarriedCall, context_claims::VERSION_HEADER, handler::Handler, request_origin};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const CALL: &str = "tools/call";
/// Values that take more are counted again for the protocol crate.
const UNCOUNTED_BYTES: u64 = 256 << 10;

/// A message from a client.
pub(super) enum ReadMessage {
    /// A plain call, of which nothing is told but the answer.
    Plain(PlainCall),
    /// What the protocol crate has to look at.
    Other(OtherMessage),
}

/// A call of 2026-07-28 that is as such a call should be.
pub(super) struct PlainCall {
    pub(super) id: RequestId,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) meta: RequestMetaObject,
    /// Nothing where its client sees no such tool.
    pub(super) tool: Option<Arc<dyn CallableTool>>,
}

/// A message for the protocol crate.
#[derive(Default)]
pub(super) struct OtherMessage {
    /// Its id and its method, where it is a request.
    pub(super) request: Option<(RequestId, String)>,
    /// What was read of a call.
    pub(super) call: Option<CarriedCall>,
    /// What the protocol crate is to have in place of its text.
    pub(super) rest: Option<Bytes>,
    /// What the protocol crate takes of memory beside the estimate, in bytes.
    pub(super) further_bytes: u64,
}

/// The members of a message that tell what it is.
#[derive(Deserialize)]
struct MessageOutline {
    id: Option<RequestId>,
    method: Option<String>,
}

/// A message with nothing but what a call has: another member is another message.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct CallMessage<'m> {
    jsonrpc: &'m str,
    id: RequestId,
    method: &'m str,
    #[serde(borrow)]
    params: CallParameters<'m>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CallParameters<'m> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Map<String, Value>>,
    #[serde(borrow, rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'m RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    request_state: Option<&'m RawValue>,
}

/// Reads a message whose values take `estimate_bytes`.
///
/// # Errors
/// Where the body is no message.
pub(super) fn read(
    handler: &Handler,
    headers: &HeaderMap,
    body: &Bytes,
    estimate_bytes: u64,
) -> serde_json::Result<ReadMessage> {
    let says_plain = says_plain_call(headers);
    // What says that it is a call is read as one at once.
    let outline = if says_plain { None } else { Some(serde_json::from_slice::<MessageOutline>(body)?) };
    let is_call = outline.as_ref().is_none_or(|outline| outline.method.as_deref() == Some(CALL));
    // A call that has other members, or lacks one, is refused by the protocol crate, in its words.
    let call = if is_call { serde_json::from_slice::<CallMessage<'_>>(body).ok() } else { None };
    if let Some(mut call) = call.filter(|call| call.method == CALL) {
        let tool = handler.served().tools.callable(handler.viewer(), &call.params.name);
        let repeats = tool.as_ref().is_some_and(|tool| tool.repeated_arguments().is_some());
        if says_plain
            && !repeats
            && let Some(meta) = call.plain_meta(headers)
        {
            let CallMessage { id, params: CallParameters { name, arguments, .. }, .. } = call;
            let arguments = arguments.unwrap_or_default();
            return Ok(ReadMessage::Plain(PlainCall { id, name, arguments, meta, tool }));
        }
        let request = Some((call.id.clone(), CALL.to_owned()));
        let arguments = call.take_arguments(repeats);
        let rest = serde_json::to_vec(&call)?;
        let further_bytes = further_bytes(scaled(estimate_bytes, rest.len(), body.len()));
        let (call, rest) = (Some(CarriedCall::new(arguments, tool)), Some(rest.into()));
        return Ok(ReadMessage::Other(OtherMessage { request, call, rest, further_bytes }));
    }
    let MessageOutline { id, method } = outline.map_or_else(|| serde_json::from_slice(body), Ok)?;
    let further_bytes = further_bytes(estimate_bytes);
    Ok(ReadMessage::Other(OtherMessage { request: id.zip(method), further_bytes, ..OtherMessage::default() }))
}

impl CallMessage<'_> {
    /// The metadata of a plain call: one that its headers repeat as they should, and of which
    /// nothing is told but the answer.
    fn plain_meta(&self, headers: &HeaderMap) -> Option<RequestMetaObject> {
        let Self { jsonrpc, params, .. } = self;
        let is_plain = *jsonrpc == "2.0"
            && params.input_responses.is_none()
            && params.request_state.is_none()
            && single(headers, &NAME)?.to_str().ok()? == params.name
            // The header may also be written in base64.
            && !params.name.starts_with("=?");
        let meta = || serde_json::from_str::<Map<String, Value>>(params.meta?.get()).ok().map(RequestMetaObject::from);
        if is_plain { meta().filter(request_origin::is_plain) } else { None }
    }

    /// Takes the arguments out, and leaves what the protocol crate compares with headers.
    /// Nothing where that is nearly all of them.
    fn take_arguments(&mut self, repeats: bool) -> Option<Map<String, Value>> {
        let arguments = self.params.arguments.as_mut()?;
        let outline = if repeats { outline::of(arguments)? } else { Map::new() };
        Some(std::mem::replace(arguments, outline))
    }
}

/// Whether a message says of itself that it is a call of 2026-07-28 whose answer may come in
/// either form. Most others are told by their headers, before anything is read.
fn says_plain_call(headers: &HeaderMap) -> bool {
    let says = |name: &HeaderName, word: &str| single(headers, name).is_some_and(|value| value == word);
    let accepted = || single(headers, &header::ACCEPT)?.to_str().ok();
    says(&METHOD, CALL)
        && says(&VERSION_HEADER, ProtocolVersion::V_2026_07_28.as_str())
        && says(&header::CONTENT_TYPE, "application/json")
        && accepted().is_some_and(takes_both)
}

/// The value of a header that is there once.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Whether both forms of an answer are named, and nothing is said of how much they are liked.
fn takes_both(accept: &str) -> bool {
    let named = |kind| accept.split(',').any(|part| part.trim() == kind);
    named("application/json") && named("text/event-stream")
}

/// What a message takes whose values take so much: the protocol crate builds it more than once.
fn further_bytes(estimate_bytes: u64) -> u64 {
    if estimate_bytes > UNCOUNTED_BYTES { estimate_bytes.saturating_mul(2) } else { 0 }
}

/// What `part` of the bytes of `whole` take, where all take so much.
fn scaled(bytes: u64, part: usize, whole: usize) -> u64 {
    let share = u128::from(bytes) * part as u128 / (whole as u128).max(1);
    u64::try_from(share).unwrap_or(u64::MAX).min(bytes)
}
