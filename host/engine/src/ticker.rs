//! Advances the epoch while calls run, and rests while none do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use wasmtime::EngineWeak;

/// How often a running guest is interrupted: the measured best of 1 to 10 ms
/// for stopping spinning guests on time while others go on.
const TICK: Duration = Duration::from_millis(2);
/// Ticks without a call after which the thread rests.
const IDLE_TICKS: u32 = 250;

#[derive(Debug)]
struct TickerState {
    running: AtomicUsize,
    resting: AtomicBool,
    ended: AtomicBool,
}

/// Owns the thread.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<TickerState>,
    thread: JoinHandle<()>,
}

/// While one of these lives, epochs pass.
pub(crate) struct RunningEpochs<'t>(&'t TickerState);

impl Drop for RunningEpochs<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Ticker {
    pub(crate) fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState {
            running: AtomicUsize::new(0),
            resting: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("wharf-epochs".to_owned()).spawn(move || tick(&of_thread, &engine))?;
        Ok(Self { shared, thread })
    }

    /// Epochs pass until the returned value is dropped.
    pub(crate) fn hold(&self) -> RunningEpochs<'_> {
        // Sequentially consistent with the thread's own pair of steps: either
        // this sees that it rests, or it sees this call.
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.resting.load(Ordering::SeqCst) {
            self.thread.thread().unpark();
        }
        RunningEpochs(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
    }
}

fn tick(shared: &TickerState, engine: &EngineWeak) {
    let mut idle = 0;
    while !shared.ended.load(Ordering::Relaxed) {
        if shared.running.load(Ordering::Relaxed) > 0 {
            idle = 0;
        } else {
            idle += 1;
        }
        if idle > IDLE_TICKS {
            shared.resting.store(true, Ordering::SeqCst);
            while shared.running.load(Ordering::SeqCst) == 0 && !shared.ended.load(Ordering::SeqCst) {
                thread::park();
            }
            shared.resting.store(false, Ordering::SeqCst);
            idle = 0;
        }
        thread::sleep(TICK);
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
    }
}
