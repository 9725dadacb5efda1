//! Requests about what another host has, on their way to it and from it.
//!
//! A request arrives here once its token was checked.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{FromRequestParts as _, Request, State},
    http::Response,
    middleware::Next,
    response::IntoResponse,
};
use futures_util::FutureExt as _;
use tower_service::Service as _;
use wharf_core::{Code, Error, handle::Handle, service::PassedClient};

use crate::{
    access::client::ClientAccount,
    elsewhere::{Elsewhere, HttpHome, OtherHost, PassedRequests},
    failure::HttpFailure,
    request::{body, context::RequestContext},
    routes::paths::{FRONT_ENDS, MCP, PAGES, STREAMS, TERMINALS, WATCH},
    state::ServerState,
};

/// The header that names a session of the protocol of 2025-11-25.
const PROTOCOL_SESSION: &str = "mcp-session-id";

/// The way in for requests that other hosts pass on.
pub(crate) fn way_in(router: Router, state: Arc<ServerState>) -> PassedRequests {
    PassedRequests(Arc::new(move |client, request| answer(router.clone(), Arc::clone(&state), client, request).boxed()))
}

async fn answer(
    mut router: Router,
    server: Arc<ServerState>,
    client: PassedClient,
    request: axum::http::Request<Bytes>,
) -> Response<Body> {
    let account = match &client {
        PassedClient::Named(name) => server.clients.named(name),
        PassedClient::Issued(tenant) => server.issued.as_ref().and_then(|issued| issued.of_tenant(tenant).ok()),
    };
    let Some(account) = account else {
        let told = "the host that has what this is about does not know the client: all hosts of a cluster need the \
                    same tokens";
        return HttpFailure::from(Error::retryable(Code::Unavailable, told)).into_response();
    };
    let mut request = request.map(Body::from);
    request.extensions_mut().insert(account);
    // A router never fails.
    router.call(request).await.unwrap_or_else(|never| match never {})
}

/// What a request is about.
enum About {
    Handle(Handle),
    /// A session of the protocol.
    ProtocolSession(Handle),
    /// Something that a session has, or is to have; whether its files may be used.
    Session {
        keeps_files: bool,
    },
    /// What any host can tell.
    Anything,
}

fn about(request: &Request) -> About {
    let path = request.uri().path();
    if path == MCP {
        let session = request.headers().get(PROTOCOL_SESSION).and_then(|session| session.to_str().ok()?.parse().ok());
        return session.map_or(About::Anything, About::ProtocolSession);
    }
    let handle = |text: Option<&str>| text.and_then(|text| text.parse().ok()).map(About::Handle);
    let below = |place: &str| path.strip_prefix(place)?.strip_prefix('/')?.split('/').next();
    for (place, keeps_files) in [(TERMINALS, true), (PAGES, true), (STREAMS, false), (WATCH, false)] {
        if path == place {
            return About::Session { keeps_files };
        }
        if let Some(about) = handle(below(place)) {
            return about;
        }
    }
    handle(below(FRONT_ENDS)).unwrap_or(About::Anything)
}

/// Serves a request here, or passes it on.
pub(crate) async fn pass(State(server): State<Arc<ServerState>>, request: Request, next: Next) -> Response<Body> {
    let (Some(elsewhere), Some(client)) =
        (server.elsewhere.clone(), request.extensions().get::<Arc<ClientAccount>>().cloned())
    else {
        return next.run(request).await;
    };
    let other = match about(&request) {
        About::Anything => Ok(None),
        About::Handle(handle) => elsewhere.of_handle(&handle).await,
        About::ProtocolSession(id) => elsewhere.of_protocol_session(&id).await,
        About::Session { keeps_files } => match home(&server, &*elsewhere, request, keeps_files).await {
            Err(failure) => return failure.into_response(),
            Ok((request, HttpHome::Here(hold))) => {
                let response = next.run(request).await;
                return hold.confirm().map_or_else(|error| HttpFailure::from(error).into_response(), |()| response);
            }
            Ok((request, HttpHome::Elsewhere(other))) => return passed(&server, &client, other, request).await,
        },
    };
    match other {
        Ok(Some(other)) => passed(&server, &client, other, request).await,
        Ok(None) => next.run(request).await,
        Err(error) => HttpFailure::from(error).into_response(),
    }
}

async fn home(
    server: &Arc<ServerState>,
    elsewhere: &dyn Elsewhere,
    request: Request,
    keeps_files: bool,
) -> Result<(Request, HttpHome), HttpFailure> {
    let (mut head, body) = request.into_parts();
    let RequestContext(context) = RequestContext::from_request_parts(&mut head, server).await?;
    let home = elsewhere.of_session(&context.tenant, &context.session, keeps_files).await?;
    Ok((Request::from_parts(head, body), home))
}

async fn passed(
    server: &Arc<ServerState>,
    client: &ClientAccount,
    other: Box<dyn OtherHost>,
    request: Request,
) -> Response<Body> {
    let passing = async {
        let limits = &server.settings.limits;
        let mut memory = server.memory.begin(&client.rules.tenant);
        let (head, body) = request.into_parts();
        let most = ("message_bytes", limits.message_bytes.max(limits.body_bytes));
        let body = body::receive(body, most, limits, &mut memory).await?;
        let request = axum::http::Request::from_parts(head, body);
        Ok::<_, HttpFailure>(other.pass(client.when_passed(), request).await?.map(Body::new))
    };
    passing.await.unwrap_or_else(IntoResponse::into_response)
}
