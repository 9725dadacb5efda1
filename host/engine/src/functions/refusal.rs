//! Errors of arguments and results, as a tool would give them.

use wharf_core::Code;

use crate::bindings::wharf::plugin::types;

pub(super) fn refused(code: Code, message: String) -> types::Error {
    types::Error { code: code.as_str().to_owned(), message, retryable: false }
}
