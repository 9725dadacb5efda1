//! What time it is: the only source of wall-clock time in this crate, so that
//! tests of expiry move the clock instead of waiting.

use std::{
    fmt,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime},
};

/// Tells the time that expiry is measured by.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> SystemTime;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that moves only when told to.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub fn starting_at(start: SystemTime) -> Self {
        Self(AtomicI64::new(to_milliseconds(start)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(duration_milliseconds(by), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        from_milliseconds(self.0.load(Ordering::SeqCst))
    }
}

/// Milliseconds since 1970 in UTC, the unit of every stored time.
pub(crate) fn to_milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => duration_milliseconds(since),
        Err(before) => -duration_milliseconds(before.duration()),
    }
}

pub(crate) fn from_milliseconds(milliseconds: i64) -> SystemTime {
    let distance = Duration::from_millis(milliseconds.unsigned_abs());
    if milliseconds < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}

/// Clamped to a quarter of what fits (73 million years), so that the sum of
/// two times never overflows.
pub(crate) fn duration_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX).min(i64::MAX / 4)
}
