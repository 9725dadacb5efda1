//! Looking on: what a terminal shows, as it comes, for people and recordings.
//!
//! Each viewer has a bounded place of its own, into which the session puts what
//! is shown; whoever is slow loses that and is given the whole screen anew. So
//! no viewer ever holds up a session. Knows nothing of who looks, nor why.

mod filter;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;

use crate::{TerminalSize, session::SharedTerminal};
pub(crate) use filter::OpenSequence;
use filter::ViewFilter;

/// What waits for one viewer; who lets more come together gets the screen
/// instead.
const MAX_WAITING_BYTES: usize = 256 << 10;
/// Changes that are no text and wait for one viewer.
const MAX_WAITING: usize = 64;
/// Viewers of one session.
const MAX_VIEWERS: usize = 16;

/// What a viewer is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewUpdate {
    /// The whole screen: the first of all, and whenever what came between was
    /// too much. For a terminal of this size that has just been reset.
    Screen {
        /// How large it is.
        size: TerminalSize,
        /// What draws it.
        text: String,
    },
    /// What came, with control sequences, none of them cut; nothing of it has
    /// an effect on the viewer's terminal but to draw.
    Text(String),
    /// The terminal has another size now.
    Resized(TerminalSize),
    /// What was typed, for viewers that asked for it. What the program takes
    /// without showing it, as it does with passwords, is left out.
    Typed(String),
}

impl ViewUpdate {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Typed(text) | Self::Screen { text, .. } => text.len(),
            Self::Resized(_) => 0,
        }
    }
}

/// There are too many viewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_VIEWERS} look at this terminal already; let one of them end first")]
pub struct TooManyViewers;

/// Somebody who looks on. Dropping it ends that.
#[derive(Debug)]
pub struct Viewer {
    tap: Arc<ViewerQueue>,
    session: Weak<SharedTerminal>,
}

/// What waits for one viewer.
#[derive(Debug)]
struct ViewerQueue {
    waiting: Mutex<QueuedUpdates>,
    news: Notify,
    typed: bool,
}

#[derive(Debug, Default)]
struct QueuedUpdates {
    shown: VecDeque<ViewUpdate>,
    bytes: usize,
    /// Something was lost, or nothing was shown yet.
    behind: bool,
    ended: bool,
}

impl ViewerQueue {
    fn waiting(&self) -> MutexGuard<'_, QueuedUpdates> {
        // Nothing is changed by halves.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, shown: ViewUpdate) {
        let mut waiting = self.waiting();
        if waiting.behind {
            return;
        }
        match (waiting.shown.back_mut(), shown) {
            (Some(ViewUpdate::Text(text)), ViewUpdate::Text(more)) => {
                text.push_str(&more);
                waiting.bytes += more.len();
            }
            (Some(ViewUpdate::Resized(last)), ViewUpdate::Resized(size)) => *last = size,
            (_, shown) => {
                waiting.bytes += shown.bytes();
                waiting.shown.push_back(shown);
            }
        }
        if waiting.bytes > MAX_WAITING_BYTES || waiting.shown.len() > MAX_WAITING {
            *waiting = QueuedUpdates { behind: true, ..QueuedUpdates::default() };
        }
        drop(waiting);
        self.news.notify_one();
    }
}

/// The viewers of a session. They end with it.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    taps: Vec<Weak<ViewerQueue>>,
    /// There is one while anybody looks.
    filter: Option<ViewFilter>,
    text: String,
}

impl Viewers {
    /// Begins to look. `inside` is the sequence in which the stream is now.
    pub(crate) fn open(
        &mut self,
        session: &Arc<SharedTerminal>,
        inside: Option<OpenSequence>,
        typed: bool,
    ) -> Result<Viewer, TooManyViewers> {
        self.taps.retain(|tap| tap.strong_count() > 0);
        if self.taps.len() >= MAX_VIEWERS {
            return Err(TooManyViewers);
        }
        if self.taps.is_empty() {
            self.filter = None;
        }
        self.filter.get_or_insert_with(|| ViewFilter::new(inside));
        let waiting = Mutex::new(QueuedUpdates { behind: true, ..QueuedUpdates::default() });
        let tap = Arc::new(ViewerQueue { waiting, news: Notify::new(), typed });
        self.taps.push(Arc::downgrade(&tap));
        Ok(Viewer { tap, session: Arc::downgrade(session) })
    }

    /// How many look.
    pub(crate) fn count(&self) -> usize {
        self.taps.iter().filter(|tap| tap.strong_count() > 0).count()
    }

    /// Takes what the screen was given.
    pub(crate) fn feed(&mut self, normalised: &str) {
        let Some(filter) = &mut self.filter else { return };
        self.text.clear();
        filter.feed(normalised, &mut self.text);
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        self.each(|tap| tap.put(ViewUpdate::Text(text.clone())));
        self.text = text;
        if self.taps.is_empty() {
            self.filter = None;
        }
    }

    pub(crate) fn resized(&mut self, size: TerminalSize) {
        self.each(|tap| tap.put(ViewUpdate::Resized(size)));
    }

    /// Whether anybody is to be told what is typed.
    pub(crate) fn want_typed(&self) -> bool {
        self.taps.iter().any(|tap| tap.upgrade().is_some_and(|tap| tap.typed))
    }

    pub(crate) fn typed(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.each(|tap| {
            if tap.typed {
                tap.put(ViewUpdate::Typed(text.clone().into_owned()));
            }
        });
    }

    /// Nothing more will be shown.
    pub(crate) fn end(&mut self) {
        self.each(|tap| {
            tap.waiting().ended = true;
            tap.news.notify_one();
        });
    }

    fn each(&mut self, mut tell: impl FnMut(&ViewerQueue)) {
        self.taps.retain(|tap| tap.upgrade().inspect(|tap| tell(tap)).is_some());
    }
}

impl Drop for Viewers {
    fn drop(&mut self) {
        self.end();
    }
}

impl Viewer {
    /// What is shown next: the screen first. Nothing once the terminal is
    /// closed and all was shown. Cancel-safe.
    pub async fn next(&mut self) -> Option<ViewUpdate> {
        loop {
            {
                let mut waiting = self.tap.waiting();
                if let Some(shown) = waiting.shown.pop_front() {
                    waiting.bytes -= shown.bytes();
                    return Some(shown);
                }
                if waiting.ended && !waiting.behind {
                    return None;
                }
            }
            if let Some(screen) = self.catch_up() {
                return Some(screen);
            }
            if self.tap.waiting().ended {
                return None;
            }
            self.tap.news.notified().await;
        }
    }

    /// The whole screen, for who is behind.
    fn catch_up(&self) -> Option<ViewUpdate> {
        if !self.tap.waiting().behind {
            return None;
        }
        let session = self.session.upgrade()?;
        // Held until what comes next is put here: nothing is shown twice, and
        // nothing is left out.
        let mut output = session.output();
        let mut waiting = self.tap.waiting();
        let ended = waiting.ended;
        *waiting = QueuedUpdates { ended, ..QueuedUpdates::default() };
        drop(waiting);
        Some(ViewUpdate::Screen { size: output.screen.size(), text: output.redraw() })
    }
}
