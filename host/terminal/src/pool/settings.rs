//! What the operator set for all terminals of a host.
//!
//! Owns defaults alone: the code that enforces a setting reads it here.

use std::{path::PathBuf, time::Duration};

use wharf_completion::Streams;
pub use wharf_contract::terminal::Restart;
use wharf_core::{ProcessLimits, TerminalLimits, handle::HandleMint};
use wharf_encryption::AtRest;

use crate::{ProfileSettings, PtyBackend, RecordingSettings, ShellIntegration};

/// What holds for all terminals of a host.
#[derive(Debug, Clone)]
pub struct TerminalPoolSettings {
    /// What opens terminals.
    pub pty: PtyBackend,
    /// How many there are, how long, and what is kept of them.
    pub limits: TerminalLimits,
    /// What each program may use up.
    pub children: ProcessLimits,
    /// Whether programs that crash are started again, where neither the caller
    /// nor the program's profile says otherwise.
    pub restart: Restart,
    /// How long the first restart waits; each further one twice as long.
    pub first_backoff: Duration,
    /// The longest that a restart waits.
    pub longest_backoff: Duration,
    /// What is known of programs, before what is built in; the first that
    /// matches holds.
    pub profiles: Vec<ProfileSettings>,
    /// What has shells say when their commands end; without it they are judged
    /// by their prompts.
    pub integration: Option<ShellIntegration>,
    /// Where recordings go; without it there are none.
    pub recording: Option<RecordingSettings>,
    /// Where each terminal has a stream of events; without it none has.
    pub streams: Option<Streams>,
    /// Where terminals are recorded that are lost with their host; without it
    /// nothing of them is known afterwards. Several hosts may share it.
    pub records: Option<PathBuf>,
    /// How recordings, and what is kept of lost terminals, are stored: in the clear unless set.
    pub at_rest: AtRest,
    /// What makes the ids of terminals: a host that stands alone unless set.
    pub handles: HandleMint,
}

impl Default for TerminalPoolSettings {
    fn default() -> Self {
        Self {
            pty: PtyBackend::default(),
            limits: TerminalLimits::default(),
            children: ProcessLimits::default(),
            restart: Restart::OnCrash,
            first_backoff: Duration::from_millis(500),
            longest_backoff: Duration::from_secs(30),
            profiles: Vec::new(),
            recording: None,
            integration: None,
            streams: None,
            records: None,
            at_rest: AtRest::in_clear(),
            handles: HandleMint::default(),
        }
    }
}
