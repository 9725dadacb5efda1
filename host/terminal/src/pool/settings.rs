//! What holds for all terminals of a host, and what is asked of one.

use std::{path::PathBuf, time::Duration};

use wharf_completion::Streams;
pub use wharf_contract::terminal::Restart;
use wharf_core::{ProcessLimits, TerminalLimits, grant::AllowedCommand};

use super::profile::ProfileSettings;
use crate::{PtyBackend, RecordingSettings, ShellIntegration, TerminalSize};

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
        }
    }
}

/// What a caller wants to have started.
#[derive(Debug, Clone)]
pub struct LaunchRequest<'w> {
    /// The program, or the shell.
    pub command: AllowedCommand<'w>,
    /// Arguments of the program.
    pub arguments: &'w [String],
    /// Where it starts: below the workspace, relative to it or as it is shown;
    /// empty for the workspace.
    pub directory: &'w str,
    /// Variables to set, in pairs of name and value.
    pub environment: &'w [(String, String)],
    /// How large the terminal is.
    pub size: TerminalSize,
    /// What kind of program it is: a profile of the operator's or a preset. What
    /// follows from the program where absent.
    pub profile: Option<&'w str>,
    /// Whether it is started again; what its profile says where absent.
    pub restart: Option<Restart>,
    /// How long it may be open; the grant's and the host's own limits hold,
    /// too.
    pub lifetime: Option<Duration>,
    /// Whether it is to be recorded.
    pub record: bool,
    /// Whether it must have a stream of events, without which it is not started.
    pub told: bool,
}

impl<'w> LaunchRequest<'w> {
    /// A command with every default.
    #[must_use]
    pub fn new(command: AllowedCommand<'w>) -> Self {
        Self {
            command,
            arguments: &[],
            directory: "",
            environment: &[],
            size: TerminalSize::default(),
            profile: None,
            restart: None,
            lifetime: None,
            record: false,
            told: false,
        }
    }
}
