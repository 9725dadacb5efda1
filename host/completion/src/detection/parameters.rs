//! The numbers that a detector goes by, and where each comes from.

use std::time::Duration;

use wharf_contract::turn::Parameter;

use super::{Prompts, Tuning};

/// The longest time that a detector takes for any parameter.
pub const LONGEST_MILLISECONDS: u64 = 24 * 60 * 60 * 1_000;

pub(super) const MAX_ATTEMPTS: u32 = 100_000;

/// How a detector decides. "004" is the design document on the completion of
/// streams, "001" the one on interactive sessions, "facts" what was measured
/// with terminals; the rest was chosen, and says why.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// How long a poll waits. 004: 15 s.
    pub wait_for_data: Duration,
    /// How many attempts a turn may take. 004: 30, which it calls 7.5 minutes;
    /// so that they are no fewer, a poll that ends sooner than nine tenths of
    /// `wait_for_data` after the last attempt is not one of its own.
    pub max_attempts: u32,
    /// How many attempts in a row that found nothing end a turn. 004: 3. An
    /// attempt is empty only where nothing at all came for nine tenths of
    /// `wait_for_data`.
    pub consecutive_empty_polls: u32,
    /// Whether they do so though the program is known to work, as where somebody
    /// asked for their number.
    pub empty_polls_while_busy: bool,
    /// How long a turn may be silent once something came. 004: 60 s.
    pub inactivity_timeout: Duration,
    /// The same while the program is known not to wait for input, when silence means
    /// less. 60 s: what 004 grants where it knows nothing. A caller that sets
    /// `inactivity_timeout` alone sets this one, too.
    pub busy_inactivity_timeout: Duration,
    /// How long a turn may last. 450 s: what 004's 30 attempts of 15 s take.
    pub time_limit: Duration,
    /// How long a status that says "done" must hold. 004 warns that `ready`
    /// may be passing and names no time; 500 ms is half of what counts as
    /// late. It is doubled in a turn in which a `ready` did pass, and until the
    /// agent said that it works, since `ready` may be older than the input.
    pub settle: Duration,
    /// How long after the process's end, or the stream's, one waits for the
    /// other. Facts: 50 to 100 ms at most.
    pub drain: Duration,
    /// How long a terminal is quiet before a strict prompt counts, or a broad
    /// one of a program that is known to wait. Facts ask for a short quiet
    /// time; output of one burst comes within few milliseconds, so 200 ms
    /// leave room on a busy machine.
    pub strict_quiet: Duration,
    /// The same for what only may be a prompt, and before the echo of the
    /// input was seen. 2 s: below the 3 s after which 001 believes silence
    /// alone.
    pub broad_quiet: Duration,
    /// What prompts look like.
    pub prompts: Prompts,
    /// Whether `inactivity_timeout` follows what this source usually takes.
    pub adaptation: Option<Adaptation>,
}

impl Default for Parameters {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            wait_for_data: seconds(15),
            max_attempts: 30,
            consecutive_empty_polls: 3,
            empty_polls_while_busy: false,
            inactivity_timeout: seconds(60),
            busy_inactivity_timeout: seconds(60),
            time_limit: seconds(450),
            settle: Duration::from_millis(500),
            drain: Duration::from_millis(100),
            strict_quiet: Duration::from_millis(200),
            broad_quiet: seconds(2),
            prompts: Prompts::standard(),
            adaptation: None,
        }
    }
}

/// The bounds of an inactivity limit that adapts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptation {
    /// Never shorter.
    pub shortest: Duration,
    /// Never longer.
    pub longest: Duration,
}

impl Default for Adaptation {
    /// Between 30 s and 120 s, which 004 calls sensitive and patient.
    fn default() -> Self {
        Self { shortest: Duration::from_secs(30), longest: Duration::from_secs(120) }
    }
}

/// Why a detector cannot work so, by the names of [`Tuning`] and in its units.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidParameter {
    /// A time is too short or too long.
    #[error("`{name}` must be from 1 to {}, not {}", LONGEST_MILLISECONDS, given.as_millis())]
    Time {
        /// Which one.
        name: &'static str,
        /// What was asked for.
        given: Duration,
    },
    /// A count is too small or too large.
    #[error("`{name}` must be from 1 to {ceiling}, not {given}")]
    Count {
        /// Which one.
        name: &'static str,
        /// What was asked for.
        given: u32,
        /// What is allowed at most.
        ceiling: u32,
    },
    /// A rule could never fire, since another always comes first.
    #[error("`{shorter}` ({}) must not exceed `{longer}` ({})", shorter_is.as_millis(), longer_is.as_millis())]
    Order {
        /// What should be shorter.
        shorter: &'static str,
        /// What it is.
        shorter_is: Duration,
        /// What should be longer.
        longer: &'static str,
        /// What it is.
        longer_is: Duration,
    },
}

