//! Looking on as a program does: the whole screen first, then the very bytes, by
//! the cursor of the view `raw`, so that a watcher that comes back goes on where it
//! was.
//!
//! Owns what a session may look at, whichever plugin opened it: the terminals of
//! its own tenant and session, whichever of the session's assistants opened it.
//! Looking on is no use of a terminal, and types nothing.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    time::{Instant, sleep},
};
use wharf_core::{Context, TerminalOwner};

use super::Terminals;
use crate::{
    TerminalError, TerminalId, TerminalInfo, TerminalSize,
    pool::{PooledTerminal, TerminalLife},
};

/// What one piece of bytes has at most.
const PIECE_BYTES: usize = 32 << 10;
/// A program in the middle of a control sequence is waited for so long, so that
/// the screen ends where a sequence does.
const SEQUENCE: Duration = Duration::from_millis(500);
/// How often its end is looked for.
const MIDDLE: Duration = Duration::from_millis(20);
/// How often a new size is looked for while nothing is printed.
const SIZE: Duration = Duration::from_millis(500);

/// What a watcher is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// The whole screen: first of all, and where bytes in between are gone or
    /// came to another size than was told. For a terminal of this size that has
    /// just been reset.
    Screen {
        /// How large it is.
        size: TerminalSize,
        /// What draws it.
        text: String,
        /// The cursor of the first byte behind it.
        next: u64,
    },
    /// What was printed.
    Bytes {
        /// The cursor of the first byte.
        from: u64,
        /// The cursor behind the last one.
        next: u64,
        /// The bytes as they came.
        bytes: Vec<u8>,
    },
    /// The terminal has another size from here on.
    Resized(TerminalSize),
    /// It is over, for this cause.
    Over(String),
}

/// A terminal that is looked at. Dropping it ends that.
#[derive(Debug)]
pub struct WatchedTerminal {
    terminal: Arc<PooledTerminal>,
    /// Nothing where the whole screen is due.
    from: Option<u64>,
    /// How many changes of the size were told.
    resizes: u64,
    over: bool,
}

/// Looking on is for the whole session: the person behind it watches all of its assistants.
fn may_see(context: &Context, owner: &TerminalOwner) -> bool {
    owner.tenant == context.tenant && owner.session == context.session
}

impl Terminals {
    /// The terminals that a session may look at, whichever plugin opened them, in
    /// the order in which they were opened.
    #[must_use]
    pub fn of_session(&self, context: &Context) -> Vec<(TerminalOwner, TerminalInfo)> {
        self.pool.infos(|owner| may_see(context, owner))
    }

    /// Begins to look on, with the whole screen, or from a cursor of the view
    /// `raw` on where the bytes behind it are still kept and the size has not
    /// changed since.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`], also for what another session opened;
    /// [`TerminalError::Over`] for what was lost with an earlier host.
    pub fn watch(
        &self,
        context: &Context,
        id: TerminalId,
        from: Option<u64>,
    ) -> Result<WatchedTerminal, TerminalError> {
        self.own(id)?;
        let lost = self.pool.table().get_lost(id);
        if let Some(lost) = lost.filter(|lost| may_see(context, &lost.record.owner)) {
            return Err(TerminalError::Over { because: lost.because() });
        }
        let found = self.pool.table().get(id);
        let terminal = found.filter(|terminal| may_see(context, &terminal.owner)).ok_or(TerminalError::NotFound)?;
        let resizes = terminal.session.resizes();
        // A cursor does not say on which side of a change right there it stands.
        let from = from.filter(|from| resizes.count == 0 || *from > resizes.last_at);
        Ok(WatchedTerminal { terminal, from, resizes: resizes.count, over: false })
    }
}

impl WatchedTerminal {
    /// The terminal as it is now.
    #[must_use]
    pub fn info(&self) -> TerminalInfo {
        self.terminal.info()
    }

    /// What is seen next; nothing once the end was told. Cancel-safe.
    pub async fn next(&mut self) -> Option<WatchEvent> {
        let (mut progress, mut life) = (self.terminal.session.progress(), self.terminal.life.subscribe());
        let patience = Instant::now() + SEQUENCE;
        while !self.over {
            let more_may_come = progress.has_changed().is_ok();
            progress.borrow_and_update();
            // Asked before the output: what came before the end is told first.
            let ended = *life.borrow_and_update() == TerminalLife::Ended;
            let behind = self.from;
            let seen = match behind {
                Some(from) => self.bytes(from),
                None => self.screen(ended || patience <= Instant::now()),
            };
            if seen.is_some() {
                return seen;
            }
            if behind.is_some() && self.from.is_none() {
                continue;
            }
            if self.from.is_some() && ended {
                self.over = true;
                return Some(WatchEvent::Over(self.terminal.because().unwrap_or_default()));
            }
            select! {
                _ = progress.changed(), if more_may_come => {}
                _ = life.changed() => {}
                () = sleep(if self.from.is_some() { SIZE } else { MIDDLE }) => {}
            }
        }
        None
    }

    fn screen(&mut self, at_once: bool) -> Option<WatchEvent> {
        if !at_once && self.terminal.session.is_inside_sequence() {
            return None;
        }
        let (size, text, next, resizes) = self.terminal.session.redraw();
        (self.from, self.resizes) = (Some(next), resizes);
        Some(WatchEvent::Screen { size, text, next })
    }

    /// The next bytes, or another size where that comes first.
    fn bytes(&mut self, from: u64) -> Option<WatchEvent> {
        let (mut slice, size, resizes) = self.terminal.session.raw_and_size(from, PIECE_BYTES);
        let untold = resizes.count - self.resizes;
        // Evicted or never printed, or for a size that is gone.
        if slice.start != from || untold > 1 {
            self.from = None;
            return None;
        }
        if untold == 1 {
            if from >= resizes.last_at {
                self.resizes = resizes.count;
                return Some(WatchEvent::Resized(size));
            }
            let before = usize::try_from(resizes.last_at - from).unwrap_or(usize::MAX);
            slice.content.truncate(before);
        }
        if slice.content.is_empty() {
            return None;
        }
        let next = from + slice.content.len() as u64;
        self.from = Some(next);
        Some(WatchEvent::Bytes { from, next, bytes: slice.content })
    }
}
