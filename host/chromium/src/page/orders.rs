//! What is done with a page beside running scripts: each order is a task of its own.

use std::{pin::Pin, sync::Arc, time::Duration};

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use wharf_webview::{Failure, FailureKind, Finished, Operation, Order, Settled};

use super::{Page, Running, capture, files, frames, input, interrupt, navigate, network, setup};
use crate::{connection::Call, connection::CallError};

/// What an order comes to.
pub(super) type Outcome = Result<Finished, Failure>;

/// An order that is under way: what has to happen in the order in which it was asked
/// for is sent already, and what is left is to wait.
pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

pub(super) fn begin(page: &Arc<Page>, order: Order) {
    let Order { token, operation, .. } = order;
    let work = carry_out(page, operation);
    let ours = Arc::clone(page);
    // Registered before it can end, which takes it out again.
    let mut state = page.state();
    let task = tokio::spawn(async move {
        let settled = match work.await {
            Ok(finished) => Settled::Done(finished),
            Err(failure) => Settled::Failed(failure),
        };
        ours.settle(token, settled);
    });
    state.running.insert(token, Running::Order(task.abort_handle()));
}

fn carry_out(page: &Arc<Page>, operation: Operation) -> Work {
    match operation {
        Operation::Navigate { url } => navigate::to(page, url),
        Operation::Back => navigate::by(page, -1),
        Operation::Forward => navigate::by(page, 1),
        Operation::Reload => navigate::again(page),
        Operation::Screenshot { format, full_page, clip } => capture::screenshot(page, format, full_page, clip),
        Operation::Pdf { landscape, background, paper } => capture::pdf(page, landscape, background, paper),
        Operation::Mouse { kind, x, y, button, count, delta_x, delta_y, modifiers } => {
            let mouse = input::Mouse { kind, x, y, button, count, delta_x, delta_y };
            done_when(input::mouse(page, &mouse, &modifiers))
        }
        Operation::Key { key, kind, modifiers } => match input::key(page, &key, kind, &modifiers) {
            Ok(calls) => done_when(calls),
            Err(failure) => Box::pin(async move { Err(failure) }),
        },
        Operation::Text { text } => done_when(vec![page.ask("Input.insertText", &json!({ "text": text }))]),
        Operation::SetFiles { element, files } => files::set(page, element, files),
        Operation::Resize { width, height } => {
            done_when(vec![page.ask("Emulation.setDeviceMetricsOverride", &setup::size(width, height))])
        }
        Operation::NetworkIdle { idle } => network::idle(page, idle),
        Operation::Frames => frames::tell(page),
        Operation::Stop => stop(page),
    }
}

/// Stops loading, and whatever script runs.
fn stop(page: &Arc<Page>) -> Work {
    let call = page.ask("Page.stopLoading", &json!({}));
    let page = Arc::clone(page);
    Box::pin(async move {
        let nothing_more = json!({});
        let stopped = page.insist::<_, IgnoredAny>(call, "Page.stopLoading", &nothing_more);
        let _ = tokio::time::timeout(STOP, stopped).await;
        interrupt::begin(&page, page.main_session().to_owned(), None);
        Ok(nothing())
    })
}

/// How long the browser may take to stop loading, which no page has a hand in.
const STOP: Duration = Duration::from_secs(5);

/// Done when all these are.
fn done_when(calls: Vec<Call>) -> Work {
    Box::pin(async move {
        for call in calls {
            call.await.map_err(|error| failed(&error))?;
        }
        Ok(nothing())
    })
}

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
