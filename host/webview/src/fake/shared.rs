//! What the thread of a page shares with the code that stops it.

use std::collections::HashSet;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{DialogAnswer, DialogKind, DialogOpened, PageEvent, Sink, Token};

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Running {
    #[default]
    Nothing,
    /// What a request asked for.
    Request(Token),
    /// Continuations and timers of earlier requests.
    Later,
}

impl Running {
    pub(super) fn any(self) -> bool {
        self != Self::Nothing
    }
}

#[derive(Debug, Default)]
struct State {
    running: Running,
    /// What runs is to stop.
    stop: bool,
    crashed: bool,
    closed: bool,
    given_up: HashSet<Token>,
    dialog: bool,
    answer: Option<DialogAnswer>,
}

/// The state of a page that others change.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) sink: Sink,
    state: Mutex<State>,
    answered: Condvar,
}

impl Shared {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, state: Mutex::default(), answered: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Notes what runs from now on; false where nobody wants that any more.
    pub(super) fn begin(&self, running: Running) -> bool {
        let mut state = self.state();
        if matches!(running, Running::Request(token) if state.given_up.remove(&token)) {
            return false;
        }
        state.stop = false;
        state.running = running;
        true
    }

    pub(super) fn end(&self) {
        self.begin(Running::Nothing);
    }

    /// Whether what runs is to stop.
    pub(super) fn stops(&self) -> bool {
        let state = self.state();
        state.stop || state.crashed || state.closed
    }

    pub(super) fn interrupt(&self, which: impl FnOnce(Running) -> bool) {
        let mut state = self.state();
        if which(state.running) {
            state.stop = true;
        }
    }

    /// Stops a request, or keeps it from being begun.
    pub(super) fn give_up(&self, token: Token) {
        let mut state = self.state();
        match state.running {
            Running::Request(running) if running == token => state.stop = true,
            running => {
                // It may be a continuation of it, or not have begun.
                state.stop = running == Running::Later;
                state.given_up.insert(token);
            }
        }
    }

    pub(super) fn crash(&self) {
        self.state().crashed = true;
        self.answered.notify_all();
    }

    /// Whether it crashed since this was last asked.
    pub(super) fn has_crashed(&self) -> bool {
        std::mem::take(&mut self.state().crashed)
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.answered.notify_all();
    }

    pub(super) fn answer(&self, answer: DialogAnswer) {
        let mut state = self.state();
        if state.dialog {
            state.answer = Some(answer);
        }
        self.answered.notify_all();
    }

    /// Shows a dialog, and waits for the answer; nothing where the page ends first.
    pub(super) fn ask(&self, kind: DialogKind, message: String, default_text: String) -> Option<DialogAnswer> {
        {
            let mut state = self.state();
            state.dialog = true;
            state.answer = None;
        }
        self.sink.tell(PageEvent::DialogOpened(DialogOpened { kind, message, default_text }));
        let mut state = self.state();
        let answer = loop {
            if state.crashed || state.closed {
                break None;
            }
            if let Some(answer) = state.answer.take() {
                break Some(answer);
            }
            self.answered.wait(&mut state);
        };
        state.dialog = false;
        drop(state);
        if let Some(answer) = &answer {
            self.sink.tell(PageEvent::DialogClosed { accepted: answer.accept });
        }
        answer
    }
}
