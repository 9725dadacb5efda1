//! `/mcp`: the route of the Model Context Protocol.
//!
//! Owns what a request has to be before the protocol has it: it says what it sends and
//! takes, its body has arrived whole and is measured, and its headers say on whose behalf it
//! is. What a message means, and how it is answered, the [`ProtocolService`] says that the
//! server was given; nothing here knows a message.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{self, StatusCode},
    response::Response,
};
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;
use schemars::JsonSchema;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Code, ContextHints, ContextRules, Error, Quota, RequestShare, service::AllowedPlugins, trace::TraceParent,
};

use super::{Failure, Shared, caller, client::Client, request, traced};

/// Serves the protocol to the clients of a server.
pub trait ProtocolService: Send + Sync + 'static {
    /// The endpoint of one client, so that nothing of one is ever looked up for another.
    fn endpoint(&self, client: ProtocolClient) -> Box<dyn ProtocolEndpoint>;
}

/// What one client is served, and within which bounds.
pub struct ProtocolClient {
    /// The plugins of which it may use anything; all where absent.
    pub plugins: Option<AllowedPlugins>,
    /// How the contexts of its requests are made.
    pub rules: ContextRules,
    /// Requests at once, lower than the limit `calls_per_client`.
    pub calls: Option<u64>,
    /// Places for requests that follow something, which other routes take, too.
    pub readers: Arc<Quota>,
    /// Fires when the host stops: streams that nobody waits for end then.
    pub stopping: CancellationToken,
    /// Fires when all ends.
    pub killed: CancellationToken,
}

/// The protocol as one client has it.
pub trait ProtocolEndpoint: Send + Sync {
    /// Answers a request. The message is read before this returns, on a thread that is ready
    /// for a long one; the future does all else, and dropping it takes the request back where
    /// its client waits for it.
    fn respond(&self, request: ProtocolRequest) -> ProtocolAnswer;

    /// Whether nothing is open that outlives a request.
    fn is_unused(&self) -> bool;
}

/// The answer to a request, or why it is not taken up.
pub type ProtocolAnswer = BoxFuture<'static, Result<http::Response<ProtocolBody>, Failure>>;

/// What an endpoint answers with.
pub type ProtocolBody = UnsyncBoxBody<Bytes, Infallible>;

/// A whole request of a client that has shown its token.
pub struct ProtocolRequest {
    /// As it came.
    pub request: http::Request<Bytes>,
    /// On whose behalf its headers say that it is.
    pub hints: Result<ContextHints, Error>,
    /// The trace that its headers say it belongs to.
    pub trace: Option<TraceParent>,
    /// The memory that it takes, given back once it is answered.
    pub memory: RequestShare,
    /// What of that the values of its body take, in bytes.
    pub estimate_bytes: u64,
}

/// A message of JSON-RPC 2.0, for the description of the route: what is in it,
/// the protocol says.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
pub(super) struct Message {
    /// `2.0`.
    jsonrpc: String,
    /// Of a request, and of what answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    /// Of a request or a notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
}

/// A message from a client.
pub(super) async fn post(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let (head, body) = request.into_parts();
    if !request::is_json(&head.headers) {
        return Err(request::not_json());
    }
    if !request::takes(&head.headers, "application/json") || !request::takes_events(&head.headers) {
        let message = "say that you take both: `Accept: application/json, text/event-stream`";
        return Err(Failure::new(StatusCode::NOT_ACCEPTABLE, Code::Invalid, message));
    }
    let limits = &shared.settings.limits;
    let mut memory = shared.memory.begin(&client.rules.tenant);
    let body = request::arrived(body, ("message_bytes", limits.message_bytes), limits, &mut memory).await?;
    let answering = request::beside_workers(body.len(), || {
        let estimate_bytes = request::estimated(&mut memory, &body)?;
        Ok::<_, Failure>(respond(&client, Request::from_parts(head, body), memory, estimate_bytes))
    })?;
    Ok(answering.await?.map(Body::new))
}

/// A request that has nothing but its head: to follow a session, or to end it.
pub(super) async fn without_body(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let memory = shared.memory.begin(&client.rules.tenant);
    let answering = respond(&client, request.map(|_| Bytes::new()), memory, 0);
    Ok(answering.await?.map(Body::new))
}

fn respond(
    client: &Client,
    request: http::Request<Bytes>,
    memory: RequestShare,
    estimate_bytes: u64,
) -> ProtocolAnswer {
    let hints = caller::hints(request.headers());
    let trace = traced::said_by(request.headers());
    client.endpoint.respond(ProtocolRequest { request, hints, trace, memory, estimate_bytes })
}
