//! One stream: its events, its turn, its end.

use std::{sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::to_raw_value;
use tokio::{sync::Notify, time::Instant};
use wharf_core::{StreamLimits, StreamOwner, text::Following};

use super::{
    Completion, Ended, EventKind, StreamError, StreamId,
    event::{StatusData, milliseconds},
    ring::Ring,
    totals::Totals,
};
use crate::detection::{AgentStatus, Confidence, Decision, Detector, Event, Reason, Verdict, words};

/// What is known of a stream without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamInfo {
    /// Its handle.
    #[serde(rename = "stream")]
    pub id: StreamId,
    /// What it is about, in the words of who opened it.
    pub title: String,
    /// Who writes: a plugin's name, or `host`.
    pub source: String,
    /// The last status that the source said of itself.
    pub status: Option<&'static str>,
    /// The last turn, 0 where none began.
    pub turn: u64,
    /// Whether that turn still runs.
    pub turn_runs: bool,
    /// How the last turn ended, where it did.
    pub complete: Option<Completion>,
    /// The number of the oldest event that can still be read.
    pub first: u64,
    /// The number that the next event will have.
    pub next: u64,
    /// What it keeps, in bytes.
    pub bytes: u64,
    /// Milliseconds since it was opened.
    pub age_ms: u64,
    /// Milliseconds since it was last written to or read.
    pub idle_ms: u64,
    /// Why it ended; absent while it lives.
    pub ended: Option<Ended>,
}

/// What ends the turns.
pub(super) enum Decider {
    /// This detector; the stream ends with the first turn where `once`.
    Detector { detector: Box<Detector>, once: bool },
    /// The source.
    Source,
}

pub(super) struct Record {
    pub(super) id: StreamId,
    pub(super) owner: StreamOwner,
    pub(super) title: String,
    /// What lets it live, where neither idleness nor a reader may end it.
    pub(super) held_by: Option<&'static str>,
    pub(super) opened: Instant,
    judged: bool,
    event_bytes: u64,
    // A blocking lock: held to append or copy a few events,
    // never across an await.
    state: Mutex<State>,
    pub(super) changed: Notify,
}

pub(super) struct State {
    id: StreamId,
    totals: Arc<Totals>,
    opened: Instant,
    pub(super) ring: Ring,
    decider: Decider,
    status: Option<AgentStatus>,
    turn: u64,
    /// When the running turn began.
    runs_since: Option<Duration>,
    complete: Option<Completion>,
    /// The text of its messages so far, as far as the next one depends on it.
    pub(super) said: Following,
    pub(super) used: Instant,
    pub(super) ended: Option<(Instant, Ended)>,
    /// Why the source is over, in its words.
    pub(super) because: Option<String>,
}

impl Record {
    pub(super) fn new(
        id: StreamId,
        owner: StreamOwner,
        title: String,
        held_by: Option<&'static str>,
        decider: Decider,
        limits: &StreamLimits,
        totals: Arc<Totals>,
    ) -> Self {
        let opened = Instant::now();
        let most = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        let state = State {
            id,
            totals,
            opened,
            ring: Ring::new(most(limits.kept_events), most(limits.kept_bytes)),
            decider,
            status: None,
            turn: 0,
            runs_since: None,
            complete: None,
            said: Following::default(),
            used: opened,
            ended: None,
            because: None,
        };
        let judged = state.detector().is_some();
        let (state, changed) = (Mutex::new(state), Notify::new());
        Self { id, owner, title, held_by, opened, judged, event_bytes: limits.event_bytes, state, changed }
    }

    /// Whether the ends of its turns are detected here.
    pub(super) fn is_judged(&self) -> bool {
        self.judged
    }

    /// The state as it is now: all that became due since the last look has happened.
    pub(super) fn now(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if state.settle() {
            self.changed.notify_waiters();
        }
        state
    }

    /// Changes the state and wakes the tasks that wait for a change.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, StreamError>,
    ) -> Result<T, StreamError> {
        let mut state = self.now();
        state.used = Instant::now();
        let changed = change(&mut state);
        drop(state);
        self.changed.notify_waiters();
        changed
    }

    /// An event's JSON, measured.
    pub(super) fn written(&self, data: &impl Serialize) -> Result<Box<serde_json::value::RawValue>, StreamError> {
        let written = to_raw_value(data).unwrap_or_default();
        let bytes = written.get().len();
        if bytes as u64 > self.event_bytes {
            return Err(StreamError::TooLarge { bytes, limit: self.event_bytes });
        }
        Ok(written)
    }

    pub(super) fn info(&self) -> StreamInfo {
        let state = self.now();
        StreamInfo {
            id: self.id,
            title: self.title.clone(),
            source: self.owner.plugin.to_string(),
            status: state.status.map(AgentStatus::as_str),
            turn: state.turn,
            turn_runs: state.runs_since.is_some(),
            complete: state.complete.clone(),
            first: state.ring.first(),
            next: state.ring.next(),
            bytes: state.ring.bytes() as u64,
            age_ms: milliseconds(self.opened.elapsed()),
            idle_ms: milliseconds(state.used.elapsed()),
            ended: state.ended.map(|(_, why)| why),
        }
    }
}

impl State {
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    pub(super) fn runs(&self) -> bool {
        self.runs_since.is_some()
    }

