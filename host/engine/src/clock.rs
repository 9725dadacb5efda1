//! The two clocks of a call: wall-clock time to its deadline, and the time
//! that it computes. Also why the host stopped it.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    task::Poll,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    CallLimits, Code, Error,
    limit::{TimeLeft, WallTime},
};

use crate::schedule::ComputingSlot;

/// Why the host ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// It computed for too long.
    CpuTime = 1,
    /// Its deadline passed.
    WallTime = 2,
    /// The client cancelled it.
    Cancelled = 3,
    /// It exceeded a limit, which the budget names.
    Budget = 4,
}

/// Times one call.
#[derive(Debug)]
pub(crate) struct CallClock {
    started: Instant,
    wall_time: WallTime,
    cpu_time: Duration,
    cancel: CancellationToken,
    /// Computing time of finished polls, in nanoseconds.
    used: AtomicU64,
    /// When the present poll began: nanoseconds since `started`, or of this
    /// thread's processor time where `measured` says so.
    poll_began: AtomicU64,
    measured: AtomicBool,
    /// An epoch has passed within this call: it is no short one.
    long: AtomicBool,
    stopped: AtomicU8,
    /// The right to compute of a call that has computed for long; see
    /// `schedule`.
    slot: Mutex<Option<ComputingSlot>>,
    /// It waits for its turn to compute, and not in a host call.
    between_epochs: AtomicBool,
    /// The times in which it waited for a person. Made with the first one.
    pauses: OnceLock<Mutex<Pauses>>,
}

/// While the call waits for a person, its time looks no sooner than this whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// Times that do not count.
#[derive(Debug, Default)]
struct Pauses {
    /// Those that are over.
    whole: Duration,
    /// Where one lasts: since when, and how many things wait.
    present: Option<(Instant, u32)>,
}

impl Pauses {
    fn until(&self, now: Instant) -> Duration {
        self.whole + self.present.map_or(Duration::ZERO, |(since, _)| now.saturating_duration_since(since))
    }
}

/// A time in which the time of a call stands still.
#[must_use = "the call's time goes on when this is dropped"]
pub(crate) struct Pause<'c>(&'c Mutex<Pauses>);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut pauses = self.0.lock();
        if let Some((since, waiting)) = pauses.present.take() {
            match waiting {
                1 => pauses.whole += since.elapsed(),
                more => pauses.present = Some((since, more - 1)),
            }
        }
    }
}

/// Processor time of this thread; where the system does not tell, time itself.
#[cfg(not(unix))]
fn thread_time() -> u64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    nanoseconds(START.elapsed())
}

