//! Where clients get their tokens, where somebody else issues them (RFC 9728).

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::JsonSchema;
use serde::Serialize;
use wharf_core::{Code, Error};

use super::{
    paths::{METADATA, METADATA_OF_MCP},
    route::{Route, json},
};
use crate::{access::issued::IssuedClients, failure::HttpFailure, state::ServerState};

/// The routes of this file.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            METADATA,
            ("describeAuthorization", "Says who issues tokens for this host (RFC 9728)."),
            get(metadata),
            vec![json::<Metadata>(200, "An authorization server does.")],
        ),
        Route::new(
            "get",
            METADATA_OF_MCP,
            ("describeAuthorizationOfMcp", "The same, where clients of the protocol look for it."),
            get(metadata),
            vec![json::<Metadata>(200, "An authorization server does.")],
        ),
    ]
}

/// What clients have to know before they ask for a token (RFC 9728, section 2).
#[derive(Serialize, JsonSchema)]
struct Metadata {
    /// The address that tokens have to be for.
    resource: String,
    /// A name for people.
    resource_name: &'static str,
    /// Who issues tokens.
    authorization_servers: Vec<String>,
    /// How a token is shown: in a header alone.
    bearer_methods_supported: [&'static str; 1],
    /// The scopes that a token needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    /// Whether tokens may be bound to the certificate of their client (RFC 8705).
    tls_client_certificate_bound_access_tokens: bool,
}

/// What clients have to know before they ask for a token.
async fn metadata(State(server): State<Arc<ServerState>>) -> Result<Response, HttpFailure> {
    let Some(resource) = server.issued.as_ref().map(IssuedClients::resource) else {
        let told = "this host issues its tokens itself, and has no authorization server";
        return Err(Error::new(Code::NotFound, told).into());
    };
    let metadata = Metadata {
        resource: resource.resource.clone(),
        resource_name: "Wharf",
        authorization_servers: resource.authorization_servers.clone(),
        bearer_methods_supported: ["header"],
        scopes_supported: resource.scopes.clone(),
        tls_client_certificate_bound_access_tokens: resource.takes_bound_tokens,
    };
    Ok(Json(metadata).into_response())
}
