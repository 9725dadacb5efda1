//! Decides which requests are served at all. Code behind this file sees no
//! request that did not pass.
//!
//! A page in a browser can send requests to the loopback, and by a name that
//! its owner points there even read the answers. So the server must have been
//! called by a name of its own, and by no page of a stranger; then the token.

use std::{net::IpAddr, sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::StreamExt as _;
use wharf_core::{
    Code,
    audit::{Refusal, RefusedFor, Requester},
};

use super::{client::ClientAccount, console, requester};
use crate::{
    connections::ConnectionPermit, failure::HttpFailure, request::headers::single, routes::paths,
    settings::HttpSettings, state::ServerState,
};

/// What pages may send, where the operator lets them.
const SENT: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, \
     wharf-session, wharf-assistant, wharf-thread",
);
const READ: HeaderValue = HeaderValue::from_static("location, mcp-session-id, retry-after, wharf-stream, wharf-turn");

/// Lets a request pass, or answers it. A connection that has not shown a token yet gets
/// one answer and is closed.
pub(crate) async fn check(State(server): State<Arc<ServerState>>, mut request: Request, next: Next) -> Response {
    let permit = request.extensions().get::<Arc<ConnectionPermit>>().cloned();
    let is_unauthenticated = || permit.as_ref().is_none_or(|permit| permit.is_unauthenticated());
    let origin = match check_origin(&server.settings, &request) {
        Ok(origin) => origin,
        Err(failure) => {
            tracing::debug!(?failure, "a request was refused");
            return finished(failure.into_response(), None, true);
        }
    };
    // A browser asks so before the request itself, and shows no token.
    if origin.is_some() && request.method() == Method::OPTIONS {
        return finished(preflight(), origin, is_unauthenticated());
    }
    let is_open = paths::is_open(request.method(), request.uri().path());
    // A page of this server itself says so with whatever changes something.
    let is_own_page = origin.is_none() && request.headers().contains_key(header::ORIGIN);
    let takes_cookie = is_own_page || request.method() == Method::GET;
    let shows = (request.headers(), request.uri().path(), takes_cookie);
    let mut ended = None;
    match client(&server, shows, is_open, permit.as_deref()).await {
        Ok(Some((client, by))) => {
            // The protocol ends its own streams.
            ended = (request.uri().path() != paths::MCP).then(|| client.ended().clone());
            request.extensions_mut().insert(client);
            request.extensions_mut().insert(by);
        }
        Ok(None) => {}
        Err(failure) => {
            tracing::debug!(?failure, "a request was refused");
            let close = failure.is_unauthenticated() || is_unauthenticated();
            return finished(failure.into_response(), origin, close);
        }
    }
    let mut response = next.run(request).await;
    if let Some(ended) = ended.filter(|_| is_followed(&response)) {
        // What a client follows ends with its token.
        response = response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended.cancelled_owned())));
    }
    finished(response, origin, is_unauthenticated())
}

/// Whether an answer goes on for as long as its client likes.
fn is_followed(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The origin whose page may read the answer, where it is not the server's own.
fn check_origin(settings: &HttpSettings, request: &Request) -> Result<Option<HeaderValue>, HttpFailure> {
    let headers = request.headers();
    let host = host(headers, request.uri())?;
    if !is_ours(settings, host.host()) {
        return Err(refused("Host", "call it by a name of the loopback, or add the name to `hosts`"));
    }
    let Some(origin) = single(headers, &header::ORIGIN)? else { return Ok(None) };
    if settings.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
        return Ok(Some(origin.clone()));
    }
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    if origin.as_bytes() == format!("{scheme}://{host}").as_bytes() {
        return Ok(None);
    }
    Err(refused("Origin", "to let pages of it call this host, add it to `origins`"))
}

fn refused(header: &str, what_to_do: &str) -> HttpFailure {
    HttpFailure::new(
        StatusCode::FORBIDDEN,
        Code::Denied,
        format!("this `{header}` may not call this host; {what_to_do}"),
    )
}

/// What the server was called: by the header, and by the target where that
/// names it, too.
fn host(headers: &HeaderMap, uri: &Uri) -> Result<Authority, HttpFailure> {
    let unclear = || HttpFailure::invalid("send one `Host` header that names this host");
    let named = single(headers, &header::HOST)?.ok_or_else(unclear)?;
    let named = Authority::try_from(named.as_bytes()).map_err(|_| unclear())?;
    if named.as_str().contains('@') || uri.authority().is_some_and(|target| *target != named) {
        return Err(unclear());
    }
    Ok(named)
}

