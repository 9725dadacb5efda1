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
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use http::{StatusCode, request::Parts};
use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, CallToolResponse, ErrorCode, Extensions, JsonRpcMessage, ServerJsonRpcMessage},
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{self, EndpointResponse},
    message::PlainCall,
};
use crate::{
    calls,
    request_origin::RequestOrigin,
    request_permit::{AnswerHold, RequestPermit},
    traced::Traced,
};

impl PlainCall {
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
        let Self { id, name, arguments, meta, tool } = self;
        let mut params = CallToolRequestParams::new(name);
        params.arguments = Some(arguments);
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
