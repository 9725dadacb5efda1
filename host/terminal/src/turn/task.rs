//! The task of a turn: hands what the session shows to the detector, and looks
//! at the terminal when the detector asks for it.
//!
//! What has come is handed in before time passes, and a time in which nobody
//! could look counts for nothing: a busy machine makes no turn end.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    select,
    sync::{oneshot, watch},
    time::{sleep, sleep_until},
};
use wharf_completion::detection::{Beside, CursorRow, Decision, Event, Parameters, Prompts, Reason};

use super::{
    Turn, TurnState,
    fresh_output::{FreshOutput, OutputPart, fresh_output},
    judge::{TurnJudge, TurnProgram, ends_command},
};
use crate::{
    ProgramExit, SessionProgress,
    probe::{self, ForegroundGroup, ForegroundProbe, ForegroundWait, LateLook, LateLooks, ScreenSigns},
    shared_terminal::SharedTerminal,
};

/// Told once the whole input was typed. Dropping it takes back the rest.
pub(super) type InputTyped = oneshot::Receiver<()>;

/// Output is looked at as a whole for so long, that a flood costs little.
const COLLECT: Duration = Duration::from_millis(5);
/// When to look though nothing came.
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// When to look again where the terminal holds what nobody has read yet.
const UNREAD: Duration = Duration::from_millis(5);

/// Something came, and nothing of it was visible.
const NOTHING_VISIBLE: Event<'_> = Event::Output { text: "" };

/// Follows one turn.
pub(super) struct TurnTask {
    turn: Turn,
    number: u64,
    terminal: Arc<SharedTerminal>,
    program: TurnProgram,
    probe: ForegroundProbe,
    progress: watch::Receiver<SessionProgress>,
    judge: Arc<Mutex<TurnJudge>>,
    decision: Decision,
    /// What was handed in so far.
    text_read: u64,
    raw_read: u64,
    told_end: bool,
    told_closed: bool,
    /// Where the last mark stands with which a command ended.
    mark_at: u64,
    prompts: Prompts,
    wait_for_data: Duration,
    next_poll: Duration,
    /// Some inputs change nothing that is seen.
    first_look: Option<Duration>,
    came_since_poll: bool,
    late_looks: LateLooks,
}

/// How to go on.
enum NextRound {
    /// The turn is over.
    Over,
    /// After a pause, unless something important happens.
    Collect,
    /// When something happens, or at this time.
    Wait(Duration),
}

impl TurnTask {
    pub(super) fn new(
        turn: Turn,
        terminal: Arc<SharedTerminal>,
        program: TurnProgram,
        probe: ForegroundProbe,
        judge: Arc<Mutex<TurnJudge>>,
        parameters: &Parameters,
        raw_read: u64,
    ) -> Self {
        let TurnState { number, start, decision, .. } = turn.state();
        let now = judge.lock().now();
        Self {
            number,
            progress: turn.0.progress.clone(),
            turn,
            raw_read,
            terminal,
            program,
            probe,
            judge,
            decision,
            text_read: start,
            told_end: false,
            told_closed: false,
            mark_at: start,
            prompts: parameters.prompts.clone(),
            wait_for_data: parameters.wait_for_data,
            next_poll: now.saturating_add(parameters.wait_for_data),
            first_look: Some(now + FIRST_LOOK),
            came_since_poll: false,
            late_looks: LateLooks::default(),
        }
    }

    pub(super) async fn run(mut self, mut typing: Option<InputTyped>) {
        let mut over = self.turn.changes();
        let mut is_followed = true;
        loop {
            let seen = *self.progress.borrow_and_update();
            let next = self.round(seen, typing.is_none()).await;
            select! {
                biased;
                _ = over.wait_for(TurnState::is_over) => return,
                () = self.wait(next, seen, &mut is_followed, &mut typing) => {}
            }
            // The session is gone.
            if !is_followed && !self.progress.borrow().finished {
                return self.turn.cancel();
            }
        }
    }

