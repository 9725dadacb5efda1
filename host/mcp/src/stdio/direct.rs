//! Calls of tools that go past the protocol crate, whose types alone they use.
//!
//! That crate makes three tasks for each request and wakes its own between them. A call
//! needs one, or none where it is short and alone. It ends with its connection and by `notifications/cancelled`, as those do
//! that the crate serves. Whatever is out of the ordinary goes the crate's way.

use std::{
    collections::HashMap,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, Extensions, JsonRpcMessage,
        JsonRpcRequest, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    },
    service::Peer,
};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

use crate::{
    calls,
    request_origin::{self, RequestOrigin},
    request_permit::{AnswerHold, RequestPermit},
    traced::Traced,
};

/// The calls of one connection.
pub(super) struct DirectCalls {
    handler: Traced,
    /// Fires when the connection ends.
    stop: CancellationToken,
    // A blocking lock: held for a look-up.
    running: Arc<Mutex<HashMap<RequestId, CancellationToken>>>,
    /// Each call reads it for as long as it runs.
    at_work: Arc<RwLock<()>>,
}

/// A call that can go past the protocol crate.
pub(super) struct DirectCall {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
    extensions: Extensions,
    peer: Option<Peer<RoleServer>>,
}

impl DirectCalls {
    /// Calls that this handler answers until `stop` fires.
    pub(super) fn new(handler: Traced, stop: CancellationToken) -> Self {
        Self { handler, stop, running: Arc::default(), at_work: Arc::default() }
    }

    /// Takes a call out of its message. Any other message stays what it is.
    pub(super) fn take(&self, message: ClientJsonRpcMessage) -> Result<DirectCall, Box<ClientJsonRpcMessage>> {
        let (request, mut call) = match message {
            JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request: ClientRequest::CallToolRequest(call) }) => {
                ((jsonrpc, id), call)
            }
            other => return Err(Box::new(other)),
        };
        let Some(peer) = self.peer_for(&call) else {
            let (jsonrpc, id) = request;
            let request = ClientRequest::CallToolRequest(call);
            return Err(Box::new(JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request })));
        };
        let meta = call.extensions.remove::<RequestMetaObject>().unwrap_or_default();
        Ok(DirectCall { id: request.1, params: call.params, meta, extensions: call.extensions, peer })
    }

    /// By whom the client of a call is told things meanwhile: nobody where it wants to hear
    /// of nothing. None where the protocol crate has to serve the call.
    fn peer_for(&self, call: &CallToolRequest) -> Option<Option<Peer<RoleServer>>> {
        if call.params.input_responses.is_some() || call.params.request_state.is_some() {
            return None;
        }
        match call.extensions.get::<RequestMetaObject>() {
            Some(meta) if meta.protocol_version().is_some() => request_origin::is_plain(meta).then_some(None),
            // A client of the older era, once it has said that it is ready.
            _ => self.handler.handler().peer().map(Some),
        }
    }

    /// Makes a call, and hands its answer on unless it was cancelled, with the memory of it until
    /// it is text.
    ///
    /// `is_last` says that no other message has come. Where no other call runs either, this one
    /// begins on the task that read it: another thread would have to be woken first, which
    /// takes as long as a small call itself. What is not done when it first waits, or when
    /// the guest has computed for one epoch, goes on by a task of its own. Never waits.
    pub(super) async fn begin<F>(
        &self,
        call: DirectCall,
        is_last: bool,
        send: impl FnOnce(ServerJsonRpcMessage, Option<AnswerHold>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let DirectCall { id, params, meta, extensions, peer } = call;
        let (handler, cancel) = (self.handler.clone(), self.stop.child_token());
        let unwritten = extensions.get::<RequestPermit>().map(|permit| permit.answer().clone());
        let is_alone = {
            let mut running = self.running.lock();
            running.insert(id.clone(), cancel.clone());
            is_last && running.len() == 1
        };
        let running = Arc::clone(&self.running);
        // None where somebody waits for the end already: then nothing begins any more.
        let at_work = Arc::clone(&self.at_work).try_read_owned().ok();
        let mut answering = Box::pin(async move {
            let modern = peer.is_none();
            let origin = RequestOrigin { id: id.clone(), meta, extensions, cancel, peer, tool: None };
            let called = handler.call(params, origin).await;
            if running.lock().remove(&id).is_some() {
                send(calls::message(called, id, modern), unwritten).await;
            }
            drop(at_work);
        });
        if is_alone && poll_fn(|context| Poll::Ready(is_over(answering.as_mut(), context))).await {
            return;
        }
        tokio::spawn(answering);
    }

    /// Cancels a call: nothing answers it any more. Says whether it was one of these.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let cancelled = self.running.lock().remove(id);
        cancelled.is_some_and(|call| {
            call.cancel();
            true
        })
    }

    /// Waits until none runs.
    pub(super) async fn finished(&self) {
        drop(self.at_work.write().await);
    }
}

/// Goes on with a call as far as it comes, and says whether that was its end. One that panics
/// ends alone, as it would in a task.
fn is_over(answering: Pin<&mut impl Future<Output = ()>>, context: &mut Context<'_>) -> bool {
    catch_unwind(AssertUnwindSafe(|| answering.poll(context))).map_or(true, |polled| polled.is_ready())
}
