//! What goes between the host and one front end: calls that wait, what it is
//! told, and whether it is there.
//!
//! What it is told follows from the calls that wait: a front end that comes back is
//! told of them again, and nothing has to be kept for it. Knows no tool.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Answer, Code, Error, Quota, Share,
    service::front_end::{FrontEndCall, FrontEndCancel, FrontEndEvent},
    tool::json_bytes,
};

use crate::app::AppCall;

/// Calls that were taken back and whose front end may not know yet. One that
/// never hears of it learns so when it answers.
const KEPT_CANCELS: usize = 256;
/// What is told at once, roughly.
const BATCH_BYTES: u64 = 1 << 20;

/// See the module.
pub(super) struct Connection {
    name: String,
    most_calls: u64,
    /// Places of all calls that wait for front ends.
    places: Arc<Quota>,
    // A blocking lock: held for a look-up, or to copy what is told.
    state: Mutex<ConnectionState>,
    news: watch::Sender<()>,
    presence: watch::Sender<Presence>,
    closed: CancellationToken,
}

#[derive(Default)]
struct ConnectionState {
    closed: bool,
    /// The number of the last event.
    last: u64,
    waiting: BTreeMap<u64, WaitingCall>,
    cancelled: VecDeque<FrontEndCancel>,
}

struct WaitingCall {
    tool: String,
    call: Arc<AppCall>,
    answer: oneshot::Sender<Result<Answer, Error>>,
    _place: Share,
}

/// Whether the front end is there.
struct Presence {
    followers: usize,
    /// When it was last heard of.
    seen: Instant,
}

/// A call that was handed over. Where it is dropped before it is answered, the
/// front end is told so.
pub(super) struct PendingCall {
    connection: Arc<Connection>,
    number: u64,
    answer: oneshot::Receiver<Result<Answer, Error>>,
}

impl Connection {
    pub(super) fn new(name: &str, most_calls: u64, places: Arc<Quota>) -> Self {
        Self {
            name: name.to_owned(),
            most_calls,
            places,
            state: Mutex::default(),
            news: watch::Sender::new(()),
            presence: watch::Sender::new(Presence { followers: 0, seen: Instant::now() }),
            closed: CancellationToken::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock()
    }

    fn gone(&self) -> Error {
        Error::new(Code::Gone, format!("the front end `{}` that serves this tool has disconnected", self.name))
    }

    /// Hands a call to the front end.
    pub(super) fn ask(self: &Arc<Self>, tool: &str, call: AppCall) -> Result<PendingCall, Error> {
        let mut state = self.state();
        if state.closed {
            return Err(self.gone());
        }
        if state.waiting.len() as u64 >= self.most_calls {
            let told = format!(
                "{} calls wait for the front end `{}` (limit `front_end_calls`); try again later",
                self.most_calls, self.name
            );
            return Err(Error::retryable(Code::Limit, told));
        }
        let place = self.places.take(&call.caller.context.tenant, &call.caller.context.session, 1)?;
        let (sender, answer) = oneshot::channel();
        state.last += 1;
        let number = state.last;
        let (tool, call) = (tool.to_owned(), Arc::new(call));
        state.waiting.insert(number, WaitingCall { tool, call, answer: sender, _place: place });
        drop(state);
        self.news.send_replace(());
        Ok(PendingCall { connection: Arc::clone(self), number, answer })
    }

    /// Nobody waits for the answer any more.
    fn take_back(&self, call: u64) {
        let mut state = self.state();
        let Some(waiting) = state.waiting.remove(&call) else { return };
        state.last += 1;
        let reason = if waiting.call.deadline <= Instant::now().into_std() { "timeout" } else { "cancelled" };
        let cancel = FrontEndCancel { number: state.last, call, reason };
        if state.cancelled.len() >= KEPT_CANCELS {
            state.cancelled.pop_front();
        }
        state.cancelled.push_back(cancel);
        drop(state);
        self.news.send_replace(());
    }

    /// Waits for events behind the number `after`, of `most` calls at most, until
    /// `patience` is over. Nothing once it is closed.
    pub(super) async fn events(
        &self,
        after: u64,
        most: usize,
        patience: impl Future<Output = ()>,
    ) -> Option<Vec<FrontEndEvent>> {
        let _present = PresenceGuard::enter(&self.presence);
        let mut news = self.news.subscribe();
        tokio::pin!(patience);
        loop {
            news.borrow_and_update();
            let events = self.behind(after, most)?;
            if !events.is_empty() {
                return Some(events);
            }
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return None,
                _ = news.changed() => {}
                () = &mut patience => return Some(Vec::new()),
            }
        }
    }

