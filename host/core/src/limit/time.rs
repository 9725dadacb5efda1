//! The clocks of a call, and of what waits for one, made of the limits.

use std::time::{Duration, Instant};

use super::{CallLimits, HostLimits};
use crate::{Code, Error};

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime {
    /// From start to answer.
    pub time: Duration,
    /// What to change for another time, in words for an error.
    pub decided_by: &'static str,
}

/// What is left of the clocks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLeft {
    /// How long it may still compute.
    pub computing: Duration,
    /// When it has to be answered.
    pub until: Instant,
    /// How long it may take from start to answer.
    pub wall_time: WallTime,
}

impl WallTime {
    /// The clocks of a call that starts now.
    #[must_use]
    pub fn start(self, limits: &CallLimits) -> TimeLeft {
        TimeLeft { computing: limits.cpu_time(), until: Instant::now() + self.time, wall_time: self }
    }

    /// The same for a call whose arguments took so much computing to check.
    #[must_use]
    pub fn start_after(self, limits: &CallLimits, computed: Duration) -> TimeLeft {
        let time = self.start(limits);
        TimeLeft { computing: time.computing.saturating_sub(computed), ..time }
    }

    /// What the client is told of a call that took longer.
    #[must_use]
    pub fn exceeded(&self) -> Error {
        Error::new(
            Code::Timeout,
            format!(
                "the tool did not answer within {} ms and was stopped ({})",
                self.time.as_millis(),
                self.decided_by
            ),
        )
    }
}

impl CallLimits {
    /// How much a call may compute.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        Duration::from_millis(self.cpu_time_milliseconds)
    }

    /// What the client is told of a call that computed for longer.
    #[must_use]
    pub fn cpu_time_exceeded(limit: Duration) -> Error {
        let told = format!(
            "the tool computed for more than {} ms and was stopped (limit `cpu_time_milliseconds`)",
            limit.as_millis()
        );
        Error::new(Code::Timeout, told)
    }

    /// How long a call may take whose tool declares `declared` for itself, and
    /// what decided it.
    #[must_use]
    pub fn wall_time(&self, declared: Option<Duration>) -> WallTime {
        let ceiling = Duration::from_millis(self.wall_time_ceiling_milliseconds);
        match declared {
            None => WallTime {
                time: Duration::from_millis(self.wall_time_milliseconds),
                decided_by: "limit `wall_time_milliseconds`",
            },
            Some(declared) if declared > ceiling => {
                WallTime { time: ceiling, decided_by: "limit `wall_time_ceiling_milliseconds`" }
            }
            Some(declared) => {
                WallTime { time: declared.max(Duration::from_millis(1)), decided_by: "the tool's own declaration" }
            }
        }
    }
}

impl HostLimits {
    /// How long a call waits for its turn.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_milliseconds)
    }

    /// How long plugins are waited for when resources are listed.
    #[must_use]
    pub fn listing(&self) -> Duration {
        Duration::from_millis(self.listing_milliseconds)
    }
}
