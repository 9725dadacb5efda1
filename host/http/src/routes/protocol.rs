//! `/mcp`: the route of the Model Context Protocol.
//!
//! Owns what a request has to be before the protocol has it: it says what it sends and
//! takes, its body has arrived whole and is measured, and its headers say on whose behalf it
//! is. What a message means, and how it is answered, the client's endpoint says; nothing here
//! knows a message.

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
    route::{Answer, Content, Route},
};
use crate::{
    access::client::Client,
    failure::Failure,
    protocol::{ProtocolAnswer, ProtocolRequest},
    request::{
        body,
        headers::{hints, is_json, said_by, takes, takes_events},
    },
    state::Shared,
};

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    let accepted = Answer { status: 202, what: "It was taken up, and nothing answers it.", content: Content::None };
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
            vec![Answer { status: 200, what: "Its answer.", content: Content::Messages }, accepted],
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
            vec![Answer { status: 200, what: "What it says.", content: Content::Events(follow::EVENTS) }],
        )
        .resumes(),
        Route::new(
            "delete",
            MCP,
            ("endSession", "Ends a session of 2025-11-25, and the calls that run in it."),
            delete(without_body),
            vec![Answer { status: 202, what: "It has ended.", content: Content::None }],
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
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let (head, body) = request.into_parts();
    if !is_json(&head.headers) {
        return Err(body::not_json());
    }
    if !takes(&head.headers, "application/json") || !takes_events(&head.headers) {
        let message = "say that you take both: `Accept: application/json, text/event-stream`";
        return Err(Failure::new(StatusCode::NOT_ACCEPTABLE, Code::Invalid, message));
    }
    let limits = &shared.settings.limits;
    let mut memory = shared.memory.begin(&client.rules.tenant);
    let body = body::arrived(body, ("message_bytes", limits.message_bytes), limits, &mut memory).await?;
    let answering = body::beside_workers(body.len(), || {
        let estimate_bytes = body::estimated(&mut memory, &body)?;
        Ok::<_, Failure>(respond(&client, Request::from_parts(head, body), memory, estimate_bytes))
    })?;
    Ok(answering.await?.map(Body::new))
}

/// A request that has nothing but its head: to follow a session, or to end it.
async fn without_body(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let memory = shared.memory.begin(&client.rules.tenant);
    let answering = respond(&client, request.map(|_| Bytes::new()), memory, 0);
    Ok(answering.await?.map(Body::new))
}

fn respond(client: &Client, request: Request<Bytes>, memory: RequestShare, estimate_bytes: u64) -> ProtocolAnswer {
    let said = hints(request.headers());
    let trace = said_by(request.headers());
    client.endpoint.respond(ProtocolRequest { request, hints: said, trace, memory, estimate_bytes })
}
