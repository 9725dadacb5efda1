//! What happened in hosts, as lines of JSON in files: one line for each call
//! and for each thing that a plugin asked its host for.
//!
//! Owns the form of a line, the thread that writes, rotation, and reading while
//! others write. Any number of hosts share a directory, and none writes into a
//! file of another. Knows nothing of who calls, of grants or of configuration.

mod files;
mod filter;
mod line;
mod read;
mod sink;
mod summary;
mod writer;

pub use files::Settings;
pub use filter::Filter;
pub use line::{Entry, MAX_LINE_BYTES, line, stamp};
pub use read::{ReadError, Reader};
pub use sink::FileSink;
pub use summary::{Figures, Group, Summary};
