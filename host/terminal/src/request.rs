//! The program that a session is to run, and what it may do.
//!
//! Never starts it.

use std::{ffi::OsString, path::PathBuf};

#[cfg(target_os = "linux")]
use wharf_spawn::{ChildInput, ChildOutput, SpawnRequest};
use wharf_spawn::{ChildLimits, Containment};

use crate::{HistoryLimits, InputRules, PtyBackend, ShellIntegration, TerminalSize};

/// What programs are told about the terminal where the request does not say:
/// they print what is normalised here.
const TERM: &str = "xterm-256color";

/// A program to run in a terminal of its own.
#[derive(Debug, Clone)]
pub struct TerminalRequest {
    /// Absolute path of the program, as it will see the file system.
    pub program: PathBuf,
    /// Its arguments, its own name not included.
    pub arguments: Vec<OsString>,
    /// Its whole environment, but for `TERM`, which is `xterm-256color` where
    /// it is not given.
    pub environment: Vec<(OsString, OsString)>,
    /// Absolute path of the directory in which it starts, as it will see it.
    pub working_directory: PathBuf,
    /// What opens the terminal.
    pub pty: PtyBackend,
    /// How large the terminal is.
    pub size: TerminalSize,
    /// What is kept of its output.
    pub history: HistoryLimits,
    /// What may not be typed.
    pub rules: InputRules,
    /// Where a shell finds what makes it say when its commands end. Nothing
    /// changes for other programs.
    pub integration: Option<ShellIntegration>,
    /// What it may use up.
    pub limits: ChildLimits,
    /// What it may reach.
    pub containment: Containment,
    /// The user that it is, where it is not the host's own.
    pub user: Option<u32>,
}

/// Programs that run others in their terminal and say so by the process group
/// in the foreground.
const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

impl TerminalRequest {
    /// Whether the program is a shell.
    pub(crate) fn is_shell(&self) -> bool {
        self.program.file_name().is_some_and(|name| SHELLS.iter().any(|shell| name == *shell))
    }

    /// Its environment with `TERM`.
    pub(crate) fn whole_environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment = self.environment.clone();
        if !environment.iter().any(|(name, _)| name == "TERM") {
            environment.push(("TERM".into(), TERM.into()));
        }
        environment
    }

    /// The child, with the program's end of a terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn into_child(self, terminal: std::fs::File) -> SpawnRequest {
        SpawnRequest {
            environment: self.whole_environment(),
            program: self.program,
            arguments: self.arguments,
            working_directory: self.working_directory,
            stdin: ChildInput::Terminal(terminal),
            stdout: ChildOutput::Terminal,
            stderr: ChildOutput::Terminal,
            descriptors: Vec::new(),
            limits: self.limits,
            containment: self.containment,
            user: self.user,
        }
    }
}
