//! Calls of tools that go past the protocol crate, whose types alone they use.
//!
//! That crate serves each request of 2026-07-28 by three tasks and writes its message back
//! into JSON to compare it with the headers, which costs more than a small call itself. A
//! plain call, of which nothing is told but the answer, needs none of that. Whatever is out
//! of the ordinary, and all that has to be refused, still goes the crate's way: nothing is
//! decided here that it would decide otherwise.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts};
use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, ErrorCode, Extensions, JsonRpcMessage, ProtocolVersion, RequestId,
        RequestMetaObject, ServerJsonRpcMessage,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wharf_core::service::CallableTool;

use super::answer::{self, EndpointResponse};
use crate::{
    calls,
    context_claims::VERSION_HEADER,
    request_origin::{self, RequestOrigin},
    request_permit::{AnswerHold, RequestPermit},
    traced::Traced,
};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const CALL: &str = "tools/call";
/// A call that can go past the protocol crate.
pub(super) struct DirectCall {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
    /// Nothing where its client sees no such tool.
    tool: Option<Arc<dyn CallableTool>>,
}

/// A message with nothing but what a plain call has: another member is another message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallMessage<'m> {
    jsonrpc: &'m str,
    id: RequestId,
    method: &'m str,
    params: CallParameters,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallParameters {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

/// Reads a plain call. Nothing where the protocol crate has to look at the request.
pub(super) fn read(handler: &Traced, headers: &HeaderMap, body: &Bytes) -> Option<DirectCall> {
    // Most other messages are told by their headers, before anything is read.
    let is_plain = single(headers, &METHOD)? == CALL
        && single(headers, &VERSION_HEADER)? == ProtocolVersion::V_2026_07_28.as_str()
        && single(headers, &header::CONTENT_TYPE)? == "application/json"
        && takes_both(single(headers, &header::ACCEPT)?.to_str().ok()?);
    if !is_plain {
        return None;
    }
    let CallMessage { jsonrpc, id, method, params } = serde_json::from_slice(body).ok()?;
    let CallParameters { name, arguments, meta } = params;
    let is_plain = jsonrpc == "2.0"
        && method == CALL
        && single(headers, &NAME)?.to_str().ok()? == name
        // The header may also be written in base64.
        && !name.starts_with("=?");
    let meta = RequestMetaObject::from(meta);
    if !is_plain || !request_origin::is_plain(&meta) {
        return None;
    }
    let handler = handler.handler();
    let tool = handler.served().tools.callable(handler.viewer(), &name);
    if tool.as_ref().is_some_and(|tool| tool.repeats_arguments()) {
        return None;
    }
    let mut params = CallToolRequestParams::new(name);
    params.arguments = Some(arguments);
    Some(DirectCall { id, params, meta, tool })
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

impl DirectCall {
    pub(super) fn id(&self) -> RequestId {
        self.id.clone()
    }

    /// Makes the call. `permit` is held until its answer is made, and `unwritten` keeps the
    /// memory of that until it is text.
    pub(super) async fn answer(
        self,
        handler: Traced,
        head: Parts,
        permit: RequestPermit,
        unwritten: AnswerHold,
        killed: CancellationToken,
    ) -> EndpointResponse {
        let Self { id, params, meta, tool } = self;
        let mut extensions = Extensions::new();
        extensions.insert(head);
        extensions.insert(permit);
        let cancel = CancellationToken::new();
        let origin = RequestOrigin { id: id.clone(), meta, extensions, cancel: cancel.clone(), peer: None, tool };
        let calling = Box::pin(async move { handler.call(params, origin).await });
        let called = tokio::select! {
            biased;
            called = CallInFlight { calling: Some(calling), cancel } => called,
            () = killed.cancelled() => return answer::stopped(id),
        };
        let message = calls::message(called, id, true);
        let text = serde_json::to_vec(&message).unwrap_or_default();
        drop(unwritten);
        let mut response = answer::json(text.into());
        *response.status_mut() = status(&message);
        response
    }
}

/// The status that goes with an answer.
fn status(message: &ServerJsonRpcMessage) -> StatusCode {
    let JsonRpcMessage::Error(error) = message else { return StatusCode::OK };
    match error.error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// A call that is taken back where nobody waits for it any more: what it does then, it does
/// as a cancelled call, to its end.
struct CallInFlight {
    calling: Option<BoxFuture<'static, Result<CallToolResponse, ErrorData>>>,
    cancel: CancellationToken,
}

impl Future for CallInFlight {
    type Output = Result<CallToolResponse, ErrorData>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(calling) = &mut self.calling else { return Poll::Pending };
        let called = std::task::ready!(calling.as_mut().poll(context));
        self.calling = None;
        Poll::Ready(called)
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        let Some(calling) = self.calling.take() else { return };
        self.cancel.cancel();
        // Without a runtime there is nothing that it could wait for.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(calling);
        }
    }
}
