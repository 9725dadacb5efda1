//! What is said of what is not there.

use wharf_core::{Code, Error};

pub(super) fn none(what: &str) -> Error {
    Error::new(Code::NotFound, format!("there is no such {what}, or not any more"))
}
