//! The paths that more than their own routes know.

use axum::http::Method;

/// Where clients of the protocol send what they say.
pub(crate) const MCP: &str = "/mcp";
/// Where front ends connect.
pub(crate) const FRONT_ENDS: &str = "/v1/front-ends";
/// Where pages are opened.
pub(crate) const PAGES: &str = "/v1/pages";
/// Where terminals are started.
pub(crate) const TERMINALS: &str = "/v1/terminals";
/// Where streams are listed.
pub(crate) const STREAMS: &str = "/v1/streams";
/// Where terminals of plugins are watched.
pub(crate) const WATCH: &str = "/v1/watch";
/// What the operator sees and does.
pub(crate) const OPERATOR: &str = "/v1/operator";
/// The console, and signing in to it.
pub(crate) const CONSOLE: &str = "/console";
/// Where Prometheus looks unless it is told otherwise.
pub(crate) const METRICS: &str = "/metrics";
pub(crate) const HEALTH: &str = "/v1/health";
pub(crate) const READY: &str = "/v1/ready";
pub(crate) const DESCRIPTION: &str = "/v1/openapi.json";
/// Where the host names the issuers of its tokens. The answer to a request without a
/// token sends clients there.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same for the resource `/mcp`, by the rule of RFC 9728, section 3.1.
pub(crate) const METADATA_OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";

/// What can be asked without a token: it says nothing that a program on this
/// machine could not know, and a client has to read how to show one.
pub(crate) fn is_open(method: &Method, path: &str) -> bool {
    // The files of the console say nothing of this host, and who signs in has no token to show yet.
    is_below(path, CONSOLE)
        || *method == Method::GET && matches!(path, HEALTH | READY | DESCRIPTION | METADATA | METADATA_OF_MCP)
}

/// Whether only an operator may ask for it.
pub(crate) fn is_of_operator(path: &str) -> bool {
    is_below(path, OPERATOR)
}

fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
