//! The console: its files, and signing in and out.
//!
//! Everything else that it shows comes from the routes of the operator, as for any program.

use std::{sync::Arc, time::Instant};

use axum::{
    Extension, Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use wharf_core::{Code, Error, audit::RefusedFor, service::operator::OperatorRequest};

use crate::{
    access::{
        console::{operator_with, set_cookie, shown},
        of_client, stranger,
    },
    connections::ConnectionPermit,
    failure::HttpFailure,
    request::{body::JsonBody, parameters::QueryParameters},
    settings::ConsoleFile,
    state::ServerState,
};

/// What a page of the console may do: load what this server has, and ask it. Terminals are drawn
/// with styles that are made as they are drawn.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const INDEX: &str = "index.html";

pub(super) fn routes() -> Router<Arc<ServerState>> {
    Router::new()
        .route("/console", get(index))
        .route("/console/", get(index))
        .route("/console/session", post(sign_in).delete(sign_out))
        .route("/console/{*file}", get(file))
}

async fn index(State(server): State<Arc<ServerState>>) -> Response {
    served(&server, INDEX)
}

async fn file(State(server): State<Arc<ServerState>>, Path(file): Path<String>) -> Response {
    served(&server, &file)
}

fn served(server: &ServerState, name: &str) -> Response {
    let Some(ConsoleFile { name, content }) = server.console_files.iter().find(|file| file.name == name) else {
        let told = if server.console_files.is_empty() {
            "this server has no console: it was built without one, or serves none"
        } else {
            "the console has no such file"
        };
        return HttpFailure::from(Error::new(Code::NotFound, told)).into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, Body::from(Bytes::from_static(content))).into_response()
}

/// What somebody shows who signs in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum Shown {
    /// A token that may operate the host.
    #[serde(rename = "token")]
    Token(String),
    /// The code of a link.
    #[serde(rename = "code")]
    Code(String),
}

async fn sign_in(
    State(server): State<Arc<ServerState>>,
    permit: Option<Extension<Arc<ConnectionPermit>>>,
    headers: HeaderMap,
    JsonBody { value: given, .. }: JsonBody<Shown>,
) -> Result<Response, HttpFailure> {
    let permit = permit.as_ref().map(|Extension(permit)| &**permit);
    let address = permit.and_then(ConnectionPermit::address);
    let refuse = |why| {
        if let Some(refusals) = &server.refusals {
            refusals.refused(stranger(why, permit));
        }
    };
    let locked_out = |_: &HttpFailure| refuse(RefusedFor::TooManyWrongTokens);
    server.guesses.check(address, Instant::now()).inspect_err(locked_out)?;
    let account = match &given {
        Shown::Token(token) => operator_with(&server.clients, token.as_bytes()),
        Shown::Code(code) => server.console.redeem(code.as_bytes()).then(|| server.clients.operator()).flatten(),
    };
    let Some(account) = account else {
        server.guesses.count(address, Instant::now());
        refuse(RefusedFor::WrongToken);
        let told = match given {
            Shown::Token(_) => "this is no token that operates this host: see `operator-token` in its data directory",
            Shown::Code(_) => "this link has been used, or is older than five minutes; `wharf console` makes another",
        };
        return Err(HttpFailure::new(StatusCode::UNAUTHORIZED, Code::Denied, told));
    };
    let by = of_client(&account, None, permit);
    let by_link = matches!(given, Shown::Code(_));
    if let Some(operator) = &server.operator {
        operator.service().operate(OperatorRequest::SignIn { by_link }, &by).await?;
    }
    let cookie = server.console.begin(account).map_err(|_| Error::retryable(Code::Unavailable, "no randomness"))?;
    Ok(with_cookie(&server, &headers, Some(&cookie)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignOut {
    /// Whether everybody is signed out.
    #[serde(default)]
    everywhere: bool,
}

async fn sign_out(
    State(server): State<Arc<ServerState>>,
    headers: HeaderMap,
    QueryParameters(SignOut { everywhere }): QueryParameters<SignOut>,
) -> Response {
    if everywhere {
        server.console.end_all();
    } else if let Some(cookie) = shown(&headers) {
        server.console.end(cookie);
    }
    with_cookie(&server, &headers, None)
}

fn with_cookie(server: &ServerState, headers: &HeaderMap, value: Option<&str>) -> Response {
    let cookie = set_cookie(headers, value, server.settings.tls.is_some());
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    response
}
