//! Carries out the orders of the core: all that is done with a page beside running
//! scripts. Each order is a task of its own.

mod capture;
mod files;
mod frames;
mod idle;
mod input;
mod navigate;
mod outcome;

use std::{sync::Arc, time::Duration};

use serde::de::IgnoredAny;
use serde_json::json;
use wharf_webview::{Operation, Order, Settled};

pub(crate) use self::capture::picture;
use self::outcome::{OrderWork, failed, nothing};
use crate::{
    connection::Call,
    page::{Page, RunningRequest},
    scripts::interrupt,
    setup,
};

pub(crate) fn begin(page: &Arc<Page>, order: Order) {
    let Order { token, operation, .. } = order;
    let work = carry_out(page, operation);
    let ours = Arc::clone(page);
    // Registered under the lock, before it can end and unregister itself.
    let mut state = page.state();
    let task = tokio::spawn(async move {
        let settled = match work.await {
            Ok(finished) => Settled::Done(finished),
            Err(failure) => Settled::Failed(failure),
        };
        ours.settle(token, settled);
    });
    state.running.insert(token, RunningRequest::Order(task.abort_handle()));
}

fn carry_out(page: &Arc<Page>, operation: Operation) -> OrderWork {
    match operation {
        Operation::Navigate { url } => navigate::to(page, url),
        Operation::Back => navigate::by(page, -1),
        Operation::Forward => navigate::by(page, 1),
        Operation::Reload => navigate::again(page),
        Operation::Screenshot { format, full_page, clip } => capture::screenshot(page, format, full_page, clip),
        Operation::Pdf { landscape, background, paper } => capture::pdf(page, landscape, background, paper),
        Operation::Mouse { kind, x, y, button, count, delta_x, delta_y, modifiers } => {
            let mouse = input::MouseInput { kind, x, y, button, count, delta_x, delta_y };
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
        Operation::NetworkIdle { idle } => idle::wait(page, idle),
        Operation::Frames => frames::tell(page),
        Operation::Stop => stop(page),
    }
}

/// Stops loading, and whatever script runs.
fn stop(page: &Arc<Page>) -> OrderWork {
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

/// How long the browser may take to stop loading, which no page can delay.
const STOP: Duration = Duration::from_secs(5);

/// Done when all these calls are.
fn done_when(calls: Vec<Call>) -> OrderWork {
    Box::pin(async move {
        for call in calls {
            call.await.map_err(|error| failed(&error))?;
        }
        Ok(nothing())
    })
}
