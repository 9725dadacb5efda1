//! A few turns of each program; `cargo xtask bench --only turn_` has them all.

#![cfg(target_os = "linux")]

use wharf_terminal_bench::turns::{Plan, hold};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_live_turn_is_told_to_be_complete_before_it_is() {
    let report = hold(Plan { seed: 7, rounds: 1, turns: 2 }).await.expect("conversations");
    // How late others are told is the machine's doing, too.
    assert!(report.known.premature.is_empty(), "{:#?}", report.known.premature);
    assert!(report.strange.premature.is_empty(), "{:#?}", report.strange.premature);
    assert!(report.known.turns > 0, "there was nothing to try");
}
