//! The Model Context Protocol in front of a [`ToolService`] and an [`OfferService`]:
//! requests become calls under a context, answers become results. Terminals and
//! streams over HTTP, for clients that are no models, are in `http`.
//!
//! Both eras are served on one connection: the handshake of 2025-11-25 and the
//! stateless requests of 2026-07-28. This room is the only one that names the
//! protocol. It knows the traits and types of `wharf-core` and nothing of Wasm,
//! of configuration, or of who runs the tools.
//!
//! [`ToolService`]: wharf_core::ToolService
//! [`OfferService`]: wharf_core::OfferService

mod answer;
mod caller;
mod calls;
mod carried;
mod catalogue;
mod changes;
mod completing;
mod events;
mod handler;
mod hints;
pub mod http;
mod info;
mod malformed;
mod names;
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

pub use info::ServerInfo;
pub use serve::{ServeError, serve_stdio, serve_streams};
pub use served::Served;
pub use wire::MAX_MESSAGE_BYTES;