impl Parameters {
    /// Whether a detector can work so.
    ///
    /// # Errors
    /// The first that is out of range, or that keeps another from ever
    /// counting.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        for (name, given) in [
            (WAIT, self.wait_for_data),
            (INACTIVITY, self.inactivity_timeout),
            (BUSY, self.busy_inactivity_timeout),
            (LIMIT, self.time_limit),
            (SETTLE, self.settle),
            (DRAIN, self.drain),
            (STRICT, self.strict_quiet),
            (BROAD, self.broad_quiet),
        ] {
            time(name, given)?;
        }
        count(Parameter::MaxAttempts.as_str(), self.max_attempts, MAX_ATTEMPTS)?;
        count(Parameter::ConsecutiveEmptyPolls.as_str(), self.consecutive_empty_polls, self.max_attempts)?;
        order((STRICT, self.strict_quiet), (BROAD, self.broad_quiet))?;
        order((BROAD, self.broad_quiet), (INACTIVITY, self.inactivity_timeout))?;
        order((INACTIVITY, self.inactivity_timeout), (BUSY, self.busy_inactivity_timeout))?;
        order((BUSY, self.busy_inactivity_timeout), (LIMIT, self.time_limit))?;
        order((SETTLE, self.settle), (LIMIT, self.time_limit))?;
        self.adaptation.map_or(Ok(()), |bounds| self.validate_adaptation(bounds))
    }

    /// Whether silence can adapt within these bounds.
    pub(super) fn validate_adaptation(&self, bounds: Adaptation) -> Result<(), InvalidParameter> {
        let (shortest, longest) = ((SHORTEST, bounds.shortest), (LONGEST, bounds.longest));
        time(shortest.0, shortest.1)?;
        time(longest.0, longest.1)?;
        order((BROAD, self.broad_quiet), shortest)?;
        order(shortest, longest)?;
        order(longest, (LIMIT, self.time_limit))
    }

    /// The same with what one turn wants to be otherwise. What may not exceed
    /// a shorter limit is shortened with it.
    ///
    /// # Errors
    /// Where a time is out of range.
    pub fn limited(
        self,
        inactivity_timeout: Option<Duration>,
        time_limit: Option<Duration>,
    ) -> Result<Self, InvalidParameter> {
        let limit = time_limit.unwrap_or(self.time_limit);
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let tuning = Tuning {
            inactivity_timeout_milliseconds: inactivity_timeout.map(|time| milliseconds(time.min(limit))),
            time_limit_milliseconds: time_limit.map(milliseconds),
            ..Tuning::default()
        };
        self.tuned(&tuning)
    }

    /// What must lie between two attempts: a poll that ends a little early is
    /// forgiven, ones that do not wait are not counted.
    pub(super) fn attempt_distance(&self) -> Duration {
        self.wait_for_data * 9 / 10
    }
}

// The names that configurations and clients write.
pub(super) const WAIT: &str = Parameter::WaitForData.as_str();
pub(super) const INACTIVITY: &str = Parameter::InactivityTimeout.as_str();
pub(super) const BUSY: &str = Parameter::BusyInactivityTimeout.as_str();
pub(super) const LIMIT: &str = Parameter::TimeLimit.as_str();
pub(super) const SETTLE: &str = Parameter::Settle.as_str();
pub(super) const DRAIN: &str = Parameter::Drain.as_str();
pub(super) const STRICT: &str = Parameter::StrictQuiet.as_str();
pub(super) const BROAD: &str = Parameter::BroadQuiet.as_str();
pub(super) const SHORTEST: &str = Parameter::AdaptiveShortest.as_str();
pub(super) const LONGEST: &str = Parameter::AdaptiveLongest.as_str();

/// A time that a client gave under this name.
///
/// # Errors
/// [`InvalidParameter::Time`].
pub fn given_time(name: &'static str, milliseconds: Option<u64>) -> Result<Option<Duration>, InvalidParameter> {
    let Some(given) = milliseconds.map(Duration::from_millis) else { return Ok(None) };
    time(name, given)?;
    Ok(Some(given))
}

fn time(name: &'static str, given: Duration) -> Result<(), InvalidParameter> {
    if given < Duration::from_millis(1) || given > Duration::from_millis(LONGEST_MILLISECONDS) {
        Err(InvalidParameter::Time { name, given })
    } else {
        Ok(())
    }
}

fn count(name: &'static str, given: u32, ceiling: u32) -> Result<(), InvalidParameter> {
    if given == 0 || given > ceiling { Err(InvalidParameter::Count { name, given, ceiling }) } else { Ok(()) }
}

pub(super) fn order(
    (shorter, shorter_is): (&'static str, Duration),
    (longer, longer_is): (&'static str, Duration),
) -> Result<(), InvalidParameter> {
    if shorter_is > longer_is {
        return Err(InvalidParameter::Order { shorter, shorter_is, longer, longer_is });
    }
    Ok(())
}
