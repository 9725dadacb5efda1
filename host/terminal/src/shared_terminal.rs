//! What the session of a terminal, the tasks of the session and of its turns,
//! and its viewers share.
//!
//! Owns the pair that is open now, all that came out of it, and how often
//! something was typed. Never knows how programs are started and ended, when a
//! turn is over, nor who views it.

mod current_pty;
mod program_output;
mod progress;
mod viewer;

use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{Acquire, Release},
    },
};

use crate::{HistoryLimits, Pty, TerminalSize};
use current_pty::CurrentPty;
use parking_lot::{Mutex, MutexGuard};

pub use program_output::MAX_MARKS;
pub(crate) use program_output::{ProgramOutput, ResizeHistory};
pub use progress::{KilledBy, PlacedMark, ProgramExit, SessionPhase, SessionProgress};
pub use viewer::Viewer;

/// A terminal, as its session, the tasks of that and its viewers share it.
#[derive(Debug)]
pub(crate) struct SharedTerminal {
    pub(crate) pty: CurrentPty,
    /// Held to take a chunk or to read, never across an await.
    output: Mutex<ProgramOutput>,
    typing_begun: AtomicU64,
    typing_done: AtomicU64,
}

/// How often something was typed, but for the inputs of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypingCount {
    begun: u64,
    done: u64,
}

impl TypingCount {
    /// Not all of it has reached the terminal.
    pub(crate) fn is_under_way(self) -> bool {
        self.begun != self.done
    }
}

/// Something is being typed, until this is dropped.
pub(crate) struct TypingGuard<'s>(&'s SharedTerminal);

impl Drop for TypingGuard<'_> {
    fn drop(&mut self) {
        self.0.typing_done.fetch_add(1, Release);
    }
}

impl SharedTerminal {
    /// A terminal that has just been opened, with nothing in it.
    pub(crate) fn new(pty: Arc<dyn Pty>, size: TerminalSize, history: HistoryLimits) -> Self {
        Self {
            pty: CurrentPty::new(pty),
            output: Mutex::new(ProgramOutput::new(size, history)),
            typing_begun: AtomicU64::new(0),
            typing_done: AtomicU64::new(0),
        }
    }

    pub(crate) fn output(&self) -> MutexGuard<'_, ProgramOutput> {
        // A reader that panicked has changed nothing.
        self.output.lock()
    }

    /// What was typed so far.
    pub(crate) fn typing_count(&self) -> TypingCount {
        // In this order, what ends meanwhile is still under way.
        let done = self.typing_done.load(Acquire);
        TypingCount { begun: self.typing_begun.load(Acquire), done }
    }

    /// Something is about to be typed.
    pub(crate) fn begin_typing(&self) -> TypingGuard<'_> {
        self.typing_begun.fetch_add(1, Release);
        TypingGuard(self)
    }
}
