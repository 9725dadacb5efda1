//! The Model Context Protocol in front of a [`ToolService`] and an [`OfferService`]:
//! requests become calls under a context, answers become results. It serves standard input
//! and output by itself; for HTTP it is a tower service ([`HttpEndpoint`]), and a server that
//! has connections and tokens hands on whole requests.
//!
//! Both eras are served on one connection: the handshake of 2025-11-25 and the
//! stateless requests of 2026-07-28. This crate is the only one that names the
//! protocol. It knows the traits and types of `wharf-core` and nothing of Wasm,
//! of configuration, of listeners, TLS, tokens or routes, or of what runs the tools.
//!
//! [`ToolService`]: wharf_core::ToolService
//! [`OfferService`]: wharf_core::OfferService

mod answer;
mod calls;
mod carried;
mod catalogue;
mod changes;
mod client_request;
mod completing;
mod context_claims;
#[cfg(feature = "http")]
mod endpoint;
mod events;
mod handler;
mod info;
mod malformed;
mod prompts;
mod refusal;
mod request_origin;
mod request_permit;
mod resources;
mod rounds;
mod served;
#[cfg(feature = "http")]
mod session_settings;
mod stdio;
mod traced;

#[cfg(feature = "http")]
pub use endpoint::{EndpointBody, EndpointRefusal, EndpointRequest, EndpointResponse, HttpEndpoint, HttpEndpoints};
pub use info::ServerInfo;
pub use rounds::StateKeys;
pub use served::Served;
pub use stdio::{MAX_MESSAGE_BYTES, ServeError, serve_stdio, serve_streams};
