//! The Model Context Protocol in front of a [`ToolService`]: requests become
//! calls under a context, answers become results.
//!
//! Both eras are served on one connection: the handshake of 2025-11-25 and the
//! stateless requests of 2026-07-28. This room is the only one that names the
//! protocol. It knows the traits and types of `wharf-core` and nothing of Wasm,
//! of configuration, or of who runs the tools.
//!
//! [`ToolService`]: wharf_core::ToolService

mod answer;
mod catalogue;
mod events;
mod handler;
mod hints;
mod info;
mod outbox;
mod scan;
mod serve;
mod transport;
mod wire;

pub use info::ServerInfo;
pub use serve::{ServeError, serve_stdio, serve_streams};
pub use wire::MAX_MESSAGE_BYTES;
