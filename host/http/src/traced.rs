//! One span for each request of the routes that are not the protocol's own, after
//! the semantic conventions of OpenTelemetry for HTTP.
//!
//! Stands behind the guard: strangers make no spans. A stream of events has its span
//! until its head is sent.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::MethodRouter,
};
use wharf_core::trace::{MAX_STATE_BYTES, RemoteParent, SpanKind, TraceParent};

use super::{Shared, client::Client};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// The handlers of this path, traced where the tools are.
pub(super) fn traced(
    path: &'static str,
    handler: MethodRouter<Arc<Shared>>,
    shared: &Arc<Shared>,
) -> MethodRouter<Arc<Shared>> {
    handler.route_layer(from_fn_with_state((Arc::clone(shared), path), route))
}

async fn route(State((shared, path)): State<(Arc<Shared>, &'static str)>, request: Request, next: Next) -> Response {
    let Some(tracer) = &shared.services.tracer else { return next.run(request).await };
    let mut span = tracer.begin(SpanKind::Server, said_by(request.headers()).as_ref());
    span.describe(|span| {
        let method = known(request.method());
        span.rename(&format!("{method} {path}"));
        span.set("http.request.method", method);
        span.set("http.route", path);
        span.set("url.scheme", if shared.settings.tls.is_some() { "https" } else { "http" });
        if let Some(client) = request.extensions().get::<Arc<Client>>() {
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

/// What the headers of a request say of its trace. Of two parents none is believed.
pub(super) fn said_by(headers: &HeaderMap) -> Option<TraceParent> {
    let mut parents = headers.get_all(PARENT).iter();
    let parent = parents.next().filter(|_| parents.next().is_none())?.to_str().ok()?;
    // The state may be spread over several headers.
    let mut state = String::new();
    for value in headers.get_all(STATE) {
        let Ok(value) = value.to_str() else { continue };
        if state.len() + value.len() > MAX_STATE_BYTES {
            break;
        }
        if !state.is_empty() {
            state.push(',');
        }
        state.push_str(value);
    }
    RemoteParent::of_headers(parent, Some(&state)).map(TraceParent::Remote)
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

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn state(lines: &[(&'static str, &str)]) -> Option<String> {
        let line = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("legal"))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines.iter().map(line) {
            headers.append(name, value);
        }
        match said_by(&headers)? {
            TraceParent::Remote(remote) => Some(remote.context.state.as_deref().unwrap_or_default().to_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_say_one_parent_or_none() {
        assert_eq!(state(&[(PARENT, GOOD)]), Some(String::new()));
        assert_eq!(state(&[(PARENT, GOOD), (STATE, "a=1"), (STATE, "b=2")]).as_deref(), Some("a=1,b=2"));
        assert_eq!(state(&[(PARENT, GOOD), (STATE, &"x".repeat(600))]), Some(String::new()));
        assert_eq!(state(&[(PARENT, GOOD), (PARENT, GOOD)]), None, "each reader might believe another one");
        assert_eq!(state(&[(PARENT, "00-nonsense")]), None);
        assert_eq!(state(&[(STATE, "a=1")]), None);
    }
}
