//! Why and how the host ends a process: on request, or where a limit is reached.
//!
//! Owns the reasons in words and the time that a process gets. `follow` carries it out.

use std::{future::pending, time::Duration};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

use crate::{Exit, KilledBy};

/// The longest that a stop leaves to a process to end by itself.
pub(super) const LONGEST_GRACE: Duration = Duration::from_secs(60);
/// How long a process that reached a limit of time may take to end by itself.
pub(super) const LIMIT_GRACE: Duration = Duration::from_secs(2);

/// Asks the task that follows a process to stop it.
#[derive(Debug)]
pub(super) struct StopRequest {
    pub(super) by: KilledBy,
    pub(super) grace: Duration,
    /// Told, or dropped, once nothing of it runs any more.
    pub(super) done: oneshot::Sender<()>,
}

impl StopRequest {
    pub(super) fn order(&self) -> TerminationOrder {
        let reason = match self.by {
            KilledBy::User => "it was stopped",
            KilledBy::Quota => "its session used up more than it may",
            KilledBy::TimeLimit => "its session ran for longer than it may",
            KilledBy::HostLost => "its host ended",
        };
        TerminationOrder { by: self.by, reason: reason.into(), grace: self.grace }
    }
}

/// The host's decision to end a process.
#[derive(Debug, Clone)]
pub(super) struct TerminationOrder {
    pub(super) by: KilledBy,
    /// A sentence for people.
    pub(super) reason: String,
    pub(super) grace: Duration,
}

impl TerminationOrder {
    /// The end that it makes, and why.
    pub(super) fn exit(&self) -> (Exit, Option<String>) {
        (Exit::Killed { by: self.by }, Some(self.reason.clone()))
    }
}

/// How long a process may run and be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimits {
    pub(super) deadline: Option<Instant>,
    pub(super) lifetime: Duration,
    pub(super) silence: Option<Duration>,
}

impl TimeLimits {
    /// Returns once the process has run for longer than it may.
    pub(super) async fn over(&self) -> TerminationOrder {
        match self.deadline {
            Some(deadline) => sleep_until(deadline).await,
            // Beyond what the clock can tell.
            None => pending().await,
        }
        let reason = format!("it ran for longer than {} s", self.lifetime.as_secs_f64());
        TerminationOrder { by: KilledBy::TimeLimit, reason, grace: LIMIT_GRACE }
    }
}
