//! What a terminal shows, as it comes, for each of its viewers.
//!
//! Owns a bounded queue for each viewer. The session fills the queues; a viewer
//! that is too slow loses what waits for it, and is given the whole screen anew,
//! so no viewer ever holds up a session. Never knows who looks, nor how the whole
//! screen is drawn.

mod filter;

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::{TerminalSize, stream::OpenSequence};
use filter::ViewFilter;

/// What waits for all viewers of a session. Each has an equal share of it; a viewer that lets more
/// come together is given the screen instead.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// What waits for one viewer at most, however few there are.
const MAX_SHARE: usize = 256 << 10;
/// Changes that are no text and wait for one viewer.
const MAX_WAITING: usize = 64;
/// Viewers of one session.
const MAX_VIEWERS: usize = 256;

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

/// What waits for one viewer.
#[derive(Debug)]
pub(crate) struct ViewerQueue {
    waiting: Mutex<QueuedUpdates>,
    changed: Notify,
    /// The viewer is shown what is typed, too.
    typed: bool,
}

/// What a queue has for its viewer.
#[derive(Debug)]
pub(crate) enum NextUpdate {
    /// This is shown next.
    Ready(ViewUpdate),
    /// Something was lost, or nothing was shown yet: the whole screen is due.
    ScreenDue,
    /// Nothing yet.
    Empty,
    /// All was shown, and nothing more will come.
    Ended,
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
        self.waiting.lock()
    }

    /// Takes out what is shown next.
    pub(crate) fn next(&self) -> NextUpdate {
        let mut waiting = self.waiting();
        if let Some(shown) = waiting.shown.pop_front() {
            waiting.bytes -= shown.bytes();
            return NextUpdate::Ready(shown);
        }
        match (waiting.behind, waiting.ended) {
            (true, _) => NextUpdate::ScreenDue,
            (false, true) => NextUpdate::Ended,
            (false, false) => NextUpdate::Empty,
        }
    }

    /// Begins again behind the whole screen, which the viewer is given apart.
    pub(crate) fn restart(&self) {
        let mut waiting = self.waiting();
        let ended = waiting.ended;
        *waiting = QueuedUpdates { ended, ..QueuedUpdates::default() };
    }

    /// Whether nothing more will come.
    pub(crate) fn has_ended(&self) -> bool {
        self.waiting().ended
    }

    /// Waits until something was put here since the last wait. Cancel-safe.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// `share` is how many bytes may wait here.
    fn put_text(&self, more: &str, share: usize) {
        let mut waiting = self.waiting();
        if waiting.behind {
            return;
        }
        if let Some(ViewUpdate::Text(text)) = waiting.shown.back_mut() {
            text.push_str(more);
        } else {
            waiting.shown.push_back(ViewUpdate::Text(more.to_owned()));
        }
        waiting.bytes += more.len();
        self.keep_within(waiting, share);
    }

    fn put(&self, shown: ViewUpdate, share: usize) {
        let mut waiting = self.waiting();
        if waiting.behind {
            return;
        }
        if let (Some(ViewUpdate::Resized(last)), ViewUpdate::Resized(size)) = (waiting.shown.back_mut(), &shown) {
            *last = *size;
        } else {
            waiting.bytes += shown.bytes();
            waiting.shown.push_back(shown);
        }
        self.keep_within(waiting, share);
    }

    fn keep_within(&self, mut waiting: MutexGuard<'_, QueuedUpdates>, share: usize) {
        if waiting.bytes > share || waiting.shown.len() > MAX_WAITING {
            *waiting = QueuedUpdates { behind: true, ..QueuedUpdates::default() };
        }
        drop(waiting);
        self.changed.notify_one();
    }
}

/// The viewers of a session. They end with it.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    queues: Vec<Weak<ViewerQueue>>,
    /// There is one while anybody looks.
    filter: Option<ViewFilter>,
    text: String,
}

impl Viewers {
    /// Adds a viewer. `open_sequence` is the one in which the stream stands now.
    pub(crate) fn add(
        &mut self,
        open_sequence: Option<OpenSequence>,
        typed: bool,
    ) -> Result<Arc<ViewerQueue>, TooManyViewers> {
        self.queues.retain(|queue| queue.strong_count() > 0);
        if self.queues.len() >= MAX_VIEWERS {
            return Err(TooManyViewers);
        }
        if self.queues.is_empty() {
            self.filter = None;
        }
        self.filter.get_or_insert_with(|| ViewFilter::new(open_sequence));
        let waiting = Mutex::new(QueuedUpdates { behind: true, ..QueuedUpdates::default() });
        let queue = Arc::new(ViewerQueue { waiting, changed: Notify::new(), typed });
        self.queues.push(Arc::downgrade(&queue));
        Ok(queue)
    }

    /// How many look.
    pub(crate) fn count(&self) -> usize {
        self.queues.iter().filter(|queue| queue.strong_count() > 0).count()
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
        self.each(|queue, share| queue.put_text(&text, share));
        self.text = text;
        if self.queues.is_empty() {
            self.filter = None;
        }
    }

    pub(crate) fn resized(&mut self, size: TerminalSize) {
        self.each(|queue, share| queue.put(ViewUpdate::Resized(size), share));
    }

    /// Whether anybody is to be told what is typed.
    pub(crate) fn want_typed(&self) -> bool {
        self.queues.iter().any(|queue| queue.upgrade().is_some_and(|queue| queue.typed))
    }

    pub(crate) fn typed(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.each(|queue, share| {
            if queue.typed {
                queue.put(ViewUpdate::Typed(text.clone().into_owned()), share);
            }
        });
    }

    /// Nothing more will be shown.
    pub(crate) fn end(&mut self) {
        self.each(|queue, _| {
            queue.waiting().ended = true;
            queue.changed.notify_one();
        });
    }

    fn each(&mut self, mut tell: impl FnMut(&ViewerQueue, usize)) {
        let share = (MAX_WAITING_BYTES / self.queues.len().max(1)).min(MAX_SHARE);
        self.queues.retain(|queue| queue.upgrade().inspect(|queue| tell(queue, share)).is_some());
    }
}

impl Drop for Viewers {
    fn drop(&mut self) {
        self.end();
    }
}
