//! The Model Context Protocol in front of a [`ToolService`] and an [`OfferService`]:
//! requests become calls under a context, answers become results. Over standard input and
//! output it serves by itself; over HTTP it is a tower service ([`HttpEndpoint`]), which
//! whoever has connections and tokens serves.
//!
//! Both eras are served on one connection: the handshake of 2025-11-25 and the
//! stateless requests of 2026-07-28. This room is the only one that names the
//! protocol. It knows the traits and types of `wharf-core` and nothing of Wasm,
//! of configuration, of listeners, TLS, tokens or routes, or of who runs the tools.
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
mod endpoint;
mod endpoints;
mod events;
mod handler;
mod hints;
mod info;
mod malformed;
mod news;
mod outbox;
mod output;
mod prompts;
mod refusal;
mod resources;
mod rounds;
mod scan;
mod serve;
mod served;
mod traced;
mod transport;
mod watching;
mod wire;

pub use endpoint::{EndpointBody, EndpointRefusal, EndpointRequest, HttpEndpoint};
pub use endpoints::{EndpointSettings, HttpEndpoints};
pub use info::ServerInfo;
pub use serve::{ServeError, serve_stdio, serve_streams};
pub use served::Served;
pub use wire::MAX_MESSAGE_BYTES;
