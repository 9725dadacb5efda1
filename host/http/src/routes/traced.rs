//! One span for each request of the routes that are not the protocol's own, after
//! the semantic conventions of OpenTelemetry for HTTP.
//!
//! Stands behind the guard: strangers make no spans. A stream of events has its span
//! until its head is sent.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::MethodRouter,
};
use wharf_core::trace::SpanKind;

use crate::{access::client::ClientAccount, request::headers::trace_parent, state::ServerState};

/// The handlers of this path, traced where the tools are.
pub(super) fn traced(
    path: &'static str,
    handler: MethodRouter<Arc<ServerState>>,
    server: &Arc<ServerState>,
) -> MethodRouter<Arc<ServerState>> {
    handler.route_layer(from_fn_with_state((Arc::clone(server), path), route))
}

async fn route(
    State((server, path)): State<(Arc<ServerState>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let Some(tracer) = &server.services.tracer else { return next.run(request).await };
    let mut span = tracer.begin(SpanKind::Server, trace_parent(request.headers()).as_ref());
    span.describe(|span| {
        let method = known(request.method());
        span.rename(&format!("{method} {path}"));
        span.set("http.request.method", method);
        span.set("http.route", path);
        span.set("url.scheme", if server.settings.tls.is_some() { "https" } else { "http" });
        if let Some(client) = request.extensions().get::<Arc<ClientAccount>>() {
            span.set("wharf.tenant", client.rules.tenant.as_str());
        }
    });
    let response = next.run(request).await;
    span.describe(|span| {
        let status = response.status();
        span.set("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            span.fail(status.as_str());
        }
    });
    span.end();
    response
}

/// A method of the table; a client may write any other word.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        _ => "_OTHER",
    }
}