    /// When the detector wants to be asked if nothing happens before.
    pub(super) fn ask_again(&self) -> Option<Instant> {
        let Decider::Detector { detector, .. } = &self.decider else { return None };
        self.runs_since?;
        detector.decision().ask_again.and_then(|at| self.opened.checked_add(at))
    }

    pub(super) fn open(&self) -> Result<(), StreamError> {
        self.ended.map_or(Ok(()), |(_, why)| Err(StreamError::Ended(why.as_str())))
    }

    /// Hands in the time. Whether that ended the turn.
    fn settle(&mut self) -> bool {
        let at = self.opened.elapsed();
        let Decider::Detector { detector, .. } = &mut self.decider else { return false };
        if self.runs_since.is_none() {
            return false;
        }
        let decision = detector.feed(Event::Tick, at);
        if decision.is_complete() {
            self.complete(&decision);
        }
        decision.is_complete()
    }

    /// Begins a turn, of the next number where none is given. Its number, and
    /// that of the event with which it begins.
    pub(super) fn begin(&mut self, number: Option<u64>) -> Result<(u64, u64), StreamError> {
        self.open()?;
        if self.runs() {
            return Err(StreamError::Busy);
        }
        let given = number.unwrap_or(self.turn + 1);
        if given <= self.turn {
            return Err(StreamError::TurnNumber { last: self.turn, given });
        }
        let at = self.opened.elapsed();
        if let Decider::Detector { detector, .. } = &mut self.decider {
            detector.feed(Event::Input { text: "" }, at);
        }
        (self.turn, self.runs_since, self.complete) = (given, Some(at), None);
        Ok((given, self.ring.next()))
    }

    /// Appends an event, and tells the detector what it means. Its number.
    pub(super) fn append(
        &mut self,
        kind: EventKind,
        data: Box<serde_json::value::RawValue>,
        meaning: Event<'_>,
    ) -> Result<u64, StreamError> {
        self.open()?;
        let number = self.ring.append(self.turn, kind, data);
        self.tell(meaning);
        Ok(number)
    }

    /// Tells the detector of the running turn what happened. What passed
    /// before has been settled under the same lock.
    pub(super) fn tell(&mut self, meaning: Event<'_>) {
        let at = self.opened.elapsed();
        let Decider::Detector { detector, .. } = &mut self.decider else { return };
        if self.runs_since.is_some() {
            let decision = detector.feed(meaning, at);
            if decision.is_complete() {
                self.complete(&decision);
            }
        }
    }

    pub(super) fn status(&mut self, status: AgentStatus) -> Result<u64, StreamError> {
        let data = to_raw_value(&StatusData::new(self.turn, status)).unwrap_or_default();
        let number = self.append(EventKind::Status, data, Event::Status(status))?;
        self.status = Some(status);
        Ok(number)
    }

    /// Whether the source ends its turns itself.
    pub(super) fn is_told(&self) -> bool {
        matches!(self.decider, Decider::Source)
    }

    /// How the running turn stands.
    pub(super) fn decision(&self) -> Decision {
        match &self.decider {
            Decider::Detector { detector, .. } => detector.decision(),
            Decider::Source => {
                let since = self.runs_since.unwrap_or_default();
                Decision { elapsed: self.opened.elapsed().saturating_sub(since), ..Decision::default() }
            }
        }
    }

    /// Ends the running turn, and with it a stream of one turn. Its number is
    /// that of the event.
    pub(super) fn complete(&mut self, decision: &Decision) -> u64 {
        let completion = Completion::new(self.turn, decision).explained(decision, self.because.as_deref());
        let data = to_raw_value(&completion).unwrap_or_default();
        let number = self.ring.append(self.turn, EventKind::Complete, data);
        (self.runs_since, self.complete) = (None, Some(completion));
        // Where the source decides, it counts and logs, too.
        if let Decider::Detector { once, .. } = self.decider {
            self.totals.turns.count(decision);
            let (reason, confidence) = words(decision);
            let (turn, messages, elapsed) = (self.turn, decision.messages, decision.elapsed);
            tracing::info!(stream = %self.id, turn, reason, confidence, messages, ?elapsed, "a turn of a stream is over");
            if once && self.ended.is_none() {
                self.set_ended(Ended::Completed);
            }
        }
        number
    }

    fn set_ended(&mut self, why: Ended) {
        self.ended = Some((Instant::now(), why));
        self.totals.ended(why);
        tracing::info!(stream = %self.id, why = why.as_str(), "a stream has ended");
    }

    /// The detector of this stream, where it has one.
    pub(super) fn detector(&self) -> Option<&Detector> {
        match &self.decider {
            Decider::Detector { detector, .. } => Some(detector),
            Decider::Source => None,
        }
    }

    /// Ends the stream, and the turn that runs first.
    pub(super) fn end(&mut self, why: Ended) {
        if self.ended.is_some() {
            return;
        }
        self.set_ended(why);
        if self.runs() {
            let mut decision = self.decision();
            // A source that closes its stream completes the turn; any other end cancels it.
            decision.verdict = (why == Ended::Closed)
                .then_some(Verdict { reason: Reason::StreamClosed, confidence: Confidence::High });
            self.complete(&decision);
        }
    }
}
