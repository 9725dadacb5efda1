//! Guests that spin: each is stopped on time, and an ordinary call beside them
//! hardly notices. A program of its own, so that no other test runs beside it.
//!
//! The figures are those of an issue's bar. The machine may be busy with other
//! things, so the median of several rounds is judged.

#![expect(clippy::print_stderr, reason = "the figures are worth reading where the bar is kept, too")]

use std::time::{Duration, Instant};

use serde_json::json;
use wharf::Code;
use wharf_tests::{Fixture, Setup, context};

const SPINNERS: usize = 16;
const DEADLINE: Duration = Duration::from_millis(500);
const ROUNDS: usize = 7;

/// A spinner is stopped this long after its deadline, at most.
const OVERRUN: Duration = Duration::from_millis(50);
/// A call that computes about 20 ms is done within this time beside them.
const INNOCENT: Duration = Duration::from_millis(60);

struct Round {
    /// The latest end of a spinner after its deadline.
    overrun: Duration,
    /// How long the ordinary call took.
    innocent: Duration,
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    values[values.len() / 2]
}

/// How many steps take about 20 ms of an otherwise idle machine.
async fn steps_of_20_milliseconds(fixture: &Fixture) -> u64 {
    let steps = 5_000_000_u64;
    let mut taken = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        fixture.call("hostile__spin_iterations", json!({"iterations": steps})).await.expect("it ends");
        taken.push(began.elapsed());
    }
    let fastest = taken.into_iter().min().expect("measured");
    steps * 20_000 / u64::try_from(fastest.as_micros()).expect("short").max(1)
}

async fn round(fixture: &Fixture, steps: u64) -> Round {
    let began = Instant::now();
    let spinners: Vec<_> = (0..SPINNERS)
        .map(|index| {
            let call = fixture.start(&context("local", &format!("spinner-{index}")), "hostile__spin", json!({}));
            tokio::spawn(async move {
                let error = call.outcome().await.expect_err("it never ends by itself");
                assert_eq!(error.code, Code::Timeout, "{error}");
                began.elapsed()
            })
        })
        .collect();
    fixture.load_is(SPINNERS as u64, 0).await;
    // In the middle of their time, when each has computed for a while.
    tokio::time::sleep_until((began + DEADLINE / 2).into()).await;
    let called = Instant::now();
    let innocent =
        fixture.start(&context("local", "innocent"), "hostile__spin_iterations", json!({"iterations": steps}));
    innocent.outcome().await.expect("an ordinary call");
    let innocent = called.elapsed();
    let mut last = Duration::ZERO;
    for spinner in spinners {
        last = last.max(spinner.await.expect("it was stopped"));
    }
    Round { overrun: last.saturating_sub(DEADLINE), innocent }
}

#[test]
fn sixteen_spinners_on_two_workers_are_stopped_on_time_and_hold_nobody_up() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let (overruns, innocents) = runtime.block_on(async {
        let limit = u64::try_from(DEADLINE.as_millis()).expect("short");
        let fixture = Setup::new().limit("wall_time_milliseconds", limit).open().await;
        let steps = steps_of_20_milliseconds(&fixture).await;
        let (mut overruns, mut innocents) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let round = round(&fixture, steps).await;
            overruns.push(round.overrun);
            innocents.push(round.innocent);
            fixture.load_is(0, 0).await;
        }
        fixture.works().await;
        (overruns, innocents)
    });
    let figures = format!("overruns {overruns:?}, the call beside them {innocents:?}");
    eprintln!("{SPINNERS} spinners on 2 workers: {figures}");
    assert!(median(overruns) <= OVERRUN, "{figures}");
    assert!(median(innocents) <= INNOCENT, "{figures}");
}
