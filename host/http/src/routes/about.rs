//! What the host says of itself: that it serves, and which routes there are.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    paths::{DESCRIPTION, HEALTH},
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
    /// `ok`.
    status: &'static str,
}

async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

async fn describe(State(server): State<Arc<ServerState>>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], server.description.clone()).into_response()
}
