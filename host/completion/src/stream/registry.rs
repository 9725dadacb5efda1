//! The streams of a host, by id.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use wharf_core::{
    Context, PluginName, Quota, SessionId, Share, StreamLimits, StreamOwner, TenantId,
    handle::HandleMint,
    quota::{Bounds, Level},
    text,
};

use super::{
    Ended, StreamError, StreamId, StreamInfo, StreamReader, StreamWriter,
    record::{Decider, Record},
    totals::Totals,
};
use crate::detection::{Detector, Parameters};

/// The longest title, in bytes.
const TITLE_BYTES: usize = 256;

/// Every stream of a host. Clones are the same streams.
///
/// ```
/// use std::time::Duration;
/// use wharf_completion::{
///     Streams,
///     detection::{AgentStatus, Preset},
///     stream::{EventKind, Message, OpenStream, Turns},
/// };
/// use wharf_core::{Context, SessionId, StreamLimits, StreamOwner, TenantId};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wharf_completion::stream::StreamError> {
/// let streams = Streams::new(StreamLimits::default());
/// let context = Context::new(TenantId::local(), SessionId::default_session());
/// let turns = Turns::One(Preset::Agent.into());
/// let writer = streams.open(StreamOwner::host(&context), OpenStream { title: "a search", turns, held_by: None })?;
/// writer.status(AgentStatus::Processing)?;
/// writer.message(Message { text: "found it", cursors: None })?;
/// writer.complete()?;
///
/// let reader = streams.reader(&context, writer.id())?;
/// let batch = reader.read(2, 100, 65_536, Duration::from_secs(1)).await?;
/// assert_eq!(batch.events[0].kind, EventKind::Message);
/// assert_eq!(batch.events[1].kind, EventKind::Complete);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Streams {
    limits: Arc<StreamLimits>,
    handles: HandleMint,
    places: Arc<Quota>,
    totals: Arc<Totals>,
    // A blocking lock: held to look up, never across an await.
    records: Arc<Mutex<HashMap<StreamId, Kept>>>,
}

/// A stream that can be found, and its place. Readers of a forgotten stream
/// read on, and it takes no place then.
struct Kept {
    record: Arc<Record>,
    _place: Share,
}

/// A stream to open.
#[derive(Debug)]
pub struct OpenStream<'o> {
    /// What it is about: one line, cut at 256 bytes.
    pub title: &'o str,
    /// Its turns.
    pub turns: Turns,
    /// What lets it live, such as `terminal`: it ends when its writer closes
    /// it, and neither when idle nor by a reader. Absent for all others.
    pub held_by: Option<&'static str>,
}

/// What decides when turns begin and end.
#[derive(Debug)]
pub enum Turns {
    /// One turn, which begins now; its end is detected, and ends the stream.
    One(Parameters),
    /// The writer begins turns; their ends are detected.
    Detected(Parameters),
    /// The writer begins and ends turns.
    Told,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Streams").field("streams", &self.lock().len()).finish_non_exhaustive()
    }
}

impl Streams {
    /// No stream is open yet.
    #[must_use]
    pub fn new(limits: StreamLimits) -> Self {
        let places = Quota::new(Bounds {
            resource: "streams",
            section: "[stream.limits]",
            session: Some(("streams_per_session", limits.streams_per_session)),
            tenant: ("streams_per_tenant", limits.streams_per_tenant),
            host: ("streams", limits.streams),
        });
        let (totals, records) = (Arc::default(), Arc::default());
        Self { limits: Arc::new(limits), handles: HandleMint::default(), places, totals, records }
    }

    /// The same with ids of this mint; without it they are those of a host that stands
    /// alone. Clones that were made before keep theirs.
    #[must_use]
    pub fn with_handles(self, handles: HandleMint) -> Self {
        Self { handles, ..self }
    }

