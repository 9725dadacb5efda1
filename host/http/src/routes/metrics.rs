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
    let what =
        "The metrics of the host, for Prometheus: calls, denials, what runs, memory. For tokens that may read them.";
    at(METRICS, ("metrics", what))
}

/// The same for operators, whose cookie opens no other route.
pub(super) fn route_of_operator() -> Route {
    at("/v1/operator/metrics", ("readMetrics", "The metrics of the host, as `/metrics` has them."))
}

fn at(path: &'static str, name_and_what: (&'static str, &'static str)) -> Route {
    let content = AnswerContent::Text("application/openmetrics-text");
    Route::new(
        "get",
        path,
        name_and_what,
        get(metrics),
        vec![RouteAnswer { status: 200, what: "OpenMetrics text.", content }],
    )
}

async fn metrics(State(server): State<Arc<ServerState>>) -> Result<Response, HttpFailure> {
    let Some(service) = &server.metrics else {
        return Err(Error::new(Code::NotFound, "this server has no metrics").into());
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(TYPE))], service.metrics()).into_response())
}
