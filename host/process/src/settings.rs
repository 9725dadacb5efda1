//! What the operator set for all processes of a host.
//!
//! Owns defaults alone: the code that enforces a setting reads it here.

use std::time::{Duration, SystemTime};

use wharf_core::{ProcessLimits, grant::GrantClock, handle::HandleMint};
use wharf_encryption::AtRest;

use crate::{output::OutputLimits, polls::PollRules};

/// As long as any wait may be set to: a year.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What holds for all processes of a host.
#[derive(Debug, Clone)]
pub struct ProcessSettings {
    /// Processes that a session may have starting or running at once; tenant and
    /// host as `limits` say.
    pub running_per_session: usize,
    /// Ended processes that a session keeps; the oldest goes first. Tenant and
    /// host as `limits` say.
    pub ended_per_session: usize,
    /// How long an ended process and its output are kept.
    pub tombstone_lifetime: Duration,
    /// What each of the two streams of a process may hold.
    pub output: OutputLimits,
    /// The longest that a process may run, whatever is asked for.
    pub lifetime: Duration,
    /// The longest wait that a call may ask for; a year at most.
    pub longest_wait: Duration,
    /// How the polls are judged.
    pub polls: PollRules,
    /// What each process may use up, and all of a session, a tenant and the host
    /// together, as the table of limits has it.
    pub limits: ProcessLimits,
    /// The clock by which starts and ends are stored: one that is never behind the time by
    /// which [`Processes::sweep`](crate::Processes::sweep) judges.
    pub clock: GrantClock,
    /// How records and output are stored: in the clear unless set.
    pub at_rest: AtRest,
    /// What makes the ids of processes: a host that stands alone unless set.
    pub handles: HandleMint,
}

impl ProcessSettings {
    /// The same with a wait that the clock can add to the present.
    pub(crate) fn bounded(self) -> Self {
        Self { longest_wait: self.longest_wait.min(LONGEST_WAIT), ..self }
    }
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self {
            running_per_session: 20,
            ended_per_session: 1_000,
            tombstone_lifetime: Duration::from_secs(24 * 60 * 60),
            output: OutputLimits::default(),
            lifetime: Duration::from_secs(24 * 60 * 60),
            longest_wait: Duration::from_secs(10 * 60),
            polls: PollRules::default(),
            limits: ProcessLimits::default(),
            clock: GrantClock::new(SystemTime::now),
            at_rest: AtRest::in_clear(),
            handles: HandleMint::default(),
        }
    }
}
