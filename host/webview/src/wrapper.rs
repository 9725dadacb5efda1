//! The JavaScript around a script: it awaits the script, makes JSON of its value, cuts
//! that in the page and keeps the rest there.
//!
//! Owns the sources and the envelope in which a result travels. Knows nothing of
//! requests, and nothing of how a source gets into a page.

mod envelope;
mod posted;
mod sources;

use std::io;

use serde::Serialize;
use wharf_core::handle::Handle;

pub use envelope::ScriptAnswer;
pub(crate) use envelope::{ScriptResult, StoredPiece, piece, result};
pub use posted::PostedResult;
pub use sources::{WrappedScript, script_wrapper};
pub(crate) use sources::{bodies, wrapped};

const READ: &str = include_str!("wrapper/read.js");
const DROP: &str = include_str!("wrapper/drop.js");

/// How many cut results a page keeps.
pub(crate) const RESULTS_IN_PAGE: usize = 4;
/// How much of each, in bytes.
const BYTES_IN_PAGE: u64 = 64 << 20;

/// Where a page keeps the results that were cut: under a name that its own scripts
/// do not come across.
#[derive(Debug, Clone)]
pub(crate) struct ResultStore(String);

impl ResultStore {
    pub(crate) fn random() -> io::Result<Self> {
        Ok(Self(format!("wharf-{}", Handle::random()?)))
    }

    /// The sources that run a script: the engine is to run the first that it can parse.
    /// A result is cut at `most` bytes, and the page keeps the rest under a number of its own
    /// choice: the same script is the same source each time, which engines compile once.
    pub(crate) fn run(&self, script: &str, most: usize) -> Vec<String> {
        let ask = RunParameters { key: &self.0, most, keep: BYTES_IN_PAGE, results: RESULTS_IN_PAGE };
        let ask = serde_json::to_string(&ask).unwrap_or_default();
        bodies(script).iter().map(|body| wrapped(body, &ask)).collect()
    }

    /// The source that reads on in a result that was cut.
    pub(crate) fn read(&self, number: u64, from: u64, most: usize) -> Vec<String> {
        let ask = serde_json::json!({ "key": self.0, "number": number, "from": from, "most": most });
        vec![format!("{}({ask})", READ.trim_end())]
    }

    /// The source that has the page drop a result that was cut.
    pub(crate) fn drop(&self, number: u64) -> Vec<String> {
        let ask = serde_json::json!({ "key": self.0, "number": number });
        vec![format!("{}({ask})", DROP.trim_end())]
    }
}

#[derive(Serialize)]
struct RunParameters<'r> {
    key: &'r str,
    most: usize,
    keep: u64,
    results: usize,
}

#[cfg(test)]
mod tests;
