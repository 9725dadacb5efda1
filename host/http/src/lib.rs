//! The host over HTTP: terminals, web pages and streams for clients that are no
//! models (a user interface, a script, `curl -N`), and a route for the Model Context
//! Protocol.
//!
//! Owns the routes, and what a request has to show before it reaches one. It
//! serves [`TerminalService`], [`Streams`] and a [`ProtocolService`] under a context
//! that follows from the token and the request; it knows neither the protocol, nor what runs tools and
//! terminals, nor where the token came from. Files in the order in which a request meets them:
//!
//! | file | what it owns |
//! |---|---|
//! | `settings`, `state` | what a server is given; what every request needs of it |
//! | `listener` | where it listens, and how private that is |
//! | `server`, `server/connection` | accepting connections, and their ends; one of them |
//! | `connections` | how many connections there may be, and which of them have shown a token |
//! | `access/guard` | which requests are served at all: Host, Origin, token |
//! | `access/client`, `access/allowed`, `access/factory` | the clients: whose calls, which plugins, how much |
//! | `access/console` | people who have signed in to the console |
//! | `access/protected_resource`, `access/issued` | tokens that an authorization server issues, and their clients |
//! | `request` | what a request says: headers, context, parameters and bodies, measured |
//! | `routes` | the table of routes, what each of them does, and its description for programs |
//! | `protocol` | what serves the protocol |
//! | `operator_feed` | copies of what hosts have, for all who follow it |
//! | `elsewhere`, `passing` | what other hosts have, where several serve as one; requests about it on their way |
//! | `failure` | errors as answers |
//!
//! [`TerminalService`]: wharf_completion::TerminalService
//! [`Streams`]: wharf_completion::Streams

mod access;
mod address_block;
mod connections;
mod elsewhere;
mod failure;
mod listener;
mod operator_feed;
mod passing;
mod protocol;
mod request;
mod routes;
mod server;
mod settings;
mod state;

pub use access::{
    client::HttpClient,
    clients::HttpClients,
    console::ConsoleSessions,
    protected_resource::{ProtectedResource, TokenRefused, TokenVerifier, VerifiedToken},
};
pub use elsewhere::{Elsewhere, HttpHome, OtherHost, PassedBody, PassedRequests};
pub use failure::HttpFailure;
#[cfg(target_os = "linux")]
pub use listener::passed::{PassedSocket, UnusableSocket};
pub use listener::{
    HttpError,
    address::{HttpAddress, InvalidAddress},
    client_certificate::{ClientCertificates, ConnectionCertificate},
    tls::{Tls, TlsError},
};
pub use protocol::{ProtocolAnswer, ProtocolBody, ProtocolClient, ProtocolEndpoint, ProtocolRequest, ProtocolService};
pub use server::HttpServer;
pub use settings::{ConsoleFile, HttpServices, HttpSettings};
