//! What opens terminals, side by side: the system's own pair and that of
//! portable-pty.
//!
//! Reading is judged by the processor's time, which a busy machine hardly
//! changes: a thread more may read as fast and cost others their turns.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;
use wharf_spawn::Spawner;
use wharf_terminal::{PtyBackend, TerminalSize};

use crate::{flood::Kind, median, throughput::by_session};

/// Pairs of one sample.
const PAIRS: u32 = 200;
/// The system's own comes first.
const BACKENDS: [PtyBackend; 2] = [PtyBackend::Direct, PtyBackend::Portable];

/// One figure of both, the system's own pair first.
#[derive(Debug, Clone, Copy)]
pub struct Both {
    /// The medians.
    pub each: [f64; 2],
    /// Of each round, the own pair's figure to the other's; the median.
    pub ratio: f64,
}

/// How both read one kind of flood.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Which.
    pub kind: Kind,
    /// Bytes for each second that the host computes.
    pub computed: Both,
    /// Bytes for each second that passes.
    pub passed: Both,
}

/// Seconds that a pair takes to open and to close.
///
/// # Errors
/// Where a terminal does not open.
pub fn opening(rounds: usize) -> Result<Both> {
    let runtime = runtime()?;
    let _entered = runtime.enter();
    let open = |pty: PtyBackend| {
        let began = Instant::now();
        for _ in 0..PAIRS {
            drop(pty.open(TerminalSize::default())?);
        }
        anyhow::Ok((began.elapsed() / PAIRS).as_secs_f64())
    };
    let samples = rounds_of(rounds, || Ok([open(BACKENDS[0])?, open(BACKENDS[1])?]))?;
    Ok(both(&samples))
}

/// Measures each kind, both sides in turn.
///
/// # Errors
/// Where a program does not start, or something is not on the screen at last.
pub fn reading(kinds: &[Kind], bytes: usize, rounds: usize) -> Result<Vec<Reading>> {
    let (runtime, spawner, directory) = (runtime()?, Spawner::new(), tempfile::tempdir()?);
    let file = directory.path().join("flood");
    let of_kind = |kind: &Kind| {
        let text = kind.text(bytes);
        std::fs::write(&file, &text)?;
        // The terminal makes two bytes of each newline.
        let printed = text.len() + text.matches('\n').count();
        let sample = |pty| sample(&runtime, &spawner, pty, &file, printed);
        let samples = rounds_of(rounds, || Ok([sample(BACKENDS[0])?, sample(BACKENDS[1])?]))?;
        let figure = |figure: fn(&Sample) -> f64| {
            let figures: Vec<_> = samples.iter().map(|sides| sides.each_ref().map(figure)).collect();
            both(&figures)
        };
        Ok(Reading { kind: *kind, computed: figure(|sample| sample.computed), passed: figure(|sample| sample.passed) })
    };
    kinds.iter().map(of_kind).collect()
}

/// Bytes a second.
#[derive(Debug)]
struct Sample {
    computed: f64,
    passed: f64,
}

fn sample(runtime: &Runtime, spawner: &Spawner, pty: PtyBackend, file: &Path, printed: usize) -> Result<Sample> {
    let before = computed();
    let passed = by_session(runtime, spawner, pty, file, printed)?;
    let computed = computed().saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = |time: Duration| printed as f64 / time.as_secs_f64();
    Ok(Sample { computed: rate(computed), passed: rate(passed) })
}

/// How long this process has computed.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// The first one warms up.
fn rounds_of<T>(count: usize, mut round: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
    round()?;
    (0..count).map(|_| round()).collect()
}

fn both(samples: &[[f64; 2]]) -> Both {
    let side = |side: usize| median(samples.iter().map(|sample| sample[side]).collect());
    Both { each: [side(0), side(1)], ratio: median(samples.iter().map(|[own, other]| own / other).collect()) }
}