fn is_ours(settings: &HttpSettings, name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback())
        || settings.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
}

/// The client that a request is of, where it may ask for this. What is open to everybody
/// needs none, and a token that is shown there all the same keeps the connection.
async fn client(
    server: &ServerState,
    (headers, path, takes_cookie): (&HeaderMap, &str, bool),
    is_open: bool,
    permit: Option<&ConnectionPermit>,
) -> Result<Option<(Arc<ClientAccount>, Arc<Requester>)>, HttpFailure> {
    let token = bearer_token(headers);
    let own = token.and_then(|token| server.clients.with_token(token));
    let signed_in = || {
        let cookie = (token.is_none() && takes_cookie).then(|| console::shown(headers)).flatten();
        cookie.filter(|_| paths::is_of_operator(path)).and_then(|cookie| server.console.client(cookie))
    };
    let refuse = |refusal| {
        if let Some(refusals) = &server.refusals {
            refusals.refused(refusal);
        }
    };
    let address = permit.and_then(ConnectionPermit::address);
    let found = match own.or_else(signed_in) {
        Some(client) => Ok((client, None)),
        None if is_open => return Ok(None),
        None => {
            if let Some(token) = token
                && let Err(locked_out) = server.guesses.check(address, Instant::now())
                && !server.issued.as_ref().is_some_and(|issued| issued.has_held(token))
            {
                refuse(requester::stranger(RefusedFor::TooManyWrongTokens, permit));
                return Err(locked_out);
            }
            issued(server, token, permit).await
        }
    };
    let (client, subject) = found.inspect_err(|failure| {
        if let Some(why) = failure.refused_for(token.is_some()) {
            if why == RefusedFor::WrongToken {
                server.guesses.count(address, Instant::now());
            }
            refuse(requester::stranger(why, permit));
        }
    })?;
    let by = requester::of_client(&client, subject.as_deref(), permit);
    if let Some(permit) = permit {
        permit.authenticate(&client.rules.tenant).await?;
    }
    if is_open {
        return Ok(Some((client, by)));
    }
    client.count_request().inspect_err(|_| {
        let (sender, tenant) = ((*by).clone(), Some(client.rules.tenant.clone()));
        refuse(Refusal { why: RefusedFor::TooManyRequests, from: requester::near(permit), requester: sender, tenant });
    })?;
    let (may, told) = match path {
        paths::MCP => (true, ""),
        path if paths::is_of_operator(path) => (
            client.may_operate(),
            "these routes are the operator's, and this token may not use them; the one of `operator-token` in the data \
             directory may, and one with `operator = true` in its entry of [[http.tokens]]",
        ),
        // The routes of front ends check this themselves.
        path if path.starts_with(paths::FRONT_ENDS) => (true, ""),
        paths::METRICS => (
            client.may_read_metrics,
            "metrics are of all tenants, and this token may not read them; to let it, add `metrics = true` to its \
             entry of [[http.tokens]]",
        ),
        _ => (
            client.may_use_host(),
            "this token may use tools alone; to let it use terminals, web pages and streams, add \"host\" to its `plugins`",
        ),
    };
    if !may {
        return Err(HttpFailure::new(StatusCode::FORBIDDEN, Code::Denied, told));
    }
    Ok(Some((client, by)))
}

/// The client of a token that is none of the operator's own.
async fn issued(
    server: &ServerState,
    token: Option<&[u8]>,
    permit: Option<&ConnectionPermit>,
) -> Result<(Arc<ClientAccount>, Option<String>), HttpFailure> {
    match &server.issued {
        Some(issued) => {
            let certificate = permit.map(ConnectionPermit::certificate).unwrap_or_default();
            issued.client(token, &certificate).await
        }
        None => {
            let told = "send a token of this host: `Authorization: Bearer TOKEN`";
            Err(HttpFailure::new(StatusCode::UNAUTHORIZED, Code::Denied, told))
        }
    }
}

/// The token that a request shows.
fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let shown = single(headers, &header::AUTHORIZATION).ok()??;
    let (scheme, token) = shown.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE")),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Adds the headers of every answer. With `close`, the connection ends after it.
fn finished(mut response: Response, origin: Option<HeaderValue>, close: bool) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READ);
    }
    if close {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