    async fn wait(
        &mut self,
        next: NextRound,
        seen: SessionProgress,
        is_followed: &mut bool,
        typing: &mut Option<InputTyped>,
    ) {
        match next {
            NextRound::Over => std::future::pending().await,
            NextRound::Collect => {
                // The end of a command, or of all, is told without delay.
                let important = |now: &SessionProgress| now.marks > seen.marks || now.exit != seen.exit;
                select! {
                    waited = self.progress.wait_for(important), if *is_followed => *is_followed = waited.is_ok(),
                    () = sleep(COLLECT) => {}
                }
            }
            NextRound::Wait(until) => {
                let until = self.judge.lock().moment(until);
                select! {
                    changed = self.progress.changed(), if *is_followed => *is_followed = changed.is_ok(),
                    () = typed(typing) => {}
                    () = sleep_until(until) => {}
                }
            }
        }
    }

    /// Hands in what has come or, where nothing has, what is to be seen.
    async fn round(&mut self, seen: SessionProgress, is_typed: bool) -> NextRound {
        let now = self.judge.lock().now();
        // What comes late may have come before this.
        let at = self.next_look().min(now);
        let marks_read = self.judge.lock().marks_read();
        let fresh = fresh_output(&self.terminal, self.text_read, self.raw_read, marks_read);
        let came = !fresh.is_empty();
        if came {
            self.hand_in(fresh, at, now);
        } else if self.terminal.pty.has_unread_output() {
            return NextRound::Wait(now + UNREAD);
        }
        self.hand_in_end(seen, at);
        if !came && self.next_look() <= now {
            if !is_typed || self.terminal.typing_count().is_under_way() {
                // Whatever is seen, there is more to be read.
                self.feed(Event::Tick, at);
                self.catch_up(Event::Tick, now);
                self.first_look = Some(now + FIRST_LOOK);
            } else if !self.look(at, now).await {
                return NextRound::Wait(now + UNREAD);
            }
            self.poll(at, now);
        }
        self.report();
        if self.decision.is_complete() {
            NextRound::Over
        } else if came {
            NextRound::Collect
        } else {
            NextRound::Wait(self.next_look())
        }
    }

    /// When to look, whatever happens.
    fn next_look(&self) -> Duration {
        let asked = [self.decision.ask_again, self.first_look].into_iter().flatten();
        asked.fold(self.next_poll, Duration::min)
    }

    fn feed(&mut self, event: Event<'_>, at: Duration) {
        // Of a turn that is no longer the one nothing changes any more.
        if let Some(decision) = self.judge.lock().feed(self.number, event, at) {
            self.decision = decision;
        }
    }

    /// Hands in an event for all the time in which nobody looked: what became
    /// due then was due only because of that.
    fn catch_up(&mut self, event: Event<'_>, now: Duration) {
        while let Some(asked) = self.decision.ask_again.filter(|asked| *asked < now) {
            self.feed(event, asked);
            // Of a turn that is no longer the one nothing moves on, and this
            // would never end.
            if self.decision.ask_again == Some(asked) {
                return;
            }
        }
    }

    fn hand_in(&mut self, fresh: FreshOutput, at: Duration, now: Duration) {
        (self.text_read, self.raw_read, self.came_since_poll) = (fresh.text_end, fresh.raw_end, true);
        for part in fresh.parts {
            match part {
                OutputPart::Text(_) if fresh.drawn => self.feed(Event::Redraw, at),
                OutputPart::Text(text) => self.feed(Event::Output { text: &text }, at),
                OutputPart::Mark(placed) => {
                    if ends_command(&placed.mark) {
                        self.mark_at = placed.text_at;
                    }
                    if let Some(decision) = self.judge.lock().feed_mark(self.number, &placed, at) {
                        self.decision = decision;
                    }
                }
            }
            // What follows belongs to nobody, such as the next prompt.
            if self.decision.is_complete() {
                return;
            }
        }
        // The screen may have changed as late as now.
        self.catch_up(NOTHING_VISIBLE, now);
        self.feed(NOTHING_VISIBLE, now);
    }

