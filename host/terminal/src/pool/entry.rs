//! One terminal of the pool: its session, and what is known of it beside that.
//!
//! Knows nothing of the others, and orders no end itself: `keep` does.

use std::{
    collections::VecDeque,
    fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use tokio::{sync::watch, time::Instant};
use wharf_completion::detection::{PromptKind, Prompts, Reason};
use wharf_core::{TerminalOwner, quota::Share};

use super::{
    CloseReason, Restart, Status, TerminalId, TerminalInfo, ending, leaving, profile::ProgramProfile,
    telling::TerminalEventStream,
};
use crate::{ProgramExit, SessionPhase, TerminalError, TerminalRequest, TerminalSession, Turn, TurnInput};

/// Turns that can be asked for by their number; the last of them.
const TURNS: usize = 8;

/// A terminal.
#[derive(Debug)]
pub(super) struct PooledTerminal {
    pub(super) id: TerminalId,
    pub(super) owner: TerminalOwner,
    pub(super) command: String,
    pub(super) profile: ProgramProfile,
    pub(super) teller: Option<TerminalEventStream>,
    pub(super) restart: Restart,
    pub(super) session: TerminalSession,
    /// Where its program began.
    first_directory: PathBuf,
    /// The workspace as its program sees it.
    pub(super) workspace: PathBuf,
    pub(super) started: DateTime<Utc>,
    pub(super) began: Instant,
    pub(super) deadline: Option<Instant>,
    /// Where it stands, as its keeper says.
    pub(super) life: watch::Sender<TerminalLife>,
    /// What its keeper is asked for; the last holds.
    pub(super) closing: watch::Sender<Option<CloseOrder>>,
    /// Held for a look, never across an await.
    state: Mutex<TerminalState>,
}

/// Where a terminal stands beside its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalLife {
    /// Its program runs, or has just ended.
    Running,
    /// It waits to be started again.
    Restarting,
    /// It is over.
    Ended,
}

/// An order to end.
#[derive(Debug, Clone)]
pub(super) struct CloseOrder {
    pub(super) why: CloseReason,
    /// The same in words: `its owner closed it`.
    pub(super) because: String,
    pub(super) grace: Duration,
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
    /// Its place among the ended ones.
    kept: Option<Share>,
    restarts: u32,
    restarted_because: Option<String>,
    turns: VecDeque<Turn>,
    directory: PathBuf,
    /// The last input was one that ends programs.
    asked_to_end: bool,
    /// People who have it before them.
    attached: usize,
    /// What starts its program again, as long as that may be.
    request: Option<TerminalRequest>,
    recording: Option<PathBuf>,
}