/// Processor time of this thread.
#[cfg(unix)]
fn thread_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl CallClock {
    /// `charged` is what the host has computed for the call before.
    pub(crate) fn start(wall_time: WallTime, cpu_time: Duration, charged: Duration, cancel: CancellationToken) -> Self {
        Self {
            started: Instant::now(),
            wall_time,
            cpu_time,
            cancel,
            used: AtomicU64::new(nanoseconds(charged)),
            poll_began: AtomicU64::new(0),
            measured: AtomicBool::new(false),
            long: AtomicBool::new(false),
            stopped: AtomicU8::new(0),
            slot: Mutex::new(None),
            between_epochs: AtomicBool::new(false),
            pauses: OnceLock::new(),
        }
    }

    /// Stops the time of the call until the pause is dropped. What it computes counts all the same.
    pub(crate) fn pause(&self) -> Pause<'_> {
        let pauses = self.pauses.get_or_init(Mutex::default);
        pauses.lock().present.get_or_insert_with(|| (Instant::now(), 0)).1 += 1;
        Pause(pauses)
    }

    /// Corrects the time by that of the host, which knows how long the call waited for a person.
    pub(crate) fn set_remaining(&self, remaining: Duration) {
        let late = (Instant::now() + remaining).saturating_duration_since(self.started + self.wall_time.time);
        if late > Duration::ZERO || self.pauses.get().is_some() {
            self.pauses.get_or_init(Mutex::default).lock().whole = late;
        }
    }

    /// Counts what was computed for the call in another process.
    pub(crate) fn charge(&self, computed: Duration) {
        self.used.fetch_add(nanoseconds(computed.min(self.cpu_time)), Relaxed);
    }

    /// What it has computed, seen from without.
    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.used.load(Relaxed))
    }

    /// How long its time has stood still.
    fn paused(&self) -> Duration {
        self.pauses.get().map_or(Duration::ZERO, |pauses| pauses.lock().until(Instant::now()))
    }

    /// When the call ends at the latest; later with every moment of a pause.
    pub(crate) fn deadline(&self) -> Instant {
        self.started + self.wall_time.time + self.paused()
    }

    /// How long is left.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    /// When to look again whether the time is over that a pause has moved; nothing where it is.
    fn moved(&self) -> Option<Instant> {
        let pauses = self.pauses.get()?;
        let (now, deadline, lasts) = (Instant::now(), self.deadline(), pauses.lock().present.is_some());
        if lasts { Some(deadline.max(now + LOOK)) } else { (deadline > now).then_some(deadline) }
    }

    /// The time that the host has left to check the answer.
    pub(crate) fn left(&self) -> TimeLeft {
        TimeLeft {
            computing: self.cpu_time.saturating_sub(self.used()),
            until: self.deadline(),
            wall_time: self.wall_time,
        }
    }

    /// When a wait inside a host call ends at the latest: a tenth of the whole
    /// time before the deadline, a quarter of a second at most, so that the
    /// guest can still answer.
    pub(crate) fn wait_until(&self) -> Instant {
        self.deadline() - (self.wall_time.time / 10).min(Duration::from_millis(250))
    }

    /// Why the call was stopped, if it was.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        match self.stopped.load(Relaxed) {
            1 => Some(StopReason::CpuTime),
            2 => Some(StopReason::WallTime),
            3 => Some(StopReason::Cancelled),
            4 => Some(StopReason::Budget),
            _ => None,
        }
    }

    /// Notes why the call is being stopped. The first reason stays.
    pub(crate) fn stop(&self, why: StopReason) {
        let _ = self.stopped.compare_exchange(0, why as u8, Relaxed, Relaxed);
    }

    /// What the client is told of a stopped call.
    pub(crate) fn describe(&self, why: StopReason) -> Option<Error> {
        match why {
            StopReason::CpuTime => Some(CallLimits::cpu_time_exceeded(self.cpu_time)),
            StopReason::WallTime => Some(self.wall_time.exceeded()),
            StopReason::Cancelled => Some(Error::new(Code::Cancelled, "the call was cancelled")),
            StopReason::Budget => None,
        }
    }

    fn begin_poll(&self) {
        // Reading the thread's own time is a system call; a short call does
        // not pay for it, and the few milliseconds until the first epoch are
        // measured well enough by the wall clock.
        let measured = self.long.load(Relaxed);
        self.measured.store(measured, Relaxed);
        let now = if measured { thread_time() } else { nanoseconds(self.started.elapsed()) };
        self.poll_began.store(now, Relaxed);
    }

    fn poll_used(&self) -> u64 {
        let now = if self.measured.load(Relaxed) { thread_time() } else { nanoseconds(self.started.elapsed()) };
        now.saturating_sub(self.poll_began.load(Relaxed))
    }

    fn end_poll(&self) {
        self.used.fetch_add(self.poll_used(), Relaxed);
    }

    /// How long the call has computed, seen from within a poll.
    pub(crate) fn computed(&self) -> Duration {
        Duration::from_nanos(self.used.load(Relaxed) + self.poll_used())
    }

    /// At each epoch: whether the call must stop now.
    pub(crate) fn check(&self) -> Option<StopReason> {
        self.long.store(true, Relaxed);
        let why = if self.cancel.is_cancelled() {
            StopReason::Cancelled
        } else if self.remaining().is_zero() {
            StopReason::WallTime
        } else if self.computed() >= self.cpu_time {
            StopReason::CpuTime
        } else {
            return None;
        };
        self.stop(why);
        Some(why)
    }

    /// Notes that the call waits for its turn to compute, or no longer.
    pub(crate) fn between_epochs(&self, waits: bool) {
        self.between_epochs.store(waits, Relaxed);
    }

    /// Takes the right to compute away, if the call has it.
    pub(crate) fn take_slot(&self) -> Option<ComputingSlot> {
        // A plain lock, never contended: one thread at a time drives a call.
        self.slot.lock().take()
    }

    /// Gives the call the right to compute.
    pub(crate) fn set_slot(&self, slot: Option<ComputingSlot>) {
        let before = std::mem::replace(&mut *self.slot.lock(), slot);
        drop(before);
    }

    /// Drives a call to its end, its deadline or its cancellation, whichever
    /// comes first, also while the guest waits in a host call.
    ///
    /// A call that finishes without ever waiting costs two clock readings and
    /// no timer.
    pub(crate) async fn drive<T>(&self, call: impl Future<Output = T>) -> Result<T, StopReason> {
        let mut call = pin!(call);
        let mut deadline: Option<Pin<Box<tokio::time::Sleep>>> = None;
        let mut cancelled = None;
        poll_fn(|task| {
            self.begin_poll();
            let polled = call.as_mut().poll(task);
            self.end_poll();
            if let Poll::Ready(answer) = polled {
                return Poll::Ready(Ok(answer));
            }
            // A call that waits in a host call lets others compute.
            if !self.between_epochs.load(Relaxed) {
                drop(self.take_slot());
            }
            let cancelled = cancelled.get_or_insert_with(|| Box::pin(self.cancel.cancelled()));
            if cancelled.as_mut().poll(task).is_ready() {
                self.stop(StopReason::Cancelled);
                return Poll::Ready(Err(StopReason::Cancelled));
            }
            let deadline = deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(self.deadline().into())));
            while deadline.as_mut().poll(task).is_ready() {
                let Some(later) = self.moved() else {
                    self.stop(StopReason::WallTime);
                    return Poll::Ready(Err(StopReason::WallTime));
                };
                deadline.as_mut().reset(later.into());
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    use wharf_test_support::let_time_pass;

    fn clock(wall: u64, cpu: u64, cancel: &CancellationToken) -> CallClock {
        let wall_time = WallTime { time: Duration::from_millis(wall), decided_by: "a test" };
        CallClock::start(wall_time, Duration::from_millis(cpu), Duration::ZERO, cancel.clone())
    }

    #[tokio::test]
    async fn a_call_that_waits_for_what_never_comes_ends_at_its_deadline() {
        let clock = clock(20, 60_000, &CancellationToken::new());
        assert_eq!(clock.drive(pending::<()>()).await, Err(StopReason::WallTime));
        assert_eq!(clock.remaining(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_call_that_waits_ends_when_its_client_takes_it_back() {
        let cancel = CancellationToken::new();
        let clock = clock(60_000, 60_000, &cancel);
        let ended = tokio::join!(clock.drive(pending::<()>()), async { cancel.cancel() }).0;
        assert_eq!(ended, Err(StopReason::Cancelled));
    }

    #[tokio::test]
    async fn the_time_in_which_a_person_is_asked_does_not_count() {
        const LONG: Duration = Duration::from_millis(300);
        let clock = clock(100, 60_000, &CancellationToken::new());
        let call = async {
            let (first, second) = (clock.pause(), clock.pause());
            let_time_pass(LONG, "a person is asked").await;
            drop(first);
            let_time_pass(LONG, "another one is asked still").await;
            assert!(!clock.remaining().is_zero() && clock.check().is_none());
            drop(second);
            assert!(clock.remaining() <= Duration::from_millis(100));
        };
        assert_eq!(clock.drive(call).await, Ok(()));
        // What is left of its time counts again.
        assert_eq!(clock.drive(pending::<()>()).await, Err(StopReason::WallTime));
        assert!(clock.started.elapsed() < 2 * LONG + Duration::from_secs(20));
    }

    #[tokio::test]
    async fn a_call_whose_person_is_asked_ends_when_its_client_takes_it_back() {
        let cancel = CancellationToken::new();
        let clock = clock(1, 60_000, &cancel);
        let _pause = clock.pause();
        let ended = tokio::join!(clock.drive(pending::<()>()), async {
            let_time_pass(Duration::from_millis(150), "its own time is over").await;
            cancel.cancel();
        });
        assert_eq!(ended.0, Err(StopReason::Cancelled));
    }

    #[tokio::test]
    async fn computing_counts_and_waiting_does_not() {
        const WAIT: Duration = Duration::from_millis(200);
        let clock = clock(60_000, 60_000, &CancellationToken::new());
        let compute = || {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(5) {
                std::hint::spin_loop();
            }
        };
        let call = async {
            compute();
            let_time_pass(WAIT, "it waits").await;
            compute();
        };
        let began = Instant::now();
        assert_eq!(clock.drive(call).await, Ok(()));
        let (used, whole) = (Duration::from_nanos(clock.used.load(Relaxed)), began.elapsed());
        // A busy machine makes both of them longer, and not the wait shorter.
        assert!(used >= Duration::from_millis(10) && used + WAIT / 2 < whole, "{used:?} of {whole:?}");
    }

    #[test]
    fn the_first_reason_to_stop_is_the_one_that_is_told() {
        let cancel = CancellationToken::new();
        let clock = clock(0, 0, &cancel);
        cancel.cancel();
        assert_eq!(clock.check(), Some(StopReason::Cancelled));
        clock.stop(StopReason::WallTime);
        assert_eq!(clock.stopped(), Some(StopReason::Cancelled));
    }
}
