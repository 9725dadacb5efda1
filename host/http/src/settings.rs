//! What a server serves, to whom, and how much of it.

use std::sync::Arc;

use wharf_completion::{Streams, TerminalService};
use wharf_core::{ContextRules, HttpLimits, RequestMemory, Token, Tracer};

use crate::{
    access::{client::HttpClient, protected_resource::ProtectedResource},
    listener::tls::Tls,
    protocol::ProtocolService,
};

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

/// A file of the console.
#[derive(Debug, Clone, Copy)]
pub struct ConsoleFile {
    /// Its path below `/console/`.
    pub name: &'static str,
    /// What it holds.
    pub content: &'static [u8],
}

/// To whom it is served, and how much of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The clients that may call. Where two show the same token, the first one counts.
    pub clients: Vec<HttpClient>,
    /// The host as a protected resource, where an authorization server issues tokens for it.
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
        Self::of_clients(vec![HttpClient::new("default", token)])
    }

    /// Every default, for these clients.
    #[must_use]
    pub fn of_clients(clients: Vec<HttpClient>) -> Self {
        Self {
            clients,
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
