//! The table of routes. The router and the description for programs are both
//! made from it, so neither can know a route that the other does not.

mod about;
mod authorization;
mod console;
mod event_stream;
mod follow;
mod front_ends;
mod metrics;
mod openapi;
mod operator;
mod pages;
pub(crate) mod paths;
mod protocol;
mod route;
mod streams;
mod terminals;
mod traced;
mod watch;

use std::sync::Arc;

use axum::{Router, http::StatusCode, middleware::from_fn_with_state};
use wharf_core::{Code, Error};

use crate::{access::guard, failure::HttpFailure, passing, state::ServerState};
use paths::MCP;
use route::Route;

/// Every route.
fn table() -> Vec<Route> {
    let routes = [
        about::routes(),
        authorization::routes(),
        terminals::routes(),
        watch::routes(),
        streams::routes(),
        protocol::routes(),
        pages::routes(),
        front_ends::routes(),
        operator::routes(),
        vec![metrics::route()],
    ];
    routes.into_iter().flatten().collect()
}

/// The description of every route for programs, as JSON.
pub(crate) fn description(version: &str) -> String {
    openapi::describe(&table(), version).to_string()
}

/// All routes behind the guard, and behind what passes requests on to other hosts.
pub(crate) fn router(state: Arc<ServerState>) -> Router {
    unguarded(&state)
        .layer(from_fn_with_state(Arc::clone(&state), passing::pass))
        .layer(from_fn_with_state(state, guard::check))
}

/// All routes, for requests of which the client is known.
pub(crate) fn unguarded(state: &Arc<ServerState>) -> Router {
    let router = table().into_iter().fold(Router::new(), |router, route| {
        // The protocol traces its requests itself; requests that need no token are not traced.
        let is_traced = route.path != MCP && !route.is_open();
        let Route { path, handler, .. } = route;
        router.route(path, if is_traced { traced::traced(path, handler, state) } else { handler })
    });
    router
        .merge(console::routes())
        .fallback(|| async {
            HttpFailure::from(Error::new(Code::NotFound, "there is no such route; see /v1/openapi.json"))
        })
        .method_not_allowed_fallback(|| async {
            let message = "this route does not take this method; see /v1/openapi.json";
            HttpFailure::new(StatusCode::METHOD_NOT_ALLOWED, Code::Invalid, message)
        })
        .with_state(Arc::clone(state))
}
