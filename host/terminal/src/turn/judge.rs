//! What outlives a turn: the detector, and which turn it judges.
//!
//! Turns of one session are judged one after the other, and each task asks here
//! whether its turn is still the one. Never knows when to look.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use wharf_completion::detection::{Decision, Detector, Event, InvalidParameter, Nonce, Parameters, Signal};

use super::{
    Turn, TurnOptions,
    task::{InputTyped, TurnTask},
};
use crate::{
    PlacedMark, SessionProgress, ShellMark, ShellMarkKind, TerminalError, probe::ForegroundProbe,
    shared_terminal::SharedTerminal,
};

/// The turns of one session.
#[derive(Debug)]
pub(crate) struct SessionTurns {
    program: Mutex<TurnProgram>,
    probe: ForegroundProbe,
    judge: Arc<Mutex<TurnJudge>>,
    /// The last one, and how many there have been. Held while one begins.
    last: Mutex<(u64, Option<Turn>)>,
}

/// Whose turns they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnProgram {
    pub(crate) pid: u32,
    /// Where it is in the foreground, no command runs.
    pub(crate) is_shell: bool,
}

/// The detector, and what it was told.
#[derive(Debug)]
pub(super) struct TurnJudge {
    detector: Option<Detector>,
    nonce: Option<Nonce>,
    clock: Instant,
    /// The turn that is judged.
    number: u64,
    /// It was told that the program ended.
    ended: bool,
    /// The next mark to tell.
    marks_read: u64,
}

impl SessionTurns {
    pub(crate) fn new(program: TurnProgram, nonce: Option<Nonce>) -> Self {
        let judge = TurnJudge { detector: None, nonce, clock: Instant::now(), number: 0, ended: false, marks_read: 0 };
        Self {
            program: Mutex::new(program),
            probe: ForegroundProbe::default(),
            judge: Arc::new(Mutex::new(judge)),
            last: Mutex::default(),
        }
    }

    /// Another program took the place of the one before.
    pub(crate) fn begin_again(&self, pid: u32, nonce: Option<Nonce>) {
        self.program.lock().pid = pid;
        let mut judge = self.judge.lock();
        (judge.detector, judge.ended, judge.nonce) = (None, false, nonce);
    }

    /// The turn that runs, or the last one.
    pub(crate) fn last(&self) -> Option<Turn> {
        self.last.lock().1.clone()
    }

    /// Refuses while a turn runs: the terminal belongs to it.
    pub(crate) fn refuse_while_one_runs(&self) -> Result<(), TerminalError> {
        self.last().map_or(Ok(()), |turn| refuse_while_it_runs(&turn))
    }

    /// Begins a turn whose input is about to be typed. `shown` is what the
    /// terminal will show of it.
    pub(crate) fn begin(
        &self,
        terminal: &Arc<SharedTerminal>,
        progress: &watch::Receiver<SessionProgress>,
        shown: &str,
        options: TurnOptions,
        typing: Option<InputTyped>,
    ) -> Result<Turn, TerminalError> {
        let mut last = self.last.lock();
        if let Some(turn) = &last.1 {
            refuse_while_it_runs(turn)?;
        }
        let number = last.0 + 1;
        let parameters = options.parameters;
        let mut judge = self.judge.lock();
        let marks = terminal.output().marks_from(judge.marks_read);
        let decision = judge.begin(number, parameters.clone(), &marks, shown, *progress.borrow())?;
        drop(judge);
        let (start, raw_read) = terminal.output().ends();
        let turn = Turn::new(number, start, terminal, progress.clone(), decision);
        *last = (number, Some(turn.clone()));
        let (program, judge, probe) = (*self.program.lock(), Arc::clone(&self.judge), self.probe.clone());
        let task = TurnTask::new(turn.clone(), Arc::clone(terminal), program, probe, judge, &parameters, raw_read);
        tokio::spawn(task.run(typing));
        Ok(turn)
    }
}

fn refuse_while_it_runs(turn: &Turn) -> Result<(), TerminalError> {
    let state = turn.0.state.borrow();
    if state.is_over() { Ok(()) } else { Err(TerminalError::Busy { turn: state.number }) }
}

impl TurnJudge {
    /// Time since a fixed moment.
    pub(super) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// The moment of a time.
    pub(super) fn moment(&self, at: Duration) -> Instant {
        self.clock.checked_add(at).unwrap_or_else(Instant::now)
    }

    /// The next mark to tell.
    pub(super) fn marks_read(&self) -> u64 {
        self.marks_read
    }

    fn begin(
        &mut self,
        number: u64,
        parameters: Parameters,
        marks: &[PlacedMark],
        shown: &str,
        progress: SessionProgress,
    ) -> Result<Decision, InvalidParameter> {
        // A program that was started again is another one.
        if progress.exit.is_none() && std::mem::take(&mut self.ended) {
            self.detector = None;
        }
        let detector = match &mut self.detector {
            Some(detector) => {
                detector.set_parameters(parameters)?;
                detector
            }
            none => none.insert(Detector::new(parameters, self.nonce.clone())?),
        };
        self.number = number;
        let now = self.clock.elapsed();
        // Whether a command runs is known from what was marked between turns.
        for placed in marks {
            self.marks_read = placed.number + 1;
            if let Some(signal) = signal(&placed.mark) {
                detector.feed(Event::Signal(signal), now);
            }
        }
        Ok(detector.feed(Event::Input { text: shown }, now))
    }

    /// Tells the detector something. Nothing comes back for a turn that is no
    /// longer the one.
    pub(super) fn feed(&mut self, number: u64, event: Event<'_>, at: Duration) -> Option<Decision> {
        let detector = self.detector.as_mut().filter(|_| self.number == number)?;
        self.ended |= matches!(event, Event::ProcessEnded { .. } | Event::StreamClosed);
        Some(detector.feed(event, at))
    }

    /// The same for a mark.
    pub(super) fn feed_mark(&mut self, number: u64, placed: &PlacedMark, at: Duration) -> Option<Decision> {
        if self.number == number {
            self.marks_read = placed.number + 1;
        }
        let event = signal(&placed.mark).map_or(Event::Tick, Event::Signal);
        self.feed(number, event, at)
    }
}

/// What a mark says of a command. The detector decides whether to believe it.
fn signal(mark: &ShellMark) -> Option<Signal<'_>> {
    let nonce = mark.parameter("nonce").unwrap_or_default();
    match mark.kind {
        ShellMarkKind::OutputStart => Some(Signal::CommandStarted { nonce }),
        ShellMarkKind::CommandEnd => Some(Signal::CommandEnded { nonce, exit_code: mark.exit_code }),
        // The secondary prompt.
        ShellMarkKind::PromptStart if mark.parameter("k") == Some("s") => Some(Signal::Continuation { nonce }),
        ShellMarkKind::PromptStart | ShellMarkKind::InputStart => None,
    }
}

/// Whether a mark says that a command is over, or that it lacks its end.
pub(super) fn ends_command(mark: &ShellMark) -> bool {
    matches!(signal(mark), Some(Signal::CommandEnded { .. } | Signal::Continuation { .. }))
}
