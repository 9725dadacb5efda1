//! Progress and messages of one running call on their way to the client.
//!
//! Owns a short queue per call. The call never waits for it, and no task is
//! needed: whoever awaits the call forwards what it queued.

#![expect(deprecated, reason = "messages to clients are deprecated since 2026-07-28 and used by all of today's")]

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wharf_core::EventSink;

/// Undelivered events of one call. The oldest makes room for the newest.
const QUEUED: usize = 64;

/// The queue of one call.
pub(crate) struct CallEvents {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// Messages below this level are not sent; none are where it is absent.
    floor: Option<LoggingLevel>,
    // A lock of the standard library: held to push or pop one event.
    queue: Mutex<Queue>,
    queued: Notify,
    finished: AtomicBool,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    done: Option<f64>,
}

enum Event {
    Progress { done: f64, total: Option<f64>, message: Option<String> },
    Message { level: LoggingLevel, data: Value },
}

impl CallEvents {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>, floor: Option<LoggingLevel>) -> Self {
        Self { peer, token, floor, queue: Mutex::default(), queued: Notify::new(), finished: AtomicBool::new(false) }
    }

    /// Forwards events as they come, until the call has [`Self::finish`]ed and
    /// nothing is left, or the client has taken the call back.
    pub(crate) async fn forward(&self, cancelled: &CancellationToken) {
        let forwarding = async {
            loop {
                let queued = self.queued.notified();
                // Read before the queue is emptied: nothing comes after it.
                let finished = self.finished.load(Ordering::Acquire);
                self.deliver().await;
                if finished {
                    return;
                }
                queued.await;
            }
        };
        tokio::select! {
            () = forwarding => {}
            () = cancelled.cancelled() => {}
        }
    }

    /// The call will say nothing more.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.queued.notify_one();
    }

    async fn deliver(&self) {
        while let Some(event) = self.pop() {
            let sent = match event {
                Event::Progress { done, total, message } => {
                    let Some(token) = self.token.clone() else { continue };
                    let mut progress = ProgressNotificationParam::new(token, done);
                    (progress.total, progress.message) = (total, message);
                    self.peer.notify_progress(progress).await
                }
                Event::Message { level, data } => {
                    self.peer.notify_logging_message(LoggingMessageNotificationParam::new(level, data)).await
                }
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "an event could not be sent");
            }
        }
    }

    fn push(&self, event: Event) {
        let mut queue = self.queue();
        if queue.events.len() >= QUEUED {
            queue.events.pop_front();
        }
        queue.events.push_back(event);
        drop(queue);
        self.queued.notify_one();
    }

    fn pop(&self) -> Option<Event> {
        self.queue().events.pop_front()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for CallEvents {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if self.token.is_none() || !done.is_finite() {
            return;
        }
        // The protocol wants it to grow.
        let mut queue = self.queue();
        if queue.done.is_some_and(|before| done <= before) {
            return;
        }
        queue.done = Some(done);
        drop(queue);
        let total = total.filter(|total| total.is_finite());
        self.push(Event::Progress { done, total, message: message.map(str::to_owned) });
    }

    fn message(&self, level: &str, data: Value) {
        let level = level_of(level);
        if self.floor.is_some_and(|floor| rank(level) >= rank(floor)) {
            self.push(Event::Message { level, data });
        }
    }
}

/// The protocol's word for a level of the contract; an unknown one is `info`.
fn level_of(word: &str) -> LoggingLevel {
    match word {
        "trace" | "debug" => LoggingLevel::Debug,
        "warn" => LoggingLevel::Warning,
        "error" => LoggingLevel::Error,
        _ => LoggingLevel::Info,
    }
}

/// How grave a level is.
pub(crate) fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