    /// Opens a stream.
    ///
    /// # Errors
    /// `limit`, retryable, where the session, the tenant or the host has as
    /// many as it may and none of the session's or the tenant's has ended; `invalid` for parameters
    /// that contradict themselves.
    pub fn open(&self, owner: StreamOwner, request: OpenStream<'_>) -> Result<StreamWriter, StreamError> {
        let detected = |parameters: Parameters, once| -> Result<_, StreamError> {
            let adapts = parameters.adaptation.is_some();
            let mut detector = Detector::new(parameters, None)?;
            if adapts {
                detector = self.as_learned(&owner, detector);
            }
            Ok(Decider::Detector { detector: Box::new(detector), once })
        };
        let (decider, once) = match request.turns {
            Turns::One(parameters) => (detected(parameters, true)?, true),
            Turns::Detected(parameters) => (detected(parameters, false)?, false),
            Turns::Told => (Decider::Source, false),
        };
        let id = self.handles.handle().map(StreamId).map_err(|error| StreamError::Randomness(Box::new(error)))?;
        let title = text::line(request.title, TITLE_BYTES);
        let record =
            Arc::new(Record::new(id, owner, title, request.held_by, decider, &self.limits, Arc::clone(&self.totals)));
        let writer = StreamWriter { record: Arc::clone(&record) };
        if once {
            writer.begin_turn(None)?;
        }
        let mut records = self.lock();
        self.expire(&mut records);
        let place = self.place(&mut records, &record.owner)?;
        records.insert(id, Kept { record, _place: place });
        Ok(writer)
    }

    /// With what the last stream of the same owner that is kept has learned of
    /// its source.
    fn as_learned(&self, owner: &StreamOwner, detector: Detector) -> Detector {
        let last = {
            let records = self.lock();
            let own = records.values().filter(|kept| kept.record.owner == *owner && kept.record.is_judged());
            own.max_by_key(|kept| kept.record.opened).map(|kept| Arc::clone(&kept.record))
        };
        match last {
            Some(last) => match last.now().detector() {
                Some(known) => detector.with_responses_of(known),
                None => detector,
            },
            None => detector,
        }
    }

    /// How many turns ended whose end was detected here, by reason and
    /// confidence. Those of terminals are not among them.
    #[must_use]
    pub fn turns_ended(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.totals.turns.totals()
    }

