//! Results and failures of orders.

use std::pin::Pin;

use serde_json::Map;
use wharf_webview::{Failure, FailureKind, OrderOutput};

use crate::connection::CallError;

/// The result of an order.
pub(super) type OrderOutcome = Result<OrderOutput, Failure>;

/// An order that is under way: all that depends on the sequence of orders is sent
/// already, and the future waits for the answers.
pub(super) type OrderWork = Pin<Box<dyn Future<Output = OrderOutcome> + Send>>;

/// A result without any members.
pub(super) fn nothing() -> OrderOutput {
    OrderOutput::json(&Map::new())
}

/// The failure of an order that the browser did not carry out.
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
