//! The host over HTTP: terminals, web pages and streams for clients that are no
//! models (a user interface, a script, `curl -N`), and a route for the Model Context
//! Protocol.
//!
//! Owns the routes, and what a request has to show before it reaches one. It
//! serves [`TerminalService`], [`Streams`] and a [`ProtocolService`] under a context
//! that follows from the token and the request; it knows neither the protocol, nor who runs
//! tools and terminals, nor where the token came from. Files in the order in which a request meets them:
//!
//! | file | what it owns |
//! |---|---|
//! | `address`, `listener`, `socket`, `tls` | where it listens, and how private that is |
//! | `server` | connections and their ends |
//! | `doors` | how many connections there may be, and who has shown a token on one |
//! | `guard`, `token` | who may ask at all: Host, Origin, token |
//! | `client`, `allowed`, `making` | the clients: whose calls, which plugins, how much |
//! | `issued` | clients whose tokens an authorization server issues |
//! | `caller` | on whose behalf: headers to a context |
//! | `request` | parameters and bodies, measured |
//! | `routes`, `openapi` | the table of routes, and its description for programs |
//! | `protocol` | the route of the protocol, and what serves it |
//! | `terminals`, `pages`, `streams`, `front_ends`, `metrics` | what each other route does |
//! | `follow`, `watch` | a stream, and a terminal, as server-sent events |
//! | `failure` | errors as answers |
//! | `traced` | a span for each request of the routes that are not the protocol's |
//!
//! [`TerminalService`]: wharf_completion::TerminalService
//! [`Streams`]: wharf_completion::Streams

mod address;
mod allowed;
mod caller;
mod client;
mod doors;
mod failure;
mod follow;
mod front_ends;
mod guard;
mod issued;
mod listener;
mod making;
mod metrics;
mod openapi;
mod pages;
mod protocol;
mod request;
mod routes;
mod server;
#[cfg(unix)]
mod socket;
mod streams;
mod terminals;
mod tls;
mod token;
mod traced;
mod watch;

use std::sync::{Arc, atomic::AtomicBool};

use axum::body::Bytes;
use tokio_util::sync::CancellationToken;
use wharf_completion::{Streams, TerminalService};
use wharf_core::{
    ContextRules, Error, FrontEndService, HttpLimits, Quota, RequestMemory, SessionId, Share, TenantId, Tracer,
    WebPageService, audit::RefusalSink, service::MetricsService,
};

pub use address::{HttpAddress, InvalidAddress};
use client::Client;
pub use client::HttpClient;
pub use failure::Failure;
use issued::Issued;
pub use issued::{ProtectedResource, TokenRefused, TokenVerifier, VerifiedToken};
pub use protocol::{ProtocolAnswer, ProtocolBody, ProtocolClient, ProtocolEndpoint, ProtocolRequest, ProtocolService};
pub use server::{HttpError, HttpServer};
pub use tls::{Tls, TlsError};
pub use token::{InvalidDigest, InvalidToken, Token};

/// What is served.
#[derive(Clone)]
pub struct HttpServices {
    /// What serves tools by the protocol.
    pub protocol: Arc<dyn ProtocolService>,
    /// What begins the spans of requests; nothing where nobody traces.
    pub tracer: Option<Tracer>,
    /// How much memory the JSON of requests may take.
    pub request_memory: RequestMemory,
    /// The terminals.
    pub terminals: Arc<dyn TerminalService>,
    /// The streams, those of the terminals among them.
    pub streams: Streams,
    /// How the context of a request is made.
    pub rules: ContextRules,
}

/// To whom it is served, and how much of it.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Who may call. Where two show the same token, the first one counts.
    pub clients: Vec<HttpClient>,
    /// Who else may call, where an authorization server issues tokens for this host.
    pub oauth: Option<ProtectedResource>,
    /// How much.
    pub limits: HttpLimits,
    /// Names by which clients may call the server, beside those of the
    /// loopback; without ports.
    pub hosts: Vec<String>,
    /// Origins of pages that may call the server from a browser, such as
    /// `https://app.example`.
    pub origins: Vec<String>,
    /// What makes the connections to a port private.
    pub tls: Option<Tls>,
    /// Whether an address that others can reach may be served without that,
    /// where the token would travel unprotected.
    pub allow_public: bool,
    /// The version of the host.
    pub version: String,
}

impl HttpSettings {
    /// Every default, for one client that shows this token and may do
    /// everything.
    #[must_use]
    pub fn new(token: Token) -> Self {
        Self {
            clients: vec![HttpClient::new("default", token)],
            oauth: None,
            limits: HttpLimits::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
            tls: None,
            allow_public: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What every request needs.
struct Shared {
    services: HttpServices,
    clients: Vec<Arc<Client>>,
    /// Those whose tokens somebody else issues, where somebody does.
    issued: Option<Issued>,
    settings: HttpSettings,
    metrics: Option<Arc<dyn MetricsService>>,
    front_ends: Option<Arc<dyn FrontEndService>>,
    /// Who hears of requests that were refused for want of a token.
    refusals: Option<Arc<dyn RefusalSink>>,
    pages: Option<Arc<dyn WebPageService>>,
    readers: Arc<Quota>,
    /// What the JSON of requests takes.
    memory: RequestMemory,
    /// The description of the routes, as JSON.
    description: Bytes,
    /// Somebody was told already that requests name no session.
    warned_of_default: AtomicBool,
    /// The host stops: who waits is answered now.
    stopping: CancellationToken,
}

impl Shared {
    /// A place among those that follow or wait.
    fn reader(&self, tenant: &TenantId) -> Result<Share, Failure> {
        // Some of them are of no session.
        let taken = self.readers.take(tenant, &SessionId::default_session(), 1);
        taken.map_err(|full| Error::from(full).into())
    }
}