    fn behind(&self, after: u64, most: usize) -> Option<Vec<FrontEndEvent>> {
        let state = self.state();
        if state.closed {
            return None;
        }
        let (now, mut bytes, mut events) = (Instant::now(), 0, Vec::new());
        // Of a call that it was never told of it need not hear that it is over.
        let cancelled = state.cancelled.iter().filter(|cancel| cancel.call <= after && cancel.number > after);
        events.extend(cancelled.cloned().map(FrontEndEvent::Cancel));
        for (place, (number, waiting)) in state.waiting.range(after.saturating_add(1)..).enumerate() {
            if bytes > BATCH_BYTES || place >= most {
                // What comes behind would be taken for read.
                events.retain(|event| event.number() < *number);
                break;
            }
            let call = &waiting.call;
            bytes += json_bytes(&call.arguments);
            events.push(FrontEndEvent::Call(FrontEndCall {
                number: *number,
                tool: waiting.tool.clone(),
                arguments: call.arguments.clone(),
                session: call.caller.context.session.clone(),
                assistant: call.caller.context.assistant.clone(),
                thread: call.caller.context.thread.clone(),
                remaining_ms: milliseconds(waiting.call.deadline.saturating_duration_since(now.into_std())),
            }));
        }
        drop(state);
        events.sort_by_key(FrontEndEvent::number);
        Some(events)
    }

    /// The call of this number, where it waits.
    fn with<T>(&self, call: u64, take: impl FnOnce(&mut ConnectionState) -> Option<T>) -> Result<T, Error> {
        let mut state = self.state();
        if let Some(found) = take(&mut state) {
            return Ok(found);
        }
        if call == 0 || call > state.last {
            return Err(Error::new(Code::NotFound, "there is no such call"));
        }
        let told = match state.cancelled.iter().find(|cancel| cancel.call == call) {
            Some(cancel) => Error::new(
                Code::Gone,
                format!("nobody waits for the answer to call {call} any more ({}); drop it", cancel.reason),
            ),
            None => Error::new(Code::Conflict, format!("call {call} is over: it was answered, or ended long ago")),
        };
        Err(told)
    }

    /// The call of this number, where it waits.
    pub(super) fn call(&self, call: u64) -> Result<Arc<AppCall>, Error> {
        self.with(call, |state| state.waiting.get(&call).map(|waiting| Arc::clone(&waiting.call)))
    }

    /// Which tool a call is of, where it waits.
    pub(super) fn tool_of(&self, call: u64) -> Result<String, Error> {
        self.with(call, |state| state.waiting.get(&call).map(|waiting| waiting.tool.clone()))
    }

    /// Answers a call that waits.
    pub(super) fn answer(&self, call: u64, answer: Result<Answer, Error>) -> Result<(), Error> {
        let waiting = self.with(call, |state| state.waiting.remove(&call))?;
        let gone = |_| Error::new(Code::Gone, format!("nobody waits for the answer to call {call} any more; drop it"));
        waiting.answer.send(answer).map_err(gone)
    }

    /// How many calls wait.
    pub(super) fn waiting(&self) -> u64 {
        self.state().waiting.len() as u64
    }

    /// It was heard of.
    pub(super) fn touch(&self) {
        self.presence.send_modify(|presence| presence.seen = Instant::now());
    }

    /// Waits until it was not there for so long, or is closed.
    pub(super) async fn silent_for(&self, silent: Duration) {
        let mut presence = self.presence.subscribe();
        loop {
            let until = {
                let presence = presence.borrow_and_update();
                (presence.followers == 0).then(|| presence.seen + silent)
            };
            let silence = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return,
                _ = presence.changed() => {}
                () = silence => return,
            }
        }
    }

    /// Ends every call that waits, and takes no further one.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.closed.cancel();
        for waiting in waiting.into_values() {
            // A caller that has gone meanwhile needs no answer.
            let _ = waiting.answer.send(Err(self.gone()));
        }
    }
}

impl PendingCall {
    /// Waits for the answer.
    pub(super) async fn answered(mut self) -> Result<Answer, Error> {
        (&mut self.answer).await.unwrap_or_else(|_| Err(self.connection.gone()))
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.connection.take_back(self.number);
    }
}

/// As long as it lives, the front end is there.
struct PresenceGuard<'p>(&'p watch::Sender<Presence>);

impl<'p> PresenceGuard<'p> {
    fn enter(presence: &'p watch::Sender<Presence>) -> Self {
        presence.send_modify(|presence| presence.followers += 1);
        Self(presence)
    }
}

impl Drop for PresenceGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|presence| {
            presence.followers -= 1;
            presence.seen = Instant::now();
        });
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
