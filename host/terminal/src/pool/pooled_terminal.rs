//! One terminal of the pool: its session, and what is known of it beside that.
//!
//! `close` is how its end is ordered, `status` what is told of it. Never knows the
//! other terminals, and orders no end itself: its keeper does.

mod close;
mod status;

use std::{collections::VecDeque, path::PathBuf, time::Duration};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::{sync::watch, time::Instant};
use wharf_core::{TerminalOwner, WorkspaceStay, quota::Share};

use super::{end_cause, event_stream::TerminalEventStream, exit_intent};
use crate::{
    CloseReason, ProgramExit, Restart, TerminalError, TerminalId, TerminalRequest, TerminalSession, Turn, TurnInput,
    probe, profile::ProgramProfile,
};

/// Turns that can be asked for by their number; the last of them.
const TURNS: usize = 8;

/// A terminal of the pool.
#[derive(Debug)]
pub(crate) struct PooledTerminal {
    pub(crate) id: TerminalId,
    pub(crate) owner: TerminalOwner,
    pub(crate) command: String,
    pub(crate) profile: ProgramProfile,
    pub(crate) events: Option<TerminalEventStream>,
    pub(crate) restart: Restart,
    pub(crate) session: TerminalSession,
    /// Where its program began.
    first_directory: PathBuf,
    /// The workspace as its program sees it.
    pub(crate) workspace: PathBuf,
    pub(crate) started: DateTime<Utc>,
    pub(crate) began: Instant,
    pub(crate) deadline: Option<Instant>,
    /// Where it stands, as its keeper says.
    pub(crate) life: watch::Sender<TerminalLife>,
    /// What its keeper is asked for; the last holds.
    pub(crate) closing: watch::Sender<Option<CloseOrder>>,
    /// Held for a look, never across an await.
    state: Mutex<TerminalState>,
}

/// A terminal that may be started as it is.
pub(crate) struct PlannedTerminal {
    /// As it is shown to people.
    pub(crate) command: String,
    pub(crate) profile: ProgramProfile,
    pub(crate) restart: Restart,
    /// How long it may be open.
    pub(crate) lifetime: Duration,
    /// The workspace as its program sees it.
    pub(crate) workspace: PathBuf,
    /// What starts its program, and starts it again.
    pub(crate) request: TerminalRequest,
}

/// A terminal whose program was launched.
pub(crate) struct LaunchedTerminal {
    pub(crate) id: TerminalId,
    pub(crate) owner: TerminalOwner,
    pub(crate) planned: PlannedTerminal,
    pub(crate) events: Option<TerminalEventStream>,
    pub(crate) session: TerminalSession,
    /// Keeps its workspace.
    pub(crate) stay: Option<WorkspaceStay>,
}

/// Where a terminal stands beside its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalLife {
    /// Its program runs, or has just ended.
    Running,
    /// It waits to be started again.
    Restarting,
    /// It is over.
    Ended,
}

/// An order to end.
#[derive(Debug, Clone)]
pub(crate) struct CloseOrder {
    pub(crate) why: CloseReason,
    /// The same in words: `its owner closed it`.
    pub(crate) because: String,
    pub(crate) grace: Duration,
}

#[derive(Debug)]
struct TerminalState {
    used: (Instant, DateTime<Utc>),
    ended: Option<(Instant, DateTime<Utc>)>,
    exit: Option<ProgramExit>,
    why: Option<CloseReason>,
    /// Why it is over, in words.
    because: Option<String>,
    /// Its place among the open ones, until its program has ended or another
    /// terminal was given it.
    place: Option<Share>,
    /// Keeps its workspace from being removed, until it is over.
    stay: Option<WorkspaceStay>,
    /// Its place among the ended ones.
    tombstone: Option<Share>,
    restarts: u32,
    restarted_because: Option<String>,
    turns: VecDeque<Turn>,
    directory: PathBuf,
    /// The last input was one that ends programs.
    asked_to_exit: bool,
    /// How many people are attached to it.
    attached: usize,
    /// What starts its program again, as long as that may be.
    request: Option<TerminalRequest>,
    recording: Option<PathBuf>,
}

impl PooledTerminal {
    pub(crate) fn new(launched: LaunchedTerminal) -> Self {
        let LaunchedTerminal { id, owner, planned, events, session, stay } = launched;
        let PlannedTerminal { command, profile, restart, lifetime, workspace, request } = planned;
        let (began, started) = (Instant::now(), Utc::now());
        let first_directory = request.working_directory.clone();
        let state = TerminalState {
            used: (began, started),
            ended: None,
            exit: None,
            why: None,
            because: None,
            place: None,
            stay,
            tombstone: None,
            restarts: 0,
            restarted_because: None,
            turns: VecDeque::new(),
            directory: first_directory.clone(),
            asked_to_exit: false,
            attached: 0,
            request: (restart == Restart::OnCrash).then_some(request),
            recording: None,
        };
        Self {
            id,
            owner,
            command,
            profile,
            events,
            restart,
            session,
            first_directory,
            workspace,
            started,
            began,
            deadline: began.checked_add(lifetime),
            life: watch::Sender::new(TerminalLife::Running),
            closing: watch::Sender::new(None),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, TerminalState> {
        self.state.lock()
    }

    /// Whether it is not over, nor about to be.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_over() && !self.is_closing()
    }

    /// Whether it is over: its program has ended for good.
    pub(crate) fn is_over(&self) -> bool {
        *self.life.borrow() == TerminalLife::Ended
    }

    /// Whether it is about to be over.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.borrow().is_some()
    }

