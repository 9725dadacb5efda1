//! What all routes of the operator do: ask the host, and answer what it says.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wharf_core::{
    Code, Error,
    service::operator::{OperatorList, OperatorRequest},
};

use crate::{failure::HttpFailure, operator_feed::OperatorFeed, state::ServerState};

/// How long a program may take to end by itself.
const USUAL_GRACE: u64 = 2_000;
const LONGEST_GRACE: u64 = 60_000;

/// What hosts have, of a server that shows it.
pub(in crate::routes) fn feed(server: &ServerState) -> Result<&OperatorFeed, HttpFailure> {
    let feed = server.operator.as_ref();
    feed.ok_or_else(|| Error::new(Code::NotFound, "this server shows nothing of its host").into())
}

/// Does what is asked, and answers what that brings.
pub(super) async fn operate(server: &ServerState, request: OperatorRequest) -> Result<Json<Value>, HttpFailure> {
    Ok(Json(feed(server)?.service().operate(request).await?))
}

/// Does what brings nothing.
pub(super) async fn done_by(server: &ServerState, request: OperatorRequest) -> Result<StatusCode, HttpFailure> {
    operate(server, request).await.map(|_| StatusCode::NO_CONTENT)
}

/// A file for a person to keep; no cache does.
pub(super) fn attachment(kind: &'static str, disposition: &'static str, body: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body.into()).into_response()
}

/// The handler of a list.
pub(super) fn listing(of: OperatorList) -> MethodRouter<Arc<ServerState>> {
    get(move |State(server): State<Arc<ServerState>>| async move {
        let Json(entries) = operate(&server, OperatorRequest::List { of }).await?;
        Ok::<_, HttpFailure>(Json(json!({ of.as_str(): entries })))
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GraceQuery {
    /// How long the program may take to end by itself, in milliseconds; 2 s where absent, 60 s at most.
    grace_ms: Option<u64>,
}

impl GraceQuery {
    pub(super) fn grace(&self) -> u64 {
        self.grace_ms.unwrap_or(USUAL_GRACE).min(LONGEST_GRACE)
    }
}
