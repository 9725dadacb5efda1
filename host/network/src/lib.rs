//! The way out of the host: from a server that was granted to a connection, and the
//! HTTP requests of plugins on it.
//!
//! A name is resolved once and every address that comes of it is checked, so that
//! no second look-up can lead elsewhere. What is granted is decided in core. This
//! crate knows nothing of Wasm, of pages, or of who configured what.

mod answer;
mod body;
mod head;
mod mask;
mod places;
mod reach;
mod requests;
mod tls;

pub use answer::AnswerBody;
pub use head::HOP;
pub use places::Place;
pub use reach::{Names, ProxyPort, Reach, is_localhost};
pub use requests::{Meter, OutgoingRequest, Patience, Requests};
