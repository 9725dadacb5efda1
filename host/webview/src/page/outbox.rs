//! Commands to a backend, in the order in which they were decided.

use std::collections::VecDeque;

use crate::{DialogAnswer, Injection, Order, PageId, PageSettings, Sink, Token, WebViewBackend};

/// A command to a backend.
#[derive(Debug)]
pub(crate) enum BackendCommand {
    Open(Box<PageSettings>, Sink),
    Inject(Injection),
    Perform(Order),
    Interrupt(Token),
    Answer(DialogAnswer),
    Close,
}

impl BackendCommand {
    pub(super) fn carry_out(self, page: PageId, backend: &dyn WebViewBackend) {
        match self {
            Self::Open(settings, sink) => backend.open(page, *settings, sink),
            Self::Inject(injection) => backend.inject(page, injection),
            Self::Perform(order) => backend.perform(page, order),
            Self::Interrupt(token) => backend.interrupt(page, token),
            Self::Answer(answer) => backend.answer_dialog(page, answer),
            Self::Close => backend.close(page),
        }
    }

    /// The token of the request that it begins.
    pub(super) fn token(&self) -> Option<Token> {
        match self {
            Self::Inject(Injection { token, .. }) | Self::Perform(Order { token, .. }) => Some(*token),
            Self::Open(..) | Self::Interrupt(_) | Self::Answer(_) | Self::Close => None,
        }
    }
}

/// The commands that wait, and whether a thread hands them over.
#[derive(Debug, Default)]
pub(crate) struct BackendOutbox {
    waiting: VecDeque<BackendCommand>,
    busy: bool,
}

impl BackendOutbox {
    pub(crate) fn push(&mut self, command: BackendCommand) {
        self.waiting.push_back(command);
    }

    /// Appends each of these.
    pub(crate) fn extend(&mut self, commands: impl IntoIterator<Item = BackendCommand>) {
        self.waiting.extend(commands);
    }

    /// Whether the caller is to hand over the commands that wait.
    pub(super) fn begin(&mut self) -> bool {
        let begins = !self.busy && !self.waiting.is_empty();
        self.busy |= begins;
        begins
    }

    /// The next command; where there is none, the hand-over is done.
    pub(super) fn take(&mut self) -> Option<BackendCommand> {
        let next = self.waiting.pop_front();
        self.busy = next.is_some();
        next
    }

    /// Ends a hand-over that a backend has broken off by panicking, so that somebody
    /// else goes on.
    pub(super) fn give_up(&mut self) {
        self.busy = false;
    }
}
