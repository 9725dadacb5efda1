//! Looking on as a program does: the whole screen first, then the very bytes, by
//! the cursor of the view `raw`, so that who comes back goes on where they were.
//!
//! What a session may look at, whichever plugin opened it, is decided here: the
//! terminals of its own tenant and session, and of its assistant alone where it
//! names one. Looking on is no use of a terminal, and types nothing.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    time::{Instant, sleep},
};
use wharf_core::{Context, TerminalOwner};

use super::{
    TerminalId, TerminalInfo, Terminals,
    entry::{Life, Terminal},
    infos, lock,
};
use crate::{Size, TerminalError};

/// What one piece of bytes has at most.
const PIECE_BYTES: usize = 32 << 10;
/// A program in the middle of a control sequence is waited for so long, so that
/// the screen ends where a sequence does.
const SEQUENCE: Duration = Duration::from_millis(500);
/// How often its end is looked for.
const MIDDLE: Duration = Duration::from_millis(20);
/// How often a new size is looked for while nothing is printed.
const SIZE: Duration = Duration::from_millis(500);

/// What somebody who looks on is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// The whole screen: first of all, and where bytes in between are gone. For
    /// a terminal of this size that has just been reset.
    Screen {
        /// How large it is.
        size: Size,
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
    /// The terminal has another size now.
    Resized(Size),
    /// It is over, for this cause.
    Over(String),
}

/// Somebody who looks on. Dropping it ends that.
#[derive(Debug)]
pub struct Watched {
    terminal: Arc<Terminal>,
    /// Nothing where the whole screen is due.
    from: Option<u64>,
    size: Size,
    over: bool,
}

fn may_see(context: &Context, owner: &TerminalOwner) -> bool {
    owner.tenant == context.tenant
        && owner.session == context.session
        && (context.assistant.is_none() || owner.assistant == context.assistant)
}

impl Terminals {
    /// The terminals that a session may look at, whichever plugin opened them, in
    /// the order in which they were opened.
    #[must_use]
    pub fn of_session(&self, context: &Context) -> Vec<(TerminalOwner, TerminalInfo)> {
        infos(self.all_of(|terminal| may_see(context, &terminal.owner))).collect()
    }

    /// Begins to look on, with the whole screen, or from a cursor of the view
    /// `raw` on where the bytes behind it are still kept.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`], also for what another session opened.
    pub fn watch(&self, context: &Context, id: TerminalId, from: Option<u64>) -> Result<Watched, TerminalError> {
        let found = lock(&self.table).terminals.get(&id).cloned();
        let terminal = found.filter(|terminal| may_see(context, &terminal.owner)).ok_or(TerminalError::NotFound)?;
        let size = terminal.session.size();
        Ok(Watched { terminal, from, size, over: false })
    }
}

impl Watched {
    /// The terminal as it is now.
    #[must_use]
    pub fn info(&self) -> TerminalInfo {
        self.terminal.info()
    }

    /// What is seen next; nothing once the end was told. Cancel-safe.
    pub async fn next(&mut self) -> Option<Seen> {
        let (mut progress, mut life) = (self.terminal.session.progress(), self.terminal.life.subscribe());
        let patience = Instant::now() + SEQUENCE;
        while !self.over {
            let more_may_come = progress.has_changed().is_ok();
            progress.borrow_and_update();
            // Asked before the output: what came before the end is told first.
            let ended = *life.borrow_and_update() == Life::Ended;
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
            if self.from.is_some() {
                let size = self.terminal.session.size();
                if size != self.size {
                    self.size = size;
                    return Some(Seen::Resized(size));
                }
                if ended {
                    self.over = true;
                    return Some(Seen::Over(self.terminal.because().unwrap_or_default()));
                }
            }
            select! {
                _ = progress.changed(), if more_may_come => {}
                _ = life.changed() => {}
                () = sleep(if self.from.is_some() { SIZE } else { MIDDLE }) => {}
            }
        }
        None
    }

    fn screen(&mut self, at_once: bool) -> Option<Seen> {
        if !at_once && self.terminal.session.is_inside_sequence() {
            return None;
        }
        let (size, text, next) = self.terminal.session.redraw();
        (self.from, self.size) = (Some(next), size);
        Some(Seen::Screen { size, text, next })
    }

    fn bytes(&mut self, from: u64) -> Option<Seen> {
        let slice = self.terminal.session.raw(from, PIECE_BYTES);
        if slice.start != from {
            // Evicted, or never printed.
            self.from = None;
            return None;
        }
        if slice.content.is_empty() {
            return None;
        }
        self.from = Some(slice.next);
        Some(Seen::Bytes { from, next: slice.next, bytes: slice.content })
    }
}
