//! Guests that spin: each is stopped on time, and an ordinary call beside them
//! hardly notices. A program of its own, so that no other test runs beside it.
//!
//! The figures are those of an issue's bar, for a machine that has two
//! processors for this program. One that is busy with other things gives less:
//! how much it gave is measured in each round. The rounds with most are judged,
//! and of those the median: how late a spinner was stopped by their share, and the
//! ordinary call by the processor time that went by until it was done.

#![expect(clippy::print_stderr, reason = "the figures are worth reading where the bar is kept, too")]

use std::time::{Duration, Instant};

use serde_json::json;
use wharf::Code;
use wharf_tests::{AMPLE, Fixture, Setup, component, context, let_time_pass};

const SPINNERS: usize = 16;
const DEADLINE: Duration = Duration::from_millis(500);
/// Rounds that are judged, and rounds that are tried for them: those in which
/// the machine was least busy with other things.
const ROUNDS: usize = 7;
const TRIED: usize = 40;
/// A round with so much of two processors is as good as any.
const UNDISTURBED: f64 = 0.9;

/// A spinner is stopped this long after its deadline, at most.
const OVERRUN: Duration = Duration::from_millis(50);
/// A call that computes about 20 ms is done within this time beside them.
const INNOCENT: Duration = Duration::from_millis(60);

struct Round {
    /// The latest end of a spinner after its deadline.
    overrun: Duration,
    /// How long the ordinary call takes where this program has two processors. They are both
    /// used for as long as it runs, so it is half of the processor time.
    innocent: Duration,
    /// How much of two processors this program had meanwhile.
    share: f64,
}

/// Processor time of this program, all threads together.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("not negative");
    Duration::new(seconds, u32::try_from(time.tv_nsec).expect("less than a second"))
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
        fixture.call("ordinary__spin_iterations", json!({"iterations": steps})).await.expect("it ends");
        taken.push(began.elapsed());
    }
    let fastest = taken.into_iter().min().expect("measured");
    steps * 20_000 / u64::try_from(fastest.as_micros()).expect("short").max(1)
}

async fn round(fixture: &Fixture, steps: u64) -> Round {
    let (began, used) = (Instant::now(), processor_time());
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
    let left = (began + DEADLINE / 2).saturating_duration_since(Instant::now());
    let_time_pass(left, "each of them computes").await;
    let called = processor_time();
    let innocent =
        fixture.start(&context("local", "innocent"), "ordinary__spin_iterations", json!({"iterations": steps}));
    innocent.outcome().await.expect("an ordinary call");
    let innocent = (processor_time() - called) / 2;
    let mut last = Duration::ZERO;
    for spinner in spinners {
        last = last.max(spinner.await.expect("it was stopped"));
    }
    let share = (processor_time() - used).as_secs_f64() / (2.0 * began.elapsed().as_secs_f64());
    Round { overrun: last.saturating_sub(DEADLINE), innocent, share: share.min(1.0) }
}

#[test]
fn sixteen_spinners_on_two_workers_are_stopped_on_time_and_hold_nobody_up() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let rounds = runtime.block_on(async {
        let limit = u64::try_from(DEADLINE.as_millis()).expect("short");
        // On a busy machine, an ordinary call may need longer than a spinner has.
        let ample = format!("[plugin.ordinary.limits]\nwall_time_milliseconds = {}", AMPLE.as_millis());
        let setup = Setup::new().limit("wall_time_milliseconds", limit);
        let fixture = setup.plugin("ordinary", &component("guest-hostile"), &ample).open().await;
        let steps = steps_of_20_milliseconds(&fixture).await;
        let mut rounds = Vec::new();
        while rounds.len() < TRIED && rounds.iter().filter(|round: &&Round| round.share >= UNDISTURBED).count() < ROUNDS
        {
            rounds.push(round(&fixture, steps).await);
            fixture.load_is(0, 0).await;
        }
        fixture.works().await;
        rounds.sort_by(|one, other| other.share.total_cmp(&one.share));
        rounds.truncate(ROUNDS);
        rounds
    });
    for Round { overrun, innocent, share } in &rounds {
        eprintln!(
            "{SPINNERS} spinners on 2 workers with {share:.2} of two processors: stopped {overrun:.0?} late, the call \
             beside them took {innocent:.0?}"
        );
    }
    let overrun = median(rounds.iter().map(|round| round.overrun.mul_f64(round.share)).collect());
    let innocent = median(rounds.iter().map(|round| round.innocent).collect());
    assert!(overrun <= OVERRUN, "stopped {overrun:?} late");
    assert!(innocent <= INNOCENT, "the call beside them took {innocent:?}");
}
