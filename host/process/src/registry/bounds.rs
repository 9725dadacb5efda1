//! What bounds one process.

use std::time::Duration;

use wharf_spawn::{ChildLimits, Containment};

/// What a process may use up and reach.
#[derive(Debug, Clone)]
pub struct ProcessBounds {
    /// How long it may run.
    pub lifetime: Duration,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
    /// What each of its processes may use up.
    pub limits: ChildLimits,
    /// What it may reach.
    pub containment: Containment,
    /// The user that it is, where it is not the host's own.
    pub user: Option<u32>,
}
