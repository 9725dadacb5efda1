//! Turns: an input, and what the program answers until it is done.
//!
//! One task follows each turn (`task`), even if nobody looks on: it hands what the
//! session shows to the detector, and says here how the turn stands. Never knows
//! whose the session is, nor who follows the turn.

mod fresh_output;
mod judge;
mod task;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep_until},
};
use wharf_completion::detection::{Decision, Parameters};

pub(crate) use self::judge::{SessionTurns, TurnProgram};
use crate::{HistorySlice, SessionProgress, shared_terminal::SharedTerminal};

/// A chunk of so many characters is handed out at once.
const CHUNK_CHARACTERS: usize = 512;
/// A smaller one waits so long for more.
const CHUNK_TIME: Duration = Duration::from_millis(50);
/// The longest character, so that every chunk has one.
const CHARACTER_BYTES: usize = 4;

/// What begins a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnInput<'i> {
    /// A text and Enter.
    Submit(&'i str),
    /// A text alone.
    Type(&'i str),
    /// Keys by their names.
    Keys(&'i [&'i str]),
}

/// How a turn is judged.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    /// When it is complete; [`wharf_completion::detection::Preset`] has some.
    pub parameters: Parameters,
}

/// How a turn stands, or how it ended. Cursors are those of the session's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnState {
    /// Which one of its session, from 1 on.
    pub number: u64,
    /// Where its text begins.
    pub start: u64,
    /// Where its text ends; nothing while it runs.
    pub end: Option<u64>,
    /// What the detector says.
    pub decision: Decision,
    /// It was given up; what the program makes of that is not known.
    pub cancelled: bool,
}

impl TurnState {
    /// Whether it is complete, or was given up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

/// A turn. Dropping it does not end it, and it can be asked for again.
#[derive(Debug, Clone)]
pub struct Turn(Arc<TurnShared>);

#[derive(Debug)]
struct TurnShared {
    state: watch::Sender<TurnState>,
    /// The session alone keeps its terminal open.
    terminal: Weak<SharedTerminal>,
    progress: watch::Receiver<SessionProgress>,
}

impl Turn {
    fn new(
        number: u64,
        start: u64,
        terminal: &Arc<SharedTerminal>,
        progress: watch::Receiver<SessionProgress>,
        decision: Decision,
    ) -> Self {
        let state = TurnState { number, start, end: None, decision, cancelled: false };
        Self(Arc::new(TurnShared { state: watch::Sender::new(state), terminal: Arc::downgrade(terminal), progress }))
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> TurnState {
        self.0.state.borrow().clone()
    }

    /// Tells how it stands whenever that changes. The last state stays.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<TurnState> {
        self.0.state.subscribe()
    }

    /// The next chunk of its text from a cursor on: as soon as 512 characters
    /// are there, or 50 ms after the first, or when the turn is over, or when
    /// `patience` is; then it may be empty. Nothing behind the turn's end is
    /// handed out, and a chunk has at most `maximum_bytes`, but never less than
    /// a character.
    pub async fn next(&self, from: u64, maximum_bytes: usize, patience: Duration) -> HistorySlice<String> {
        let maximum_bytes = maximum_bytes.max(CHARACTER_BYTES);
        let enough_bytes = maximum_bytes.min(CHUNK_CHARACTERS * CHARACTER_BYTES);
        let mut until = Instant::now().checked_add(patience);
        let mut found = false;
        let (mut progress, mut changes) = (self.0.progress.clone(), self.changes());
        loop {
            let end = changes.borrow_and_update().end;
            let more_may_come = progress.has_changed().is_ok();
            progress.borrow_and_update();
            let piece = self.text(from, enough_bytes, end);
            let is_enough = piece.content.len() + CHARACTER_BYTES > enough_bytes
                || piece.content.chars().nth(CHUNK_CHARACTERS - 1).is_some();
            if end.is_some() || is_enough || until.is_some_and(|until| until <= Instant::now()) {
                return self.text(from, maximum_bytes, end);
            }
            if !found && !piece.content.is_empty() {
                found = true;
                let soon = Instant::now() + CHUNK_TIME;
                until = Some(until.map_or(soon, |until| until.min(soon)));
            }
            select! {
                _ = progress.changed(), if more_may_come => {}
                _ = changes.changed() => {}
                () = sleep(until) => {}
            }
        }
    }

    fn text(&self, from: u64, maximum_bytes: usize, end: Option<u64>) -> HistorySlice<String> {
        let left = end.map_or(u64::MAX, |end| end.saturating_sub(from));
        let maximum_bytes = maximum_bytes.min(usize::try_from(left).unwrap_or(usize::MAX));
        match self.0.terminal.upgrade() {
            Some(terminal) => terminal.output().text.text(from, maximum_bytes),
            // Nobody keeps its text any more.
            None => HistorySlice { content: String::new(), start: from, next: from, evicted_before: from },
        }
    }

    /// Waits until it is over, at most for `patience`, and says how it stands.
    pub async fn completed(&self, patience: Duration) -> TurnState {
        let mut changes = self.changes();
        // In both cases the state is what is to be said.
        drop(tokio::time::timeout(patience, changes.wait_for(TurnState::is_over)).await);
        self.state()
    }

    /// Gives it up: it is over at once, and the terminal free for the next one.
    /// The program is sent nothing, but for what was not yet typed: that is
    /// taken back. Of a turn that is over, nothing changes.
    pub fn cancel(&self) {
        let end = self.0.terminal.upgrade().map(|terminal| terminal.output().text.end());
        self.0.state.send_if_modified(|state| {
            let runs = state.end.is_none();
            if runs {
                (state.end, state.cancelled) = (Some(end.unwrap_or(state.start)), true);
            }
            runs
        });
    }
}

/// Until a time, or for ever.
async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
