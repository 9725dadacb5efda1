//! `/metrics`: how the host is doing, for Prometheus. Behind the token as every
//! other route; knows nothing of what is counted.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use wharf_core::{Code, Error};

use super::{
    Failure, Shared,
    routes::{Answer, Content, Route},
};

/// The type of the text, by which a reader knows its form.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The route where Prometheus looks unless it is told otherwise.
pub(super) fn route() -> Route {
    Route::new(
        "get",
        "/metrics",
        ("metrics", "The metrics of the host, for Prometheus: calls, denials, what runs, memory."),
        get(metrics),
        vec![Answer { status: 200, what: "OpenMetrics text.", content: Content::Text("application/openmetrics-text") }],
    )
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    let Some(service) = &shared.metrics else {
        return Err(Error::new(Code::NotFound, "this server has no metrics").into());
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(TYPE))], service.metrics()).into_response())
}
