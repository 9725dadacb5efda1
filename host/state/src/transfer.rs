//! The lines of an export: JSON, one object a line.
//!
//! ```text
//! {"format":"wharf-state","version":1}
//! {"bucket":{"tenant":"local","plugin":"planning","kind":"session","session":"s","bucket":"main","entries":2,"bytes":17}}
//! {"entry":{"key":"goal","text":"ship it"}}
//! {"entry":{"key":"logo","base64":"/9j/"}}
//! {"end":{"buckets":1,"entries":2,"bytes":17}}
//! ```
//!
//! Buckets are in the order of their names and entries in that of their keys,
//! so that the same state is always the same text. A bucket that expires when idle has
//! `expires`, the moment at which it does. An export has no revisions: imported entries
//! get new ones.

mod export;
mod import;
mod lines;

pub use export::Exporter;
pub use import::{ImportTarget, MadeBucket, import};
pub use lines::moment;
