//! The way out of the host: connections to granted servers, and the
//! HTTP requests of plugins on them.
//!
//! A connector resolves a name once and checks every address of it, so that
//! no second look-up can lead elsewhere. Grants are decided in core. This
//! crate knows nothing of Wasm, of pages, or of configuration.

mod answer;
mod body;
mod client;
mod connector;
mod head;
mod mask;
mod meter;
mod permits;
mod stand_in;
mod tls;

pub use answer::AnswerBody;
pub use client::{OutgoingRequest, RequestClient, RequestTimeouts};
pub use connector::{Connector, NameOverrides, ProxyPort, is_localhost};
pub use head::HOP_BY_HOP;
pub use mask::SecretMask;
pub use meter::RequestMeter;
pub use permits::InFlightPermit;
pub use stand_in::{ServerStandIns, StandInAnswer};
