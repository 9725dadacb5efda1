//! Time that does not jump: the wall clock counts only as far as time has really passed.
//!
//! A clock that is set five years ahead, by mistake or by a broken battery, would otherwise
//! end everything that expires. So a host keeps two times. It stamps a use with
//! the later one of the wall clock and the counted time, and judges expiry
//! by the earlier one. A stamp is then never too old, whichever of the two is
//! wrong, and nothing expires before its time has really passed.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;

use crate::clock::{Clock, SystemClock, Uptime, duration_milliseconds, from_milliseconds, to_milliseconds};

/// Largest difference between the wall clock and the counted time that raises no doubt, and
/// the longest time off for which a host believes the wall clock.
pub const MOST_PAUSE: Duration = Duration::from_secs(7 * 24 * 3_600);

/// The time of a host. Clones share one count.
#[derive(Debug, Clone)]
pub struct HostTime(Arc<TimeCounter>);

#[derive(Debug)]
struct TimeCounter {
    clock: Arc<dyn Clock>,
    // A blocking lock: held for a copy.
    anchor: Mutex<Anchor>,
}

/// A moment of the count, and the time that the clock had elapsed at that moment.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    counted: i64,
    elapsed: Duration,
}

/// A moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The moment by which expiry is judged.
    pub(crate) passed: i64,
    /// The moment with which a use is stamped.
    pub(crate) stamp: i64,
}

/// A difference between the wall clock and the counted time that no usual pause explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockDoubt {
    /// The time of the wall clock.
    pub wall: SystemTime,
    /// The counted time.
    pub counted: SystemTime,
}

impl HostTime {
    /// Begins to count at the time of the clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let anchor = Anchor { counted: to_milliseconds(clock.now()), elapsed: clock.elapsed() };
        Self(Arc::new(TimeCounter { clock, anchor: Mutex::new(anchor) }))
    }

    /// The time with which a use is stamped: no later judgement takes it for older than it is.
    #[must_use]
    pub fn stamp(&self) -> SystemTime {
        from_milliseconds(self.moment().stamp)
    }

    /// The time by which expiry is judged.
    #[must_use]
    pub fn passed(&self) -> SystemTime {
        from_milliseconds(self.moment().passed)
    }

    /// The doubt about the wall clock, where there is one.
    #[must_use]
    pub fn doubt(&self) -> Option<ClockDoubt> {
        ClockDoubt::between(self.counted(), self.wall())
    }

    pub(crate) fn moment(&self) -> Moment {
        let (counted, wall) = (self.counted(), self.wall());
        Moment { passed: counted.min(wall), stamp: counted.max(wall) }
    }

    /// The counted time, in milliseconds since 1970.
    pub(crate) fn counted(&self) -> i64 {
        let anchor = *self.0.anchor.lock();
        let since = self.0.clock.elapsed().saturating_sub(anchor.elapsed);
        anchor.counted.saturating_add(duration_milliseconds(since))
    }

    pub(crate) fn wall(&self) -> i64 {
        to_milliseconds(self.0.clock.now())
    }

    pub(crate) fn uptime(&self) -> Option<Uptime> {
        self.0.clock.uptime()
    }

    /// Continues the count from here.
    pub(crate) fn set(&self, counted: i64) {
        let anchor = Anchor { counted, elapsed: self.0.clock.elapsed() };
        *self.0.anchor.lock() = anchor;
    }
}

impl Default for HostTime {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl std::fmt::Display for ClockDoubt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |time: SystemTime| chrono::DateTime::<chrono::Utc>::from(time).format("%Y-%m-%d %H:%M UTC");
        let (wall, counted) = (shown(self.wall), shown(self.counted));
        write!(
            formatter,
            "the clock of this machine says {wall}, and hosts have counted time up to {counted} only; \
             until the difference is explained, things expire by the time that really passes, and by nothing that \
             the clock says"
        )
    }
}

impl ClockDoubt {
    /// The doubt of two times in milliseconds since 1970, where they are too far apart.
    #[must_use]
    pub fn between(counted: i64, wall: i64) -> Option<Self> {
        let apart = counted.abs_diff(wall) > duration_milliseconds(MOST_PAUSE).unsigned_abs();
        apart.then(|| Self { wall: from_milliseconds(wall), counted: from_milliseconds(counted) })
    }
}

/// The counted time after a pause in which no host counted: the wall clock is believed
/// for as long as a machine is usually off.
pub(crate) fn after_pause(last: i64, wall: i64) -> i64 {
    let believed = wall >= last && wall - last <= duration_milliseconds(MOST_PAUSE);
    if believed { wall } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    const YEARS: Duration = Duration::from_secs(5 * 365 * 24 * 3_600);
    const DAY: Duration = Duration::from_secs(24 * 3_600);

    #[test]
    fn a_clock_that_jumps_moves_no_judgement_and_makes_no_stamp_older() {
        let start = SystemTime::UNIX_EPOCH + 2 * YEARS;
        let clock = Arc::new(ManualClock::starting_at(start));
        let time = HostTime::new(Arc::clone(&clock) as Arc<dyn Clock>);
        clock.advance(DAY);
        assert_eq!((time.passed(), time.stamp(), time.doubt()), (start + DAY, start + DAY, None));
        clock.set(start + YEARS);
        assert_eq!((time.passed(), time.stamp()), (start + DAY, start + YEARS));
        let doubt = time.doubt().expect("a doubt").to_string();
        assert!(doubt.contains("says 1984-12-28") && doubt.contains("up to 1979-12-31"), "{doubt}");
        clock.set(start);
        clock.advance(DAY);
        assert_eq!((time.passed(), time.stamp(), time.doubt()), (start + DAY, start + 2 * DAY, None));
        clock.set(SystemTime::UNIX_EPOCH);
        assert_eq!(time.stamp(), start + 2 * DAY, "a use under a clock that is behind is not old tomorrow");
        assert!(time.doubt().is_some());
    }

    #[test]
    fn the_clock_is_believed_for_as_long_as_a_machine_is_usually_off() {
        let week = duration_milliseconds(MOST_PAUSE);
        assert_eq!(after_pause(1_000, 1_000 + week), 1_000 + week);
        assert_eq!(after_pause(1_000, 1_001 + week), 1_000);
        assert_eq!(after_pause(1_000, 0), 1_000);
    }

    #[test]
    fn the_machine_says_how_long_it_runs() {
        let (one, other) = (SystemClock.uptime().expect("Linux says it"), SystemClock.uptime().expect("Linux says it"));
        assert_eq!(one.boot, other.boot);
        assert!(one.since > Duration::ZERO && one.since <= other.since && !one.boot.is_empty());
    }
}