    /// How many streams ended, by why.
    #[must_use]
    pub fn streams_ended(&self) -> BTreeMap<&'static str, u64> {
        self.totals.all_ended()
    }

    /// How many streams are kept, of whatever owner.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// The writer of a stream that this very owner opened.
    ///
    /// # Errors
    /// `not-found` where there is none; `gone` where its id names another host.
    pub fn writer(&self, owner: &StreamOwner, id: StreamId) -> Result<StreamWriter, StreamError> {
        let record = self.find(id, |found| *found == *owner)?;
        Ok(StreamWriter { record })
    }

    /// A reader of a stream of this context's session and assistant.
    ///
    /// # Errors
    /// `not-found` where there is none; `gone` where its id names another host.
    pub fn reader(&self, context: &Context, id: StreamId) -> Result<StreamReader, StreamError> {
        let record = self.find(id, |owner| owner.is_read_by(context))?;
        Ok(StreamReader { record })
    }

    /// The streams that this context may read, oldest first.
    #[must_use]
    pub fn list(&self, context: &Context) -> Vec<StreamInfo> {
        let mut found: Vec<_> = {
            let records = self.lock();
            let all = records.values().map(|kept| &kept.record);
            all.filter(|record| record.owner.is_read_by(context)).cloned().collect()
        };
        found.sort_by_key(|record| record.opened);
        found.iter().map(|record| record.info()).collect()
    }

    /// All streams and whose they are, for the operator, oldest first. This is no use of them.
    #[must_use]
    pub fn all(&self) -> Vec<(StreamOwner, StreamInfo)> {
        let mut all: Vec<_> = self.lock().values().map(|kept| Arc::clone(&kept.record)).collect();
        all.sort_by_key(|record| record.opened);
        all.iter().map(|record| (record.owner.clone(), record.info())).collect()
    }

    /// Ends a stream of this context and forgets it; its readers are told that it ended.
    ///
    /// # Errors
    /// As for [`Streams::reader`]; `conflict` where something else lets it live.
    pub fn delete(&self, context: &Context, id: StreamId) -> Result<StreamInfo, StreamError> {
        let StreamReader { record } = self.reader(context, id)?;
        record.change(|state| match record.held_by.filter(|_| state.ended.is_none()) {
            Some(holder) => Err(StreamError::Held(holder)),
            None => {
                state.end(Ended::Deleted);
                Ok(())
            }
        })?;
        self.lock().remove(&id);
        Ok(record.info())
    }

    /// Ends the streams that a plugin opened, but for those that something else ends:
    /// it is gone, and nothing will come any more. How many that were.
    pub fn end_plugin(&self, plugin: &PluginName) -> usize {
        self.end(|owner| owner.plugin == *plugin)
    }

    fn end(&self, of: impl Fn(&StreamOwner) -> bool) -> usize {
        let open: Vec<_> = {
            let records = self.lock();
            let all = records.values().map(|kept| &kept.record);
            let all = all.filter(|record| record.held_by.is_none() && of(&record.owner));
            all.filter(|record| record.now().ended.is_none()).cloned().collect()
        };
        let count = open.len();
        open.into_iter().for_each(|record| StreamWriter { record }.close());
        count
    }

    /// The sessions that have a stream, where `with_ended` also one that has ended.
    #[must_use]
    pub fn sessions(&self, with_ended: bool) -> HashSet<(TenantId, SessionId)> {
        let records = self.lock();
        let all = records.values().map(|kept| &kept.record);
        let all = all.filter(|record| with_ended || record.now().ended.is_none());
        all.map(|record| (record.owner.tenant.clone(), record.owner.session.clone())).collect()
    }

    /// Ends the streams of all sessions, but for those that something else ends.
    pub fn end_all(&self) {
        self.end(|_| true);
    }

    /// Ends the streams that nobody used for long, and forgets those that
    /// ended long ago. How many are left. Opening one does the same.
    pub fn sweep(&self) -> usize {
        let mut records = self.lock();
        self.expire(&mut records);
        records.len()
    }

    /// What names another host is gone, also what an earlier incarnation of this one opened.
    fn find(&self, id: StreamId, is_theirs: impl FnOnce(&StreamOwner) -> bool) -> Result<Arc<Record>, StreamError> {
        if self.handles.is_of_another_host(&id.0) {
            return Err(StreamError::HostEnded);
        }
        let found = self.lock().get(&id).map(|kept| Arc::clone(&kept.record));
        found.filter(|record| is_theirs(&record.owner)).ok_or(StreamError::NotFound)
    }

    fn expire(&self, records: &mut HashMap<StreamId, Kept>) {
        let idle = Duration::from_secs(self.limits.idle_seconds);
        let kept = Duration::from_secs(self.limits.ended_seconds);
        records.retain(|_, Kept { record, .. }| {
            let mut state = record.now();
            if record.held_by.is_none() && state.ended.is_none() && state.used.elapsed() >= idle {
                state.end(Ended::Expired);
                record.changed.notify_waiters();
            }
            state.ended.is_none_or(|(at, _)| at.elapsed() < kept)
        });
    }

    /// Takes a place for another one; forgets the oldest of the owner's tenant
    /// that ended where that makes room. No other tenant's stream goes for it.
    fn place(&self, records: &mut HashMap<StreamId, Kept>, owner: &StreamOwner) -> Result<Share, StreamError> {
        loop {
            let full = match self.places.take(&owner.tenant, &owner.session, 1) {
                Ok(place) => return Ok(place),
                Err(full) => full,
            };
            let counts = |of: &StreamOwner| {
                of.tenant == owner.tenant && (full.level != Level::Session || of.session == owner.session)
            };
            let own = records.values().filter(|kept| counts(&kept.record.owner));
            let ended =
                own.filter_map(|kept| kept.record.now().ended.map(|(at, _): (Instant, _)| (at, kept.record.id)));
            let (_, oldest) = ended.min().ok_or(StreamError::TooMany(full))?;
            records.remove(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<StreamId, Kept>> {
        self.records.lock()
    }
}
