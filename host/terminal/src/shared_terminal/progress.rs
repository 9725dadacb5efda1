//! How far a session has come, and how its program ended.
//!
//! Owns the states that can be waited for. Never changes one.

use wharf_contract::terminal::OutcomeKind;

use crate::ShellMark;

/// Where a session stands. Whether it is busy is not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionPhase {
    /// The program runs, has printed nothing, and nothing was typed.
    Starting,
    /// It has printed something, or something was typed.
    Ready,
    /// It has ended.
    Closed,
}

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramExit {
    /// By itself, with this code.
    Exited {
        /// 0 for success.
        code: i32,
    },
    /// By a signal that was not the host's way of ending it.
    Signaled {
        /// The number of the signal.
        signal: i32,
    },
    /// The host ended it, whatever the program made of that.
    Killed {
        /// For whom.
        by: KilledBy,
    },
}

impl ProgramExit {
    /// How that is called in the contract.
    #[must_use]
    pub fn kind(self) -> OutcomeKind {
        match self {
            Self::Exited { .. } => OutcomeKind::Exited,
            Self::Signaled { .. } => OutcomeKind::Signaled,
            Self::Killed { .. } => OutcomeKind::Killed,
        }
    }
}

/// On whose account the host ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KilledBy {
    /// A caller, who closed the session.
    User,
    /// The supervisor of the program was killed, and the program with it.
    HostLost,
}

/// How far a session has come. Cursors count bytes from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionProgress {
    /// Where it stands.
    pub phase: SessionPhase,
    /// How the program ended, once it has.
    pub exit: Option<ProgramExit>,
    /// Processes that the program left behind when it ended.
    pub descendants: u32,
    /// A process still holds the terminal, be it only a descendant.
    pub terminal_open: bool,
    /// Nothing of the session runs any more.
    pub finished: bool,
    /// Behind the last byte that came.
    pub raw_bytes: u64,
    /// Behind the last byte of text.
    pub text_bytes: u64,
    /// How many marks of shells there have been.
    pub marks: u64,
    /// How often the program was started again.
    pub restarts: u32,
}

impl SessionProgress {
    pub(crate) const START: Self = Self {
        phase: SessionPhase::Starting,
        exit: None,
        descendants: 0,
        terminal_open: true,
        finished: false,
        raw_bytes: 0,
        text_bytes: 0,
        marks: 0,
        restarts: 0,
    };
}

/// A mark of a shell, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedMark {
    /// How many marks were before it.
    pub number: u64,
    /// The text before it, as a cursor.
    pub text_at: u64,
    /// What it says.
    pub mark: ShellMark,
}