impl PooledTerminal {
    #[expect(clippy::too_many_arguments, reason = "what a terminal is made of, once")]
    pub(super) fn new(
        id: TerminalId,
        owner: TerminalOwner,
        command: String,
        profile: ProgramProfile,
        teller: Option<TerminalEventStream>,
        restart: Restart,
        session: TerminalSession,
        request: TerminalRequest,
        workspace: PathBuf,
        deadline: Option<Instant>,
    ) -> Self {
        let (began, started) = (Instant::now(), Utc::now());
        let first_directory = request.working_directory.clone();
        let state = TerminalState {
            used: (began, started),
            ended: None,
            exit: None,
            why: None,
            because: None,
            place: None,
            kept: None,
            restarts: 0,
            restarted_because: None,
            turns: VecDeque::new(),
            directory: first_directory.clone(),
            asked_to_end: false,
            attached: 0,
            request: (restart == Restart::OnCrash).then_some(request),
            recording: None,
        };
        Self {
            id,
            owner,
            command,
            profile,
            teller,
            restart,
            session,
            first_directory,
            workspace,
            started,
            began,
            deadline,
            life: watch::Sender::new(TerminalLife::Running),
            closing: watch::Sender::new(None),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, TerminalState> {
        // Nothing is changed by halves.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is not over, nor about to be.
    pub(super) fn is_open(&self) -> bool {
        *self.life.borrow() != TerminalLife::Ended && !self.is_closing()
    }

    /// Whether it is about to be over.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.borrow().is_some()
    }

    /// Whether it takes a place among the open ones: one that is being closed
    /// does until its program has ended.
    pub(super) fn has_place(&self) -> bool {
        self.state().place.is_some()
    }

    /// Gives its place among the open ones up, or takes it back unless it is over
    /// by now.
    pub(super) fn set_place(&self, place: Option<Share>) {
        let mut state = self.state();
        state.place = place.filter(|_| state.ended.is_none());
    }

    /// Whether it takes a place among the ended ones.
    pub(super) fn is_kept(&self) -> bool {
        self.state().kept.is_some()
    }

    /// Takes a place among the ended ones, or gives it up.
    pub(super) fn set_kept(&self, kept: Option<Share>) {
        self.state().kept = kept;
    }

    /// Whether a turn runs, or a person has it before them.
    pub(super) fn is_busy(&self) -> bool {
        self.turn_runs() || self.state().attached > 0
    }

    pub(super) fn turn_runs(&self) -> bool {
        self.session.turn().is_some_and(|turn| !turn.state().is_over())
    }

    /// Its owner uses it.
    pub(super) fn touch(&self) {
        self.state().used = (Instant::now(), Utc::now());
    }

    pub(super) fn last_used(&self) -> Instant {
        self.state().used.0
    }

    pub(super) fn ended_at(&self) -> Option<Instant> {
        self.state().ended.map(|(at, _)| at)
    }

    /// An input is about to be typed: what it asks for, and where the program
    /// is before it. What the one before asked for.
    pub(super) fn expect(&self, input: TurnInput<'_>) -> bool {
        self.note_directory();
        self.asked_to_end(leaving::asks_to_end(input))
    }

    pub(super) fn asked_to_end(&self, asked: bool) -> bool {
        std::mem::replace(&mut self.state().asked_to_end, asked)
    }

    pub(super) fn is_crash(&self, exit: ProgramExit) -> bool {
        leaving::is_crash(exit, self.state().asked_to_end)
    }

    pub(super) fn attached(&self, by: isize) {
        let mut state = self.state();
        state.attached = state.attached.saturating_add_signed(by);
    }

    pub(super) fn recorded(&self, path: PathBuf) {
        self.state().recording = Some(path);
    }

    /// Remembers where its program is, as long as that is below the workspace.
    pub(super) fn note_directory(&self) {
        if self.session.progress().borrow().exit.is_some() {
            return;
        }
        // Only the system knows; a link that cannot be read says nothing.
        let Ok(directory) = fs::read_link(format!("/proc/{}/cwd", self.session.pid())) else { return };
        if directory.starts_with(&self.workspace) {
            self.state().directory = directory;
        }
    }

    pub(super) fn forget_directory(&self) {
        self.state().directory.clone_from(&self.first_directory);
    }

    /// What starts its program again where it was.
    pub(super) fn request(&self) -> Option<TerminalRequest> {
        let state = self.state();
        let request = state.request.clone()?;
        Some(TerminalRequest { working_directory: state.directory.clone(), ..request })
    }

    /// Keeps a turn, to be asked for by its number.
    pub(super) fn keep_turn(&self, turn: Turn) {
        let mut state = self.state();
        if state.turns.len() == TURNS {
            state.turns.pop_front();
        }
        state.turns.push_back(turn);
    }

    pub(super) fn turn(&self, number: u64) -> Result<Turn, TerminalError> {
        let last = self.session.turn();
        let kept = self.state().turns.iter().find(|turn| turn.state().number == number).cloned();
        let found = kept.or_else(|| last.clone().filter(|turn| turn.state().number == number));
        found.ok_or_else(|| TerminalError::NoTurn { turn: number, last: last.map_or(0, |turn| turn.state().number) })
    }

    pub(super) fn restarting(&self, because: String) {
        if let Some(teller) = &self.teller {
            teller.restarting(&because);
        }
        self.state().restarted_because = Some(because);
        self.life.send_replace(TerminalLife::Restarting);
    }

    pub(super) fn running(&self) {
        // What was typed before concerns another program.
        let mut state = self.state();
        state.asked_to_end = false;
        state.restarts += 1;
        drop(state);
        self.life.send_replace(TerminalLife::Running);
    }

    /// It is over. How long it was open.
    pub(super) fn end(&self, exit: Option<ProgramExit>, over: Option<(CloseReason, String)>) -> Duration {
        let (why, because) = over.unzip();
        let mut state = self.state();
        (state.exit, state.why, state.ended) = (exit, why, Some((Instant::now(), Utc::now())));
        state.because = because.or_else(|| exit.map(ending::of_exit));
        (state.request, state.place) = (None, None);
        drop(state);
        self.session.end_views();
        if let Some(teller) = &self.teller {
            teller.end(self.because());
        }
        self.life.send_replace(TerminalLife::Ended);
        self.began.elapsed()
    }

    /// Why it is over or about to be, in words; nothing while it goes on.
    pub(super) fn because(&self) -> Option<String> {
        let ordered = || self.closing.borrow().as_ref().map(|closing| closing.because.clone());
        let ended = || self.session.progress().borrow().exit.map(ending::of_exit);
        let known = self.state().because.clone();
        known.or_else(ordered).or_else(ended)
    }

    /// The same error, and why the program has ended where that is what it says.
    pub(super) fn explained(&self, error: TerminalError) -> TerminalError {
        match (error, self.because()) {
            (TerminalError::Closed, Some(because)) => TerminalError::Over { because },
            (error, _) => error,
        }
    }

    pub(super) fn info(&self) -> TerminalInfo {
        let progress = *self.session.progress().borrow();
        let turn = self.session.turn().map(|turn| turn.state());
        let (raw_evicted_before, text_evicted_before) = self.session.evicted_before();
        let life = *self.life.borrow();
        let runs = progress.exit.is_none() && life == TerminalLife::Running;
        let status = match life {
            TerminalLife::Ended => Status::Closed,
            TerminalLife::Restarting => Status::Restarting,
            TerminalLife::Running => match (progress.exit, &turn) {
                (Some(exit), _) if self.restart == Restart::OnCrash && self.is_crash(exit) => Status::Restarting,
                (Some(_), _) => Status::Closed,
                (None, Some(turn)) if !turn.is_over() => Status::Busy,
                (None, Some(turn)) if self.asks(turn.decision.reason()) => Status::NeedsInput,
                (None, _) if progress.phase == SessionPhase::Starting => Status::Starting,
                (None, _) => Status::Ready,
            },
        };
        let viewers = self.session.viewers();
        let closed = status == Status::Closed;
        let because = if closed { self.because() } else { None };
        // The order is known before what is left of the program has ended.
        let ordered = self.closing.borrow().as_ref().filter(|_| closed).map(|closing| closing.why);
        let state = self.state();
        TerminalInfo {
            id: self.id,
            command: self.command.clone(),
            profile: self.profile.name.clone(),
            preset: self.profile.preset,
            status,
            size: self.session.size(),
            pid: runs.then(|| self.session.pid()),
            directory: state.directory.clone(),
            started: self.started,
            last_used: state.used.1,
            ended: state.ended.map(|(_, at)| at),
            exit: state.exit.or(progress.exit.filter(|_| closed)),
            why: state.why.or(ordered),
            because,
            restart: self.restart,
            restarts: state.restarts,
            restarted_because: state.restarted_because.clone(),
            turn,
            text_bytes: progress.text_bytes,
            text_evicted_before,
            raw_bytes: progress.raw_bytes,
            raw_evicted_before,
            alternate_screen: self.session.modes().alternate_screen,
            recording: state.recording.clone(),
            stream: self.teller.as_ref().map(TerminalEventStream::id),
            viewers,
        }
    }

    /// Whether a turn that ended so ended with a question. An interpreter that
    /// shows its prompt asks nothing.
    fn asks(&self, reason: Option<Reason>) -> bool {
        match reason {
            Some(Reason::NeedsContinuation) => true,
            Some(Reason::StrictPrompt) => {
                Prompts::questions().find(&self.session.cursor_row()) == Some(PromptKind::Strict)
            }
            _ => false,
        }
    }
}
