//! `/mcp`: the protocol itself over HTTP, both eras on one endpoint.
//!
//! Owns what a message has to be before the protocol crate sees it. What it
//! means, and which era it belongs to, is that crate's to say.

use std::{io, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    response::Response,
};
use http_body_util::BodyExt;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager,
};
use schemars::JsonSchema;
use tokio_util::sync::CancellationToken;
use wharf_core::Code;

use super::{Failure, HttpServices, Shared, request};
use crate::{handler::Handler, served::Served};

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

/// The endpoint of one server.
pub(super) struct Endpoint {
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl Endpoint {
    /// Streams that nobody waits for end with `stopping`, and all of it with `killed`.
    pub(super) fn new(services: &HttpServices, stopping: &CancellationToken, killed: CancellationToken) -> Self {
        let served = Served::new(Arc::clone(&services.tools), services.offers.clone());
        let (rules, info) = (services.rules.clone(), services.info.clone());
        let over = stopping.child_token();
        let factory = move || -> Result<Handler, io::Error> {
            Ok(Handler::new(served.clone(), rules.clone(), info.clone(), over.child_token()))
        };
        // Host, Origin and the size of bodies are checked before: see `guard` and `request`.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(usize::MAX)
            .with_cancellation_token(killed);
        Self { service: StreamableHttpService::new(factory, Arc::default(), config) }
    }
}

/// A message from a client.
pub(super) async fn post(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Failure> {
    let (head, body) = request.into_parts();
    if !request::is_json(&head.headers) {
        return Err(request::not_json());
    }
    if !request::takes(&head.headers, "application/json") || !request::takes_events(&head.headers) {
        let message = "say that you take both: `Accept: application/json, text/event-stream`";
        return Err(Failure::new(StatusCode::NOT_ACCEPTABLE, Code::Invalid, message));
    }
    let limits = &shared.settings.limits;
    let body = request::arrived(body, ("body_bytes", limits.body_bytes), limits).await?;
    let request = Request::from_parts(head, Body::from(body));
    Ok(shared.endpoint.service.handle(request).await.map(Body::new))
}

/// What the server says unasked, to clients of the older era.
pub(super) async fn get(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Failure> {
    let place = shared.reader()?;
    let response = shared.endpoint.service.handle(request).await;
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &place;
            frame
        }))
    }))
}

/// The end of a session of the older era.
pub(super) async fn delete(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    shared.endpoint.service.handle(request).await.map(Body::new)
}
