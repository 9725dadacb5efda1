//! `/metrics`: how the host is doing, for Prometheus. It is behind the token as
//! every other route, and only for tokens that may read it, since the counts are of
//! all tenants. The guard checks that; this file knows nothing of it.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use wharf_core::{Code, Error};

use super::{
    paths::METRICS,
    route::{AnswerContent, Route, RouteAnswer},
};
use crate::{failure::HttpFailure, state::ServerState};

/// The type of the text, by which a reader knows its form.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn route() -> Route {
    Route::new(
        "get",
        METRICS,
        (
            "metrics",
            "The metrics of the host, for Prometheus: calls, denials, what runs, memory. For tokens that may read them.",
        ),
        get(metrics),
        vec![RouteAnswer {
            status: 200,
            what: "OpenMetrics text.",
            content: AnswerContent::Text("application/openmetrics-text"),
        }],
    )
}

async fn metrics(State(server): State<Arc<ServerState>>) -> Result<Response, HttpFailure> {
    let Some(service) = &server.metrics else {
        return Err(Error::new(Code::NotFound, "this server has no metrics").into());
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(TYPE))], service.metrics()).into_response())
}
