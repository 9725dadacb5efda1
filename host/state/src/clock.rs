//! The wall clock, and how much time has really passed: the only source of time in this
//! crate, so that tests of expiry move the clock instead of waiting.

use std::{
    fmt, fs,
    sync::{
        OnceLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

/// The source of the time by which expiry is measured.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time of the wall clock, which may be set to any value at any moment.
    fn now(&self) -> SystemTime;

    /// The running time of this program, or another time that grows as time passes and
    /// that cannot be set.
    fn elapsed(&self) -> Duration;

    /// The running time of the machine, where the system has it: it measures the pause
    /// between two programs.
    fn uptime(&self) -> Option<Uptime>;
}

/// The running time of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uptime {
    /// Identifies this start of the machine.
    pub boot: String,
    /// The time since that start, with the time in which the machine slept.
    pub since: Duration,
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        BEGAN.get_or_init(Instant::now).elapsed()
    }

    fn uptime(&self) -> Option<Uptime> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let seconds = uptime.split_whitespace().next()?.parse::<f64>().ok()?;
        let since = Duration::try_from_secs_f64(seconds).ok()?;
        Some(Uptime { boot: boot.trim().to_owned(), since })
    }
}

/// A clock that tests move.
#[derive(Debug)]
pub struct ManualClock {
    wall: AtomicI64,
    elapsed: AtomicI64,
    /// Number of starts of its machine, and the elapsed time at the last start.
    boots: AtomicU64,
    booted: AtomicI64,
}

impl ManualClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub fn starting_at(start: SystemTime) -> Self {
        Self {
            wall: AtomicI64::new(to_milliseconds(start)),
            elapsed: AtomicI64::new(0),
            boots: AtomicU64::new(0),
            booted: AtomicI64::new(0),
        }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.wall.fetch_add(duration_milliseconds(by), Ordering::SeqCst);
        self.elapsed.fetch_add(duration_milliseconds(by), Ordering::SeqCst);
    }

    /// Sets the wall clock while no time passes.
    pub fn set(&self, to: SystemTime) {
        self.wall.store(to_milliseconds(to), Ordering::SeqCst);
    }

    /// Starts the machine anew after a time off.
    pub fn reboot_after(&self, off: Duration) {
        self.wall.fetch_add(duration_milliseconds(off), Ordering::SeqCst);
        self.boots.fetch_add(1, Ordering::SeqCst);
        self.booted.store(self.elapsed.load(Ordering::SeqCst), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        from_milliseconds(self.wall.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed.load(Ordering::SeqCst).unsigned_abs())
    }

    fn uptime(&self) -> Option<Uptime> {
        let boot = format!("manual {}", self.boots.load(Ordering::SeqCst));
        let since = self.elapsed.load(Ordering::SeqCst) - self.booted.load(Ordering::SeqCst);
        Some(Uptime { boot, since: Duration::from_millis(since.unsigned_abs()) })
    }
}

/// Milliseconds since 1970 in UTC, the unit of every stored time.
#[must_use]
pub fn to_milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => duration_milliseconds(since),
        Err(before) => -duration_milliseconds(before.duration()),
    }
}

/// The time of so many milliseconds since 1970.
#[must_use]
pub fn from_milliseconds(milliseconds: i64) -> SystemTime {
    let distance = Duration::from_millis(milliseconds.unsigned_abs());
    if milliseconds < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}

/// A duration in milliseconds, clamped to a quarter of the range (73 million years), so that the sum of
/// two times never overflows.
#[must_use]
pub fn duration_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 4)
}
