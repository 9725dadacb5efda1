//! What the host says of itself: that it serves, and which routes there are.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    paths::{DESCRIPTION, HEALTH, READY},
    route::{Route, json},
};
use crate::state::ServerState;

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            HEALTH,
            ("health", "Says that the host serves."),
            get(health),
            vec![json::<Health>(200, "It does.")],
        ),
        Route::new(
            "get",
            READY,
            (
                "ready",
                "Says whether a balancer should send requests here: a host that drains, has lost contact with its \
                 cluster or is about to end is not ready.",
            ),
            get(ready),
            vec![json::<Health>(200, "It is."), json::<Health>(503, "It is not: send requests to another host.")],
        ),
        Route::new(
            "get",
            DESCRIPTION,
            ("describe", "This description."),
            get(describe),
            vec![json::<serde_json::Value>(200, "OpenAPI 3.1.")],
        ),
    ]
}

/// How the host is.
#[derive(Serialize, JsonSchema)]
struct Health {
    /// `ok`, or `not-ready`.
    status: &'static str,
}

async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

async fn ready(State(server): State<Arc<ServerState>>) -> (StatusCode, Json<Health>) {
    let is_ready = !server.stopping.is_cancelled() && server.metrics.as_ref().is_none_or(|host| host.is_ready());
    match is_ready {
        true => (StatusCode::OK, Json(Health { status: "ok" })),
        false => (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "not-ready" })),
    }
}

async fn describe(State(server): State<Arc<ServerState>>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], server.description.clone()).into_response()
}
