//! The numbers that a detector goes by, and where each comes from.

use std::time::Duration;

use super::Prompts;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
    /// How long a turn may be silent once something came. 004: 60 s.
    pub inactivity_timeout: Duration,
    /// The same while the program is known not to wait for input, which makes
    /// silence mean less. 60 s: what 004 grants where it knows nothing.
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

/// Why a detector cannot work so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidParameter {
    /// A time is too short or too long.
    #[error("`{name}` must be from 1 ms to 24 h, not {given:?}")]
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
    #[error("`{shorter}` ({shorter_is:?}) must not exceed `{longer}` ({longer_is:?})")]
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
        let bounds = self.adaptation.unwrap_or_default();
        let times = [
            ("wait_for_data", self.wait_for_data),
            ("inactivity_timeout", self.inactivity_timeout),
            ("busy_inactivity_timeout", self.busy_inactivity_timeout),
            ("time_limit", self.time_limit),
            ("settle", self.settle),
            ("drain", self.drain),
            ("strict_quiet", self.strict_quiet),
            ("broad_quiet", self.broad_quiet),
            ("adaptation.shortest", bounds.shortest),
            ("adaptation.longest", bounds.longest),
        ];
        for (name, given) in times {
            if given < Duration::from_millis(1) || given > DAY {
                return Err(InvalidParameter::Time { name, given });
            }
        }
        count("max_attempts", self.max_attempts, 100_000)?;
        count("consecutive_empty_polls", self.consecutive_empty_polls, self.max_attempts)?;
        order(("strict_quiet", self.strict_quiet), ("broad_quiet", self.broad_quiet))?;
        order(("broad_quiet", self.broad_quiet), ("inactivity_timeout", self.inactivity_timeout))?;
        order(
            ("inactivity_timeout", self.inactivity_timeout),
            ("busy_inactivity_timeout", self.busy_inactivity_timeout),
        )?;
        order(("busy_inactivity_timeout", self.busy_inactivity_timeout), ("time_limit", self.time_limit))?;
        order(("settle", self.settle), ("time_limit", self.time_limit))?;
        if self.adaptation.is_some() {
            order(("broad_quiet", self.broad_quiet), ("adaptation.shortest", bounds.shortest))?;
            order(("adaptation.shortest", bounds.shortest), ("adaptation.longest", bounds.longest))?;
            order(("adaptation.longest", bounds.longest), ("time_limit", self.time_limit))?;
        }
        Ok(())
    }

    /// The same with what one turn wants to be otherwise. What may not exceed
    /// a shorter limit is shortened with it.
    #[must_use]
    pub fn limited(mut self, inactivity_timeout: Option<Duration>, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit.unwrap_or(self.time_limit);
        let limit = self.time_limit;
        self.inactivity_timeout = inactivity_timeout.unwrap_or(self.inactivity_timeout).min(limit);
        self.busy_inactivity_timeout = self.busy_inactivity_timeout.max(self.inactivity_timeout).min(limit);
        self.broad_quiet = self.broad_quiet.min(self.inactivity_timeout);
        self.strict_quiet = self.strict_quiet.min(self.broad_quiet);
        self.settle = self.settle.min(limit);
        self
    }

    /// What must lie between two attempts: a poll that ends a little early is
    /// forgiven, ones that do not wait are not counted.
    pub(super) fn attempt_distance(&self) -> Duration {
        self.wait_for_data * 9 / 10
    }
}

fn count(name: &'static str, given: u32, ceiling: u32) -> Result<(), InvalidParameter> {
    if given == 0 || given > ceiling { Err(InvalidParameter::Count { name, given, ceiling }) } else { Ok(()) }
}

fn order(
    (shorter, shorter_is): (&'static str, Duration),
    (longer, longer_is): (&'static str, Duration),
) -> Result<(), InvalidParameter> {
    if shorter_is > longer_is {
        return Err(InvalidParameter::Order { shorter, shorter_is, longer, longer_is });
    }
    Ok(())
}
