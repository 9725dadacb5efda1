//! What all routes of the operator do: ask the host, and answer what it says.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::FromRequestParts,
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wharf_core::{
    Code, Error, SessionId, TenantId,
    audit::Requester,
    service::operator::{OperatorList, OperatorRequest, Pieces},
};

use crate::{access::requester, failure::HttpFailure, operator_feed::OperatorFeed, state::ServerState};

/// How long a program may take to end by itself.
const USUAL_GRACE: u64 = 2_000;
const LONGEST_GRACE: u64 = 60_000;

/// What hosts have, of a server that shows it.
pub(in crate::routes) fn feed(server: &ServerState) -> Result<&OperatorFeed, HttpFailure> {
    let feed = server.operator.as_ref();
    feed.ok_or_else(|| Error::new(Code::NotFound, "this server shows nothing of its host").into())
}

/// An operator, at what is served.
pub(super) struct Operator {
    server: Arc<ServerState>,
    by: Arc<Requester>,
}

impl FromRequestParts<Arc<ServerState>> for Operator {
    type Rejection = HttpFailure;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<ServerState>) -> Result<Self, HttpFailure> {
        Ok(Self { server: Arc::clone(server), by: requester(&parts.extensions) })
    }
}

impl Operator {
    /// Does what is asked, and answers what that brings.
    pub(super) async fn operate(&self, request: OperatorRequest) -> Result<Json<Value>, HttpFailure> {
        Ok(Json(feed(&self.server)?.service().operate(request, &self.by).await?))
    }

    /// Does what brings nothing.
    pub(super) async fn done(&self, request: OperatorRequest) -> Result<StatusCode, HttpFailure> {
        self.operate(request).await.map(|_| StatusCode::NO_CONTENT)
    }

    /// The files of a session.
    pub(super) async fn files(&self, tenant: &TenantId, session: &SessionId) -> Result<Pieces, HttpFailure> {
        Ok(feed(&self.server)?.service().files(tenant, session, &self.by).await?)
    }
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
    get(move |operator: Operator| async move {
        let Json(entries) = operator.operate(OperatorRequest::List { of }).await?;
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
