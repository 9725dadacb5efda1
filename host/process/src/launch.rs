//! What this room asks of whoever starts children.
//!
//! Owns the shape of the question and nothing else: how a child is supervised,
//! limited and contained is the launcher's business.

use std::{ffi::OsString, fmt, io, os::fd::OwnedFd, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// Starts children. The one who does must see to it that none of them outlives
/// the host.
#[async_trait]
pub trait Launch: Send + Sync + 'static {
    /// Starts a child as the leader of its own process group.
    ///
    /// # Errors
    /// Where it could not be started; then nothing is left of it, and the
    /// descriptors of the request are closed.
    async fn launch(&self, request: LaunchRequest) -> Result<Arc<dyn Child>, LaunchError>;
}

/// A child, and everything that descends from it.
#[async_trait]
pub trait Child: Send + Sync + fmt::Debug {
    /// The process id of the leader, for people to read.
    fn pid(&self) -> u32;

    /// Waits until the leader has ended, however long its descendants live.
    /// May be dropped and asked again, and answers as often as it is asked.
    async fn wait(&self) -> ChildExit;

    /// Sends a signal to the leader's group.
    ///
    /// # Errors
    /// Where nobody is left to receive it.
    fn signal(&self, signal: Signal) -> io::Result<()>;

    /// Kills leader, group and whoever else descends from it, and returns once
    /// none of them runs.
    async fn kill_tree(&self);

    /// How many descendants of the leader live, itself not counted.
    fn descendants(&self) -> usize;
}

/// What to start. The standard streams are ends of pipes that this room made;
/// the launcher hands them to the child and keeps no copy.
#[derive(Debug)]
pub struct LaunchRequest {
    /// The program: a path, or a name to look for in the `PATH` given below.
    pub program: OsString,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// Its environment: exactly this.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub directory: PathBuf,
    /// What it reads; nothing where absent.
    pub stdin: Option<OwnedFd>,
    /// Where its output goes.
    pub stdout: OwnedFd,
    /// Where its errors go.
    pub stderr: OwnedFd,
}

/// How the leader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildExit {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal, of this number.
    Signaled(i32),
    /// Nobody knows: its supervisor was lost, and the tree with it.
    Unknown,
}

/// Why a child was not started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It may not be started as asked, such as without containment.
    #[error("{reason}")]
    Refused {
        /// What forbids it.
        reason: String,
    },
    /// The program does not exist or cannot be run.
    #[error("the program {program:?} cannot be run")]
    Failed {
        /// Which program.
        program: OsString,
        /// What the system says.
        source: io::Error,
    },
    /// The machine has no place for it now.
    #[error("the system cannot start a process now")]
    Unavailable {
        /// What the system says.
        source: io::Error,
    },
}

/// The signals that may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// SIGHUP: many services read their configuration again.
    Hangup,
    /// SIGINT: what control-C sends.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGTERM: asks to end.
    Terminate,
    /// SIGKILL: ends at once.
    Kill,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
    /// SIGCONT: goes on after a stop.
    Continue,
}
