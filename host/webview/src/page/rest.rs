//! What a page keeps of results that were cut, and how the core reads it: by scripts
//! of its own, which nobody sees.

use tokio::sync::oneshot;

use super::{outbox::Command, state::State};
use crate::{Injection, RequestId, Settled, Token, wrapper::RESULTS_IN_PAGE};

/// How many reads of cut results may be on their way at once.
const MAXIMUM_READS: usize = 8;

/// A result whose rest the page keeps.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    pub(crate) request: RequestId,
    pub(crate) number: u64,
    pub(crate) isolated: bool,
    pub(crate) frame: Option<String>,
}

impl State {
    /// Where the page keeps the rest of a result.
    pub(crate) fn cut(&self, id: RequestId) -> Option<&Cut> {
        self.cuts.iter().find(|cut| cut.request == id)
    }

    /// Forgets where it does, and has the page let go of it by what `release` makes.
    pub(crate) fn release(&mut self, id: RequestId, release: impl FnOnce(&Cut) -> Injection) {
        let Some(at) = self.cuts.iter().position(|cut| cut.request == id) else { return };
        let Some(cut) = self.cuts.remove(at).filter(|_| self.is_open() && !self.crashed) else { return };
        // A page that answers nothing is not asked again and again.
        if self.asides.len() < RESULTS_IN_PAGE {
            let injection = release(&cut);
            self.asides.insert(injection.token);
            self.outbox.push(Command::Inject(injection));
        }
    }

    /// Expects what came of a read of the core's own; nothing where there are as many
    /// as may be, or none can be answered.
    pub(crate) fn expect_read(&mut self, token: Token) -> Option<oneshot::Receiver<Settled>> {
        if self.reads.len() >= MAXIMUM_READS || !self.is_open() {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.reads.insert(token, sender);
        Some(receiver)
    }

    /// Nobody waits for a read any more.
    pub(crate) fn give_up_read(&mut self, token: Token) {
        if self.reads.remove(&token).is_some() {
            self.outbox.push(Command::Interrupt(token));
        }
    }
}
