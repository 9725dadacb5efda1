//! Stops a script that holds the thread of a page, and no other.
//!
//! The browser can only stop the script that runs at the moment. So the host finds out
//! first whether one does, and whose turn it is: a script that awaits a promise blocks
//! no other, and one that waits behind another has not begun.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use crate::page::{Page, RunningRequest};

/// How long an idle thread may take to answer.
const LOOK: Duration = Duration::from_millis(400);
/// How long a thread may take to go on after its script was stopped.
const AFTER: Duration = Duration::from_secs(2);
/// How often a thread is stopped for one request: a page may begin the next endless
/// script at once.
const TIMES: usize = 5;
/// How long a script may wait for earlier ones: no request takes longer.
const OTHERS: Duration = Duration::from_secs(310);

/// Which script holds the thread.
enum ThreadTurn {
    /// The script in question, or one of the page itself.
    Mine,
    /// An earlier one.
    Earlier,
    /// A later one.
    Later,
}

/// Stops the script with this number; without one, any script that holds the thread.
pub(crate) fn begin(page: &Arc<Page>, session: String, number: Option<u64>) {
    let page = Arc::clone(page);
    tokio::spawn(async move { free(&page, &session, number).await });
}

async fn free(page: &Page, session: &str, number: Option<u64>) {
    let mut stopped = 0;
    while stopped < TIMES {
        // While a dialog is open, nothing answers and nothing runs.
        page.until(|state| (!state.dialog).then_some(())).await;
        // While the page navigates, nothing answers, though a script may run.
        let stays = page.until(|state| (!state.held.under_way()).then_some(()));
        if tokio::time::timeout(AFTER, stays).await.is_err() && stopped > 0 {
            return;
        }
        let look = json!({ "expression": "0", "returnByValue": true });
        let looked = page.call(session, "Runtime.evaluate", &look);
        let patience = if stopped == 0 { LOOK } else { AFTER };
        match tokio::time::timeout(patience, looked).await {
            // Any answer says that the thread is free.
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
            // That one has a deadline of its own.
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
    // Scripts right behind those that are over, with markers between them: the first
    // one may run.
    let runs = over >= number
        && scripts.any(|running| {
            matches!(running, RunningRequest::Script { session: other, number }
                if other == session && (next..=next.saturating_add(1)).contains(number))
        });
    if runs { ThreadTurn::Later } else { ThreadTurn::Mine }
}
