//! The detector: takes events, keeps what they mean, says how the turn stands.

use std::time::Duration;

use super::{
    AdaptiveSilence, Decision, Event, InvalidParameter, Layer, Nonce, Parameters, Reason, Signal,
    adaptation::ResponseTimes,
    rules::{self, Due, Ending},
    turn::Turn,
};

/// Decides when the turns of one program, or of one stream, are complete. A
/// program that is started again gets a new one. Takes a few hundred bytes,
/// whatever it is told.
///
/// ```
/// use std::time::Duration;
/// use wharf_completion::detection::{AgentStatus, Detector, Event, Parameters, Preset, Reason};
///
/// let seconds = Duration::from_secs;
/// let mut detector = Detector::new(Parameters::from(Preset::Agent), None)?;
/// detector.feed(Event::Input { text: "" }, seconds(0));
/// detector.feed(Event::Message, seconds(4));
/// let decision = detector.feed(Event::Status(AgentStatus::Ready), seconds(5));
/// assert!(!decision.is_complete());
/// let decision = detector.feed(Event::Tick, decision.ask_again.unwrap());
/// assert_eq!(decision.reason(), Some(Reason::StatusReady));
/// # Ok::<_, wharf_completion::detection::InvalidParameter>(())
/// ```
#[derive(Debug, Clone)]
pub struct Detector {
    parameters: Parameters,
    nonce: Option<Nonce>,
    now: Duration,
    ending: Ending,
    /// The shell said that a command began, and not yet that it ended.
    command_runs: bool,
    responses: ResponseTimes,
    /// What the running turn, or the last one, goes by.
    silence: Option<AdaptiveSilence>,
    turn: Option<Turn>,
}

impl Detector {
    /// No turn runs yet. Without a nonce, no shell's signal is believed.
    ///
    /// # Errors
    /// Where the parameters contradict themselves.
    pub fn new(parameters: Parameters, nonce: Option<Nonce>) -> Result<Self, InvalidParameter> {
        parameters.validate()?;
        Ok(Self {
            parameters,
            nonce,
            now: Duration::ZERO,
            ending: Ending::default(),
            command_runs: false,
            responses: ResponseTimes::default(),
            silence: None,
            turn: None,
        })
    }

    /// Goes by other parameters from now on: turns of one program may be of
    /// several kinds. What is known of the program stays.
    ///
    /// # Errors
    /// Where they contradict themselves; then the others stay.
    pub fn set_parameters(&mut self, parameters: Parameters) -> Result<(), InvalidParameter> {
        parameters.validate()?;
        self.parameters = parameters;
        Ok(())
    }

    /// Knows of its source's response times what `other` knows: the same source
    /// answered there before.
    #[must_use]
    pub fn with_responses_of(mut self, other: &Self) -> Self {
        self.responses = other.responses;
        self
    }

    /// Takes an event that came at `at`, and says how the turn stands then. A
    /// time before the last one counts as the last one.
    ///
    /// What has come is handed in before a tick, with the earliest time at
    /// which it may have come: where the room was held up, that is when it
    /// last found nothing. Else a turn may end because nobody looked.
    pub fn feed(&mut self, event: Event<'_>, at: Duration) -> Decision {
        let at = at.max(self.now);
        // What became due before the event was over before it.
        if let Some(due) = self.due().filter(|(due, _)| *due < at).min_by_key(|(due, verdict)| (*due, verdict.reason)) {
            self.end(due);
        }
        self.now = at;
        self.take(event, at);
        if let Some((_, verdict)) = self.due().filter(|(due, _)| *due <= at).min_by_key(|(_, verdict)| verdict.reason) {
            self.end((at, verdict));
        }
        self.decision()
    }

    /// How the turn stands, at the time of the last event.
    #[must_use]
    pub fn decision(&self) -> Decision {
        let Some(turn) = &self.turn else { return Decision::default() };
        let at = turn.verdict.map_or(self.now, |(at, _)| at);
        let next = self.due().map(|(due, _)| due);
        Decision {
            verdict: turn.verdict.map(|(_, verdict)| verdict),
            exit_code: match turn.verdict.map(|(_, verdict)| verdict.reason) {
                Some(Reason::CommandEnded { exit_code }) => exit_code,
                Some(reason) if reason.layer() == Layer::Ended => self.ending.exit_code,
                _ => None,
            },
            messages: turn.messages,
            attempts: turn.attempts,
            empty_polls: turn.empty_polls,
            idle: at.saturating_sub(turn.last_event),
            elapsed: at.saturating_sub(turn.began),
            adaptive: self.silence,
            ask_again: match turn.verdict {
                Some(_) => None,
                None => next.chain(turn.look).filter(|next| *next > self.now).min(),
            },
        }
    }

