//! `types`: the error of the contract.

use wharf_core::{Code, Error, text};

use crate::{
    bindings::wharf::plugin::types::{self as wit, Host},
    failure::Failure,
    guest::Guest,
    watch::Refusal,
};

/// Longest message of an error that crosses the wall.
pub(crate) const MAX_MESSAGE_BYTES: usize = 4 << 10;

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: text::cut(&error.message, MAX_MESSAGE_BYTES).to_owned(),
            retryable: error.retryable,
        }
    }
}

impl Refusal for wit::Error {
    fn code(&self) -> Code {
        // The host wrote the word; those that are unknown are a defect.
        Code::from_guest(&self.code)
    }
}

impl Host for Guest {
    /// The one place where a refusal becomes the guest's error.
    fn convert_error(&mut self, failure: Failure) -> wasmtime::Result<wit::Error> {
        match failure {
            Failure::Refused(error) => Ok(error.into()),
            Failure::Trap(error) => Err(error),
        }
    }
}
