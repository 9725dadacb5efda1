//! What is told of a terminal: how it is, and why it is over.
//!
//! Changes nothing.

use wharf_completion::detection::{PromptKind, Prompts, Reason};

use super::{PooledTerminal, TerminalLife};
use crate::{
    Restart, SessionPhase, Status, TerminalError, TerminalInfo,
    pool::{end_cause, event_stream::TerminalEventStream},
};

impl PooledTerminal {
    /// Why it is over or about to be, in words; nothing while it goes on.
    pub(crate) fn because(&self) -> Option<String> {
        let ordered = || self.closing.borrow().as_ref().map(|closing| closing.because.clone());
        let ended = || self.session.progress().borrow().exit.map(end_cause::of_exit);
        let known = self.state().because.clone();
        known.or_else(ordered).or_else(ended)
    }

    /// Whether its program reads what is typed now.
    ///
    /// # Errors
    /// [`TerminalError::Restarting`]; [`TerminalError::Closed`].
    pub(crate) fn check_takes_input(&self) -> Result<(), TerminalError> {
        match *self.life.borrow() {
            TerminalLife::Running => Ok(()),
            TerminalLife::Restarting => Err(TerminalError::Restarting),
            TerminalLife::Ended => Err(TerminalError::Closed),
        }
    }

    /// The same error, and why the program has ended where that is what it says.
    pub(crate) fn explained(&self, error: TerminalError) -> TerminalError {
        match (error, self.because()) {
            (TerminalError::Closed, Some(because)) => TerminalError::Over { because },
            (error, _) => error,
        }
    }

    pub(crate) fn info(&self) -> TerminalInfo {
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
            stream: self.events.as_ref().map(TerminalEventStream::id),
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
