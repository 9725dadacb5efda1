//! Time as a guest sees it that the operator gave coarse clocks: it goes on in steps.
//!
//! All that tells such a guest the time is made of one clock, so that all of it steps at the
//! same moments: two clocks with different steps would make one that is finer than either.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock};

/// How far apart the times are that a guest's clocks show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockResolution(Duration);

/// A step that no clock may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be from 1 to {} microseconds, not {microseconds}; 0 leaves the clocks as they are",
    ClockResolution::MAX_MICROSECONDS
)]
pub struct InvalidResolution {
    /// What was asked for.
    pub microseconds: u64,
}

impl ClockResolution {
    /// A second: with longer steps, few programs that wait would work.
    pub const MAX_MICROSECONDS: u64 = 1_000_000;
    pub(crate) const COARSEST: Self = Self(Duration::from_micros(Self::MAX_MICROSECONDS));

    /// Steps of so many microseconds.
    ///
    /// # Errors
    /// For 0, and for more than [`MAX_MICROSECONDS`](Self::MAX_MICROSECONDS).
    pub fn from_microseconds(microseconds: u64) -> Result<Self, InvalidResolution> {
        match microseconds {
            1..=Self::MAX_MICROSECONDS => Ok(Self(Duration::from_micros(microseconds))),
            _ => Err(InvalidResolution { microseconds }),
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn step(self) -> Duration {
        self.0
    }

    /// The last step that is not after a time.
    pub(crate) fn floor(self, time: Duration) -> Duration {
        let nanoseconds = time.as_nanos() / self.0.as_nanos() * self.0.as_nanos();
        Duration::from_nanos_u128(nanoseconds)
    }

    /// The first step that is not before a time.
    fn ceil(self, time: Duration) -> Duration {
        let before = self.floor(time);
        if before == time { time } else { before.saturating_add(self.0) }
    }
}

/// The clock of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoarseClock {
    resolution: ClockResolution,
    started: Instant,
    /// Since 1970, when it started.
    epoch: Duration,
}

impl CoarseClock {
    pub(crate) fn start(resolution: ClockResolution) -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { resolution, started: Instant::now(), epoch }
    }

    pub(crate) fn resolution(&self) -> ClockResolution {
        self.resolution
    }

    /// Where the guest's monotonic clock begins, since 1970.
    fn origin(&self) -> Duration {
        self.resolution.floor(self.epoch)
    }

    /// Since the guest's monotonic clock began, to the nanosecond. Never shown to the guest.
    fn precise(&self, now: Instant) -> Duration {
        self.epoch - self.origin() + now.saturating_duration_since(self.started)
    }

    /// What the monotonic clock shows.
    fn shown(&self, now: Instant) -> Duration {
        self.resolution.floor(self.precise(now))
    }

    /// How long a wait of this length lasts: it ends with a step, so that no order of waits
    /// tells what the clock does not.
    pub(crate) fn wait(&self, length: Duration) -> Duration {
        self.wait_at(length, Instant::now())
    }

    fn wait_at(&self, length: Duration, now: Instant) -> Duration {
        if length.is_zero() {
            return length;
        }
        let precise = self.precise(now);
        self.resolution.ceil(precise.saturating_add(length)) - precise
    }

    /// The same for a wait until the monotonic clock shows a time.
    pub(crate) fn wait_until(&self, when: Duration) -> Duration {
        self.wait_until_at(when, Instant::now())
    }

    fn wait_until_at(&self, when: Duration, now: Instant) -> Duration {
        if when <= self.shown(now) {
            return Duration::ZERO;
        }
        self.resolution.ceil(when).saturating_sub(self.precise(now))
    }

    /// How much time is left until then, as it will be at the end of the present step: never
    /// more than there is.
    pub(crate) fn remaining(&self, until: Instant) -> Duration {
        self.remaining_at(until, Instant::now())
    }

    fn remaining_at(&self, until: Instant, now: Instant) -> Duration {
        let next = self.shown(now) + self.resolution.0;
        self.resolution.floor(self.precise(until).saturating_sub(next))
    }
}

impl HostMonotonicClock for CoarseClock {
    fn resolution(&self) -> u64 {
        nanoseconds(self.resolution.0)
    }

    fn now(&self) -> u64 {
        nanoseconds(self.shown(Instant::now()))
    }
}

impl HostWallClock for CoarseClock {
    fn resolution(&self) -> Duration {
        self.resolution.0
    }

    /// The time of day goes on from when the call began: one that is set meanwhile is seen by
    /// the next call.
    fn now(&self) -> Duration {
        self.origin() + self.shown(Instant::now())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Steps of 10 ms, and 3 ms into one when it starts.
    fn clock() -> CoarseClock {
        let resolution = ClockResolution::from_microseconds(10_000).expect("within the bounds");
        CoarseClock { resolution, started: Instant::now(), epoch: ms(1_700_000_000_003) }
    }

    #[test]
    fn a_resolution_has_bounds() {
        for microseconds in [1, ClockResolution::MAX_MICROSECONDS] {
            ClockResolution::from_microseconds(microseconds).expect("a step");
        }
        for microseconds in [0, ClockResolution::MAX_MICROSECONDS + 1, u64::MAX] {
            assert_eq!(ClockResolution::from_microseconds(microseconds), Err(InvalidResolution { microseconds }));
        }
    }

    #[test]
    fn it_steps_with_the_time_of_day() {
        let clock = clock();
        let shown = |after| clock.shown(clock.started + ms(after));
        assert_eq!((shown(0), shown(6), shown(7), shown(16), shown(17)), (ms(0), ms(0), ms(10), ms(10), ms(20)));
        assert_eq!(clock.origin(), ms(1_700_000_000_000));
    }

    #[test]
    fn every_wait_ends_with_a_step_and_none_too_early() {
        let clock = clock();
        for after in 0..25 {
            let now = clock.started + ms(after);
            for length in 1..25 {
                let wait = clock.wait_at(ms(length), now);
                assert!(wait >= ms(length) && wait < ms(length + 10), "{after} {length}: {wait:?}");
                assert_eq!(clock.precise(now + wait), clock.shown(now + wait), "{after} {length}");
                let when = clock.shown(now) + ms(length);
                let wait = clock.wait_until_at(when, now);
                assert_eq!(clock.precise(now + wait), clock.shown(now + wait), "{after} {length}");
                assert!(clock.shown(now + wait) >= when, "{after} {length}");
            }
            assert_eq!(clock.wait_at(Duration::ZERO, now), Duration::ZERO);
            assert_eq!(clock.wait_until_at(clock.shown(now), now), Duration::ZERO);
        }
        assert!(clock.wait_at(Duration::MAX, clock.started) > ms(u64::from(u32::MAX)));
    }

    #[test]
    fn what_remains_changes_with_the_steps_alone_and_is_never_too_much() {
        let clock = clock();
        let until = clock.started + ms(104);
        let told: Vec<_> = (0..120).map(|after| clock.remaining_at(until, clock.started + ms(after))).collect();
        for (after, told) in told.iter().enumerate() {
            assert!(*told <= ms(104_u64.saturating_sub(after as u64)), "{after}: {told:?}");
            assert!(told.as_millis().is_multiple_of(10), "{after}: {told:?}");
        }
        let changes: Vec<_> = (1..120).filter(|after| told[*after] != told[after - 1]).collect();
        assert!(!changes.is_empty() && changes.iter().all(|after| after % 10 == 7), "{changes:?}");
    }
}