    fn hand_in_end(&mut self, seen: SessionProgress, at: Duration) {
        if seen.exit.is_some() && !std::mem::replace(&mut self.told_end, true) {
            let exit_code = match seen.exit {
                Some(ProgramExit::Exited { code }) => Some(code),
                Some(ProgramExit::Signaled { .. } | ProgramExit::Killed { .. }) | None => None,
            };
            self.feed(Event::ProcessEnded { descendants: seen.descendants, exit_code }, at);
        }
        // A program that ends closes its terminal first, and on a busy machine its end is told
        // later: a turn that ends with its program says so.
        let will_be_told = || seen.exit.is_none() && probe::ends(self.program.pid);
        if !seen.terminal_open && !will_be_told() && !std::mem::replace(&mut self.told_closed, true) {
            self.feed(Event::StreamClosed, at);
        }
    }

    /// Looks at the terminal, unless something came or was typed meanwhile: that
    /// is first.
    async fn look(&mut self, at: Duration, now: Duration) -> bool {
        let typed = self.terminal.typing_count();
        // In this order: what is typed is read before anybody waits for more,
        // and what is printed before.
        let slave = self.terminal.pty.slave_state();
        let group = self.terminal.pty.foreground();
        let is_unread = slave.is_some_and(|slave| slave.has_unread_input);
        let waits = match (slave, group) {
            _ if is_unread => Some(ForegroundWait::NotForInput),
            (Some(slave), Some(group)) => {
                match self.probe.waits(ForegroundGroup { leader: self.program.pid, group }, slave).await {
                    Ok(waits) => {
                        self.late_looks.over();
                        waits
                    }
                    // Nothing is decided by what a busy machine could not say.
                    Err(LateLook) if self.late_looks.again(now) => return false,
                    Err(LateLook) => None,
                }
            }
            _ => None,
        };
        let view = self.terminal.output().screen.view();
        let came = self.terminal.pty.has_unread_output() || self.terminal.output().ends().1 != self.raw_read;
        if came || self.terminal.typing_count() != typed {
            return false;
        }
        let text = view.text_to_cursor();
        let shown = ScreenSigns { owns_screen: self.owns_screen(), prompt: self.prompts.find(&text).is_some() };
        let row = Event::CursorRow(CursorRow {
            text: &text,
            shell_in_front: self.program.is_shell.then(|| group == Some(self.program.pid)),
            waits_for_input: waits.and_then(|waits| waits.for_input(shown)),
            beside: waits.map_or(Beside::Unknown, ForegroundWait::beside),
            has_read_input: slave.map(|_| !is_unread),
        });
        self.feed(row, at);
        self.catch_up(row, now);
        self.first_look = None;
        true
    }

    /// Whether the program draws the whole screen: on the other one, or with the
    /// keys and without the echo that such programs want.
    fn owns_screen(&self) -> bool {
        let modes = self.terminal.output().modes();
        let raw = || self.terminal.pty.line_mode().is_ok_and(|mode| !mode.canonical && !mode.echo);
        modes.alternate_screen || (modes.application_cursor && raw())
    }

    /// Says whether the last of the times that polls take was an empty one.
    fn poll(&mut self, at: Duration, now: Duration) {
        if now >= self.next_poll {
            let empty = !std::mem::take(&mut self.came_since_poll);
            self.next_poll = now.saturating_add(self.wait_for_data);
            self.feed(Event::Polled { empty }, at);
        }
    }

    fn report(&self) {
        let decision = &self.decision;
        let end = match decision.reason() {
            Some(Reason::CommandEnded { .. } | Reason::NeedsContinuation) => self.mark_at,
            _ => self.text_read,
        };
        self.turn.0.state.send_if_modified(|state| {
            // It may have been given up.
            let changed = state.end.is_none() && state.decision != *decision;
            if changed {
                state.end = decision.is_complete().then_some(end.max(state.start));
                state.decision.clone_from(decision);
            }
            changed
        });
    }
}

async fn typed(typing: &mut Option<InputTyped>) {
    match typing {
        Some(done) => {
            // Where it was not, the terminal was closed, which is told apart.
            drop(done.await);
            *typing = None;
        }
        None => std::future::pending().await,
    }
}
