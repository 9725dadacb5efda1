//! `/mcp`: the route of the Model Context Protocol.
//!
//! Owns what has to be true of a request before the protocol sees it: it says what it sends
//! and takes, its body has arrived whole and is measured, and its headers are read. The
//! client's endpoint knows what a message means and answers it; nothing here does.

use std::sync::Arc;

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Request, State},
    http::StatusCode,
    response::Response,
    routing::{delete, get, post},
};
use schemars::JsonSchema;
use wharf_core::{Code, RequestShare};

use super::{
    follow,
    paths::MCP,
    route::{AnswerContent, Route, RouteAnswer},
};
use crate::{
    access::client::ClientAccount,
    failure::HttpFailure,
    protocol::{ProtocolAnswer, ProtocolRequest},
    request::{
        body,
        headers::{context_claims, is_json, takes, takes_events, trace_parent},
    },
    state::ServerState,
};

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let accepted =
        RouteAnswer { status: 202, what: "It was taken up, and nothing answers it.", content: AnswerContent::None };
    vec![
        Route::new(
            "post",
            MCP,
            (
                "sendMessage",
                "Sends one JSON-RPC message of the Model Context Protocol, of either era: with the handshake of \
                 2025-11-25, in a session, or with the `_meta` of 2026-07-28, without one.",
            ),
            post(send),
            vec![RouteAnswer { status: 200, what: "Its answer.", content: AnswerContent::Messages }, accepted],
        )
        .body::<Message>(),
        Route::new(
            "get",
            MCP,
            (
                "followSession",
                "Follows what the server says unasked in a session of 2025-11-25, or goes on with an answer whose \
                 connection dropped.",
            ),
            get(without_body),
            vec![RouteAnswer { status: 200, what: "What it says.", content: AnswerContent::Events(follow::EVENTS) }],
        )
        .resumes(),
        Route::new(
            "delete",
            MCP,
            ("endSession", "Ends a session of 2025-11-25, and the calls that run in it."),
            delete(without_body),
            vec![RouteAnswer { status: 202, what: "It has ended.", content: AnswerContent::None }],
        ),
    ]
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
async fn send(
    State(server): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<ClientAccount>>,
    request: Request,
) -> Result<Response, HttpFailure> {
    let (head, body) = request.into_parts();
    if !is_json(&head.headers) {
        return Err(body::not_json());
    }
    if !takes(&head.headers, "application/json") || !takes_events(&head.headers) {
        let message = "say that you take both: `Accept: application/json, text/event-stream`";
        return Err(HttpFailure::new(StatusCode::NOT_ACCEPTABLE, Code::Invalid, message));
    }
    let limits = &server.settings.limits;
    let mut memory = server.memory.begin(&client.rules.tenant);
    let body = body::receive(body, ("message_bytes", limits.message_bytes), limits, &mut memory).await?;
    let answering = body::beside_workers(body.len(), || {
        let estimate_bytes = body::measure(&mut memory, &body)?;
        Ok::<_, HttpFailure>(respond(&client, Request::from_parts(head, body), memory, estimate_bytes))
    })?;
    Ok(answering.await?.map(Body::new))
}

/// A request that has nothing but its head: to follow a session, or to end it.
async fn without_body(
    State(server): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<ClientAccount>>,
    request: Request,
) -> Result<Response, HttpFailure> {
    let memory = server.memory.begin(&client.rules.tenant);
    let answering = respond(&client, request.map(|_| Bytes::new()), memory, 0);
    Ok(answering.await?.map(Body::new))
}

fn respond(
    client: &ClientAccount,
    request: Request<Bytes>,
    memory: RequestShare,
    estimate_bytes: u64,
) -> ProtocolAnswer {
    let claims = context_claims(request.headers());
    let trace = trace_parent(request.headers());
    client.endpoint.respond(ProtocolRequest { request, claims, trace, memory, estimate_bytes })
}
