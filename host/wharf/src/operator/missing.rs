//! What is said of what is not there.

use wharf_core::{Code, Error};

pub(super) fn none(what: &str) -> Error {
    Error::new(Code::NotFound, format!("there is no such {what}, or not any more"))
}

/// Whether another host may have it: a handle names the host that made it.
pub(super) fn is_elsewhere(error: &Error) -> bool {
    matches!(error.code, Code::NotFound | Code::Gone)
}
