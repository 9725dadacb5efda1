//! The host's own confinement: what a process that serves gives up for good, so that an attacker who takes it over
//! has little of the machine.
//!
//! The parts of the host that start programs, or look at them, stay outside: see `outside`. Knows nothing of
//! configuration; its caller says which paths the host needs.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod user;

use std::path::PathBuf;

use crate::MissingAbility;

#[cfg(target_os = "linux")]
pub use linux::{confine_host, confinement_offered, is_confined};
#[cfg(target_os = "linux")]
pub use user::{SystemUser, UserError};

/// What a host keeps beside the files of the system that its libraries read. A path that is not there is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files and directories that it reads.
    pub readable: Vec<PathBuf>,
    /// Files and directories that it reads and writes.
    pub writable: Vec<PathBuf>,
    /// Directories in which it makes sockets, and has nothing else.
    pub sockets: Vec<PathBuf>,
    /// Whether it listens at ports below 1024, where it has the right to now.
    pub low_ports: bool,
    /// Whether it sends to sockets without a file (abstract ones), as systemd may ask for.
    pub abstract_sockets: bool,
}

/// What holds of a process, and what does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfinementReport {
    /// What holds, each in a few words for people.
    pub holds: Vec<String>,
    /// What this machine lacks.
    pub missing: Vec<MissingAbility>,
}

impl ConfinementReport {
    /// Whether nothing is missing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// What is missing, in a line; nothing where all is there.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let missing: Vec<_> = self.missing.iter().map(|missing| missing.0.as_str()).collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    }
}

/// Why a process was not confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// Threads that run already would keep what this one gives up.
    #[error(
        "this process has {0} threads already, and all but one would stay unconfined: confine it before it starts any"
    )]
    Threads(usize),
    /// It is confined already, and what it has given up does not come back.
    #[error("this process is confined already")]
    Again,
    /// The part that starts programs cannot run beside the host.
    #[error("the part of the host that starts programs cannot be started")]
    Keeper(#[source] std::io::Error),
    /// The system refused a step after others were taken.
    #[error("cannot {step}")]
    Step {
        /// The step, for people.
        step: &'static str,
        /// Why not.
        source: std::io::Error,
    },
}

/// Confines nothing: only Linux has what it takes.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn confine_host(_: &Confinement) -> Result<ConfinementReport, ConfineError> {
    Ok(confinement_offered())
}

/// What would hold of a host that confines itself here.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn confinement_offered() -> ConfinementReport {
    let missing = MissingAbility("only on Linux can a host confine itself".to_owned());
    ConfinementReport { holds: Vec::new(), missing: vec![missing] }
}

/// Whether this process is confined.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_confined() -> bool {
    false
}
