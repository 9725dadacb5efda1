//! Progress and messages of one running call on their way to the client.
//!
//! Owns a short queue per call. The call never waits for it, and no task is
//! needed: the code that awaits the call forwards what it queued. A call that says
//! nothing for a while is reported as running, whether it waits for its turn, for a
//! program or a person, or reads a long document.

#![expect(deprecated, reason = "messages to clients are deprecated since 2026-07-28 and used by all of today's")]

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use serde_json::Value;
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;
use wharf_contract::log::Level;
use wharf_core::EventSink;

/// Undelivered events of one call. The oldest makes room for the newest.
const QUEUED: usize = 64;
/// A client that asked for progress hears of its call at least this often, so that it
/// does not take it for lost: clients wait 10 s and more.
const SILENCE: Duration = Duration::from_secs(4);

/// The queue of one call.
pub(crate) struct CallEvents {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// Messages below this level are not sent; none are where it is absent.
    floor: Option<LoggingLevel>,
    // A blocking lock: held to push or pop one event.
    queue: Mutex<EventQueue>,
    queued: Notify,
    finished: AtomicBool,
    began: Instant,
}

#[derive(Default)]
struct EventQueue {
    events: VecDeque<CallEvent>,
    /// The progress that the call reported last.
    reported: Option<f64>,
    /// The progress that the client was told last.
    told: Option<f64>,
}

impl EventQueue {
    /// The number that tells the client of this progress: the protocol wants each to be more
    /// than the one before, so it grows by a little where it would not.
    fn tell(&mut self, done: f64) -> f64 {
        let told = match self.told {
            Some(before) if done <= before => before + (before.abs() * 1e-12).max(1e-6),
            _ => done,
        };
        self.told = Some(told);
        told
    }
}

enum CallEvent {
    Progress { done: f64, total: Option<f64>, message: Option<String> },
    Message { level: LoggingLevel, data: Value },
}

impl CallEvents {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>, floor: Option<LoggingLevel>) -> Self {
        let (queue, queued, finished) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        Self { peer, token, floor, queue, queued, finished, began: Instant::now() }
    }

    /// Forwards events as they come, until the call has [`Self::finish`]ed and
    /// nothing is left, or the client has taken the call back.
    pub(crate) async fn forward(&self, cancelled: &CancellationToken) {
        let forwarding = async {
            let mut heard = Instant::now();
            loop {
                let queued = self.queued.notified();
                // Read before the queue is emptied: nothing comes after it.
                let finished = self.finished.load(Ordering::Acquire);
                if self.deliver().await {
                    heard = Instant::now();
                }
                if finished {
                    return;
                }
                if self.token.is_none() {
                    queued.await;
                    continue;
                }
                tokio::select! {
                    () = queued => {}
                    () = tokio::time::sleep_until(heard + SILENCE) => self.say_that_it_runs(),
                }
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

    /// Sends what is queued; whether there was progress among it.
    async fn deliver(&self) -> bool {
        let mut progressed = false;
        while let Some(event) = self.pop() {
            progressed |= matches!(event, CallEvent::Progress { .. });
            let sent = match event {
                CallEvent::Progress { done, total, message } => {
                    let Some(token) = self.token.clone() else { continue };
                    let mut progress = ProgressNotificationParam::new(token, done);
                    (progress.total, progress.message) = (total, message);
                    self.peer.notify_progress(progress).await
                }
                CallEvent::Message { level, data } => {
                    self.peer.notify_logging_message(LoggingMessageNotificationParam::new(level, data)).await
                }
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "an event could not be sent");
            }
        }
        progressed
    }

    fn say_that_it_runs(&self) {
        self.tell_of_itself(format!("still running after {} s", self.began.elapsed().as_secs()));
    }

    /// Progress that is none of the call's own: it grows by so little that what the call
    /// tells next is more.
    fn tell_of_itself(&self, message: String) {
        let mut queue = self.queue();
        let before = queue.told.unwrap_or(0.0);
        let done = queue.tell(before);
        drop(queue);
        self.push(CallEvent::Progress { done, total: None, message: Some(message) });
    }

    fn push(&self, event: CallEvent) {
        let mut queue = self.queue();
        if queue.events.len() >= QUEUED {
            queue.events.pop_front();
        }
        queue.events.push_back(event);
        drop(queue);
        self.queued.notify_one();
    }

    fn pop(&self) -> Option<CallEvent> {
        self.queue().events.pop_front()
    }

    fn queue(&self) -> MutexGuard<'_, EventQueue> {
        self.queue.lock()
    }
}

impl EventSink for CallEvents {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if self.token.is_none() || !done.is_finite() {
            return;
        }
        let mut queue = self.queue();
        // What does not grow is no progress.
        if queue.reported.is_some_and(|before| done <= before) {
            return;
        }
        queue.reported = Some(done);
        let done = queue.tell(done);
        drop(queue);
        let total = total.filter(|total| total.is_finite());
        self.push(CallEvent::Progress { done, total, message: message.map(str::to_owned) });
    }

    fn waits(&self, message: &str) {
        if self.token.is_some() {
            self.tell_of_itself(message.to_owned());
        }
    }

    fn message(&self, level: Level, data: Value) {
        let level = level_of(level);
        if self.floor.is_some_and(|floor| rank(level) >= rank(floor)) {
            self.push(CallEvent::Message { level, data });
        }
    }
}

/// The protocol's level for one of the contract.
fn level_of(level: Level) -> LoggingLevel {
    match level {
        Level::Trace | Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Warn => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_a_call_reports_after_it_was_said_to_run_is_told_and_grows() {
        let mut queue = EventQueue::default();
        let first = queue.tell(0.0);
        let own = queue.tell(0.0);
        assert!(first.abs() < f64::EPSILON && own > first && own < 0.001, "{own}");
        assert!(queue.tell(1.0) == 1.0 && queue.tell(1.0) > 1.0 && queue.tell(2.0) == 2.0);
        let large = queue.tell(1e15);
        assert!(queue.tell(1e15) > large);
    }
}