    /// What will end the turn if nothing more happens; nothing where no turn
    /// runs.
    fn due(&self) -> impl Iterator<Item = Due> + use<> {
        let running = self.turn.as_ref().filter(|turn| turn.verdict.is_none());
        let due = running.map(|turn| rules::due(&self.parameters, &self.responses, &self.ending, turn));
        due.into_iter().flatten()
    }

    fn end(&mut self, (at, verdict): Due) {
        let Some(turn) = &mut self.turn else { return };
        turn.verdict = Some((at, verdict));
        if matches!(verdict.reason.layer(), Layer::Signal | Layer::Status) && turn.messages > 0 {
            self.responses.observe(turn.last_event.saturating_sub(turn.began));
        }
    }

    fn take(&mut self, event: Event<'_>, at: Duration) {
        match event {
            Event::Input { text } => {
                self.turn = Some(Turn::new(text, at, self.command_runs));
                self.silence = self.responses.silence(&self.parameters);
            }
            Event::ProcessEnded { descendants, exit_code } => {
                if self.ending.ended.is_none() {
                    (self.ending.ended, self.ending.exit_code) = (Some((at, descendants)), exit_code);
                }
            }
            Event::StreamClosed => {
                self.ending.closed.get_or_insert(at);
            }
            Event::Signal(signal) => self.signal(signal, at),
            Event::Message | Event::Output { .. } | Event::Redraw | Event::Activity | Event::Status(_) => {
                self.answer(event, at);
            }
            Event::CursorRow(row) => {
                if let Some(turn) = running(&mut self.turn) {
                    rules::look(&self.parameters, turn, &row, at);
                }
            }
            Event::Polled { empty } => {
                let distance = self.parameters.attempt_distance();
                if let Some(turn) = running(&mut self.turn) {
                    turn.polled(empty, distance, at);
                }
            }
            Event::Tick => {}
        }
    }

    /// What can be a part of the answer.
    fn answer(&mut self, event: Event<'_>, at: Duration) {
        let quiet = self.parameters.strict_quiet;
        let Some(turn) = running(&mut self.turn) else { return };
        match event {
            Event::Message => turn.message(at),
            Event::Output { text } => {
                turn.output(at, quiet);
                if turn.echo.read(text) {
                    turn.message(at);
                }
            }
            Event::Redraw => {
                turn.output(at, quiet);
                turn.echo.drawn();
                turn.message(at);
            }
            Event::Status(status) => turn.status(status, at),
            _ => turn.touch(at),
        }
    }

    fn signal(&mut self, signal: Signal<'_>, at: Duration) {
        let (settle, broad_quiet) = (self.parameters.settle, self.parameters.broad_quiet);
        // A signal without the nonce is something that a program printed.
        let genuine = |given: &str| self.nonce.as_ref().is_some_and(|nonce| nonce.is(given));
        let reason = match signal {
            Signal::Completed => Reason::AgentCompleted,
            Signal::CommandStarted { nonce } if genuine(nonce) => {
                self.command_runs = true;
                if let Some(turn) = running(&mut self.turn) {
                    turn.touch(at);
                    turn.signal = None;
                }
                return;
            }
            Signal::CommandEnded { nonce, exit_code } if genuine(nonce) => {
                self.command_runs = false;
                Reason::CommandEnded { exit_code }
            }
            Signal::Continuation { nonce } if genuine(nonce) => Reason::NeedsContinuation,
            Signal::CommandStarted { .. } | Signal::CommandEnded { .. } | Signal::Continuation { .. } => return,
        };
        let Some(turn) = running(&mut self.turn) else { return };
        turn.touch(at);
        let hold = match signal {
            Signal::Completed => Duration::ZERO,
            // It may be the end of what ran before, with this turn's command
            // typed ahead and about to start.
            _ if std::mem::take(&mut turn.interrupts) => broad_quiet,
            // It may be the first of several commands.
            _ if turn.several_lines => settle,
            _ => Duration::ZERO,
        };
        turn.signal = Some((at.saturating_add(hold), reason));
    }
}

/// The turn, unless it is over.
fn running(turn: &mut Option<Turn>) -> Option<&mut Turn> {
    turn.as_mut().filter(|turn| turn.verdict.is_none())
}