    /// Whether it takes a place among the open ones: one that is being closed
    /// does until its program has ended.
    pub(crate) fn has_place(&self) -> bool {
        self.state().place.is_some()
    }

    /// Gives its place among the open ones up, or takes it back unless it is over
    /// by now.
    pub(crate) fn set_place(&self, place: Option<Share>) {
        let mut state = self.state();
        state.place = place.filter(|_| state.ended.is_none());
    }

    /// Whether it takes a place among the ended ones.
    pub(crate) fn has_tombstone(&self) -> bool {
        self.state().tombstone.is_some()
    }

    /// Takes a place among the ended ones, or gives it up.
    pub(crate) fn set_tombstone(&self, tombstone: Option<Share>) {
        self.state().tombstone = tombstone;
    }

    /// Whether a turn runs, or a person has it before them.
    pub(crate) fn is_busy(&self) -> bool {
        self.turn_runs() || self.state().attached > 0
    }

    pub(crate) fn turn_runs(&self) -> bool {
        self.session.turn().is_some_and(|turn| !turn.state().is_over())
    }

    /// Its owner uses it.
    pub(crate) fn touch(&self) {
        self.state().used = (Instant::now(), Utc::now());
    }

    pub(crate) fn last_used(&self) -> Instant {
        self.state().used.0
    }

    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.state().ended.map(|(at, _)| at)
    }

    /// An input is about to be typed: what it asks for, and where the program
    /// is before it. What the one before asked for.
    pub(crate) fn note_input(&self, input: TurnInput<'_>) -> bool {
        self.note_directory();
        self.set_asked_to_exit(exit_intent::input_asks_to_exit(input))
    }

    pub(crate) fn set_asked_to_exit(&self, asked: bool) -> bool {
        std::mem::replace(&mut self.state().asked_to_exit, asked)
    }

    pub(crate) fn is_crash(&self, exit: ProgramExit) -> bool {
        exit_intent::is_crash(exit, self.state().asked_to_exit)
    }

    pub(crate) fn count_attached(&self, by: isize) {
        let mut state = self.state();
        state.attached = state.attached.saturating_add_signed(by);
    }

    pub(crate) fn set_recording(&self, path: PathBuf) {
        self.state().recording = Some(path);
    }

    /// Remembers where its program is, as long as that is below the workspace.
    pub(crate) fn note_directory(&self) {
        if self.session.progress().borrow().exit.is_some() {
            return;
        }
        // Only the system knows; a link that cannot be read says nothing.
        let Some(directory) = probe::directory(self.session.pid()) else { return };
        if directory.starts_with(&self.workspace) {
            self.state().directory = directory;
        }
    }

    pub(crate) fn forget_directory(&self) {
        self.state().directory.clone_from(&self.first_directory);
    }

    /// What starts its program again where it was.
    pub(crate) fn request(&self) -> Option<TerminalRequest> {
        let state = self.state();
        let request = state.request.clone()?;
        Some(TerminalRequest { working_directory: state.directory.clone(), ..request })
    }

    /// Keeps a turn, to be asked for by its number.
    pub(crate) fn keep_turn(&self, turn: Turn) {
        let mut state = self.state();
        if state.turns.len() == TURNS {
            state.turns.pop_front();
        }
        state.turns.push_back(turn);
    }

    pub(crate) fn turn(&self, number: u64) -> Result<Turn, TerminalError> {
        let last = self.session.turn();
        let kept = self.state().turns.iter().find(|turn| turn.state().number == number).cloned();
        let found = kept.or_else(|| last.clone().filter(|turn| turn.state().number == number));
        found.ok_or_else(|| TerminalError::NoTurn { turn: number, last: last.map_or(0, |turn| turn.state().number) })
    }

    pub(crate) fn restarting(&self, because: String) {
        if let Some(events) = &self.events {
            events.restarting(&because);
        }
        self.state().restarted_because = Some(because);
        self.life.send_replace(TerminalLife::Restarting);
    }

    pub(crate) fn running(&self) {
        // What was typed before concerns another program.
        let mut state = self.state();
        state.asked_to_exit = false;
        state.restarts += 1;
        drop(state);
        self.life.send_replace(TerminalLife::Running);
    }

    /// It is over. How long it was open.
    pub(crate) fn end(&self, exit: Option<ProgramExit>, over: Option<(CloseReason, String)>) -> Duration {
        let (why, because) = over.unzip();
        let mut state = self.state();
        (state.exit, state.why, state.ended) = (exit, why, Some((Instant::now(), Utc::now())));
        state.because = because.or_else(|| exit.map(end_cause::of_exit));
        (state.request, state.place, state.stay) = (None, None, None);
        drop(state);
        self.session.end_views();
        if let Some(events) = &self.events {
            events.end(self.because());
        }
        self.life.send_replace(TerminalLife::Ended);
        self.began.elapsed()
    }
}
