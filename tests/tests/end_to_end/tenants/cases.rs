//! What the second tenant tries with each tool: its arguments, in which `$name` is an
//! identifier of the first one's, and the expected outcome.

mod files;
mod pages;
mod state;
mod terminals;

use serde_json::Value;

use super::Expected::{self, AsUnknown, OwnAlone};

/// A tool, its arguments, and the expected outcome.
pub(super) type Case = (&'static str, Value, Expected);

/// All cases: first what asks for the first tenant's things, then what makes some.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for part in [state::cases(), files::cases(), terminals::cases(), pages::cases()] {
        cases.extend(part);
    }
    // What is made here might have a name that was asked for.
    cases.sort_by_key(|(.., expected)| *expected == OwnAlone);
    cases
}
