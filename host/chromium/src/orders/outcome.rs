//! What orders come to.

use std::pin::Pin;

use serde_json::{Map, Value};
use wharf_webview::{Failure, FailureKind, Finished};

use crate::connection::CallError;

/// What an order comes to.
pub(super) type OrderOutcome = Result<Finished, Failure>;

/// An order that is under way: what has to happen in the order in which it was asked
/// for is sent already, and what is left is to wait.
pub(super) type OrderWork = Pin<Box<dyn Future<Output = OrderOutcome> + Send>>;

/// The result of which nothing is said.
pub(super) fn nothing() -> Finished {
    Finished::json(&Map::new())
}

/// A result of these members.
pub(super) fn members(value: Value) -> Finished {
    match value {
        Value::Object(members) => Finished::json(&members),
        _ => nothing(),
    }
}

/// Why an order failed that the browser did not carry out.
pub(super) fn failed(error: &CallError) -> Failure {
    match error {
        CallError::TooLarge => {
            Failure::new(FailureKind::Limit, "the result is larger than may be (limit `file_bytes`)")
        }
        CallError::Gone => Failure::new(FailureKind::BackendGone, "the browser ended"),
        CallError::Left => Failure::new(FailureKind::Navigated, "the page went elsewhere before this was done"),
        CallError::Refused(said) if said.contains("crashed") => {
            Failure::new(FailureKind::Crashed, "the page crashed; navigate or reload it")
        }
        CallError::Refused(said) if said.contains("navigated or closed") || said.contains("context") => {
            Failure::new(FailureKind::Navigated, "the page went elsewhere before this was done")
        }
        CallError::Refused(said) => Failure::new(FailureKind::Invalid, said.clone()),
        CallError::Late | CallError::Unexpected => Failure::new(FailureKind::TimeOut, error.to_string()),
    }
}
