//! Stops a script that holds the thread of a page, and no other.
//!
//! The browser can only stop whatever runs at the moment. So it is found out first
//! whether anything does, and whose turn it is: a script that awaits a promise holds
//! nobody up, and one that waits behind another has not begun.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::page::{Page, RunningRequest};

/// How long a thread that nothing holds may take to answer.
const LOOK: Duration = Duration::from_millis(400);
/// How long it may take to go on after what it did was stopped.
const AFTER: Duration = Duration::from_secs(2);
/// How often the thread is stopped for one request: a page may go on at once with the
/// next thing that never ends.
const TIMES: usize = 5;
/// How long one waits for those before it: no request takes longer.
const OTHERS: Duration = Duration::from_secs(310);

/// What to do next.
enum ThreadTurn {
    /// The script holds the thread, or what the page itself runs.
    Mine,
    /// One before it does.
    Earlier,
    /// One that came after it does.
    Later,
}

/// Stops the script with this number, or whatever holds the thread.
pub(crate) fn begin(page: &Arc<Page>, session: String, number: Option<u64>) {
    let page = Arc::clone(page);
    tokio::spawn(async move { free(&page, &session, number).await });
}

async fn free(page: &Page, session: &str, number: Option<u64>) {
    let mut stopped = 0;
    while stopped < TIMES {
        // Nothing answers while a dialog is open, and nothing runs.
        page.until(|state| (!state.dialog).then_some(())).await;
        // Nor while the page is on its way, though something may run then.
        let stays = page.until(|state| (!state.held.under_way()).then_some(()));
        if tokio::time::timeout(AFTER, stays).await.is_err() && stopped > 0 {
            return;
        }
        let look = json!({ "expression": "0", "returnByValue": true });
        let looked = page.call(session, "Runtime.evaluate", &look);
        let patience = if stopped == 0 { LOOK } else { AFTER };
        match tokio::time::timeout(patience, looked).await {
            // Whatever was said, somebody was there to say it.
            Ok(_) => return,
            Err(_) if page.state().dialog => continue,
            Err(_) => {}
        }
        match number.map_or(ThreadTurn::Mine, |number| turn(page, session, number)) {
            ThreadTurn::Mine => {
                page.post(session, "Runtime.terminateExecution", &json!({}));
                stopped += 1;
            }
            ThreadTurn::Earlier => {
                let number = number.unwrap_or_default();
                let its_turn = page.until(|state| {
                    let over = state.threads.get(session).map_or(u64::MAX, |thread| thread.over);
                    (over.saturating_add(1) >= number).then_some(())
                });
                if tokio::time::timeout(OTHERS, its_turn).await.is_err() {
                    return;
                }
            }
            // It has a deadline of its own.
            ThreadTurn::Later => return,
        }
    }
}

fn turn(page: &Page, session: &str, number: u64) -> ThreadTurn {
    let state = page.state();
    let over = state.threads.get(session).map_or(u64::MAX, |thread| thread.over);
    if over.saturating_add(1) < number {
        return ThreadTurn::Earlier;
    }
    let next = over.saturating_add(1).max(number.saturating_add(1));
    let mut scripts = state.running.values();
    // Those right behind what is over, markers between them: the first may run.
    let runs = over >= number
        && scripts.any(|running| {
            matches!(running, RunningRequest::Script { session: other, number }
                if other == session && (next..=next.saturating_add(1)).contains(number))
        });
    if runs { ThreadTurn::Later } else { ThreadTurn::Mine }
}
