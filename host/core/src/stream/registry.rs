//! The streams of a host, by id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Ended, StreamError, StreamId, StreamInfo, StreamReader, StreamWriter,
    record::{Decider, Record},
};
use crate::{
    Context, PluginName, StreamLimits, StreamOwner,
    completion::{Detector, Parameters},
    text,
};

/// The longest title, in bytes.
const TITLE_BYTES: usize = 256;

/// Every stream of a host. Clones are the same streams.
///
/// ```
/// use std::time::Duration;
/// use wharf_core::{
///     Context, SessionId, StreamLimits, StreamOwner, Streams, TenantId,
///     completion::{AgentStatus, Preset},
///     stream::{EventKind, Message, OpenStream, Turns},
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wharf_core::stream::StreamError> {
/// let streams = Streams::new(StreamLimits::default());
/// let context = Context::new(TenantId::local(), SessionId::default_session());
/// let turns = Turns::One(Preset::Agent.parameters());
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
    // A lock of the standard library: held to look up, never across an await.
    records: Arc<Mutex<HashMap<StreamId, Arc<Record>>>>,
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

/// Who says when turns begin and end.
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
        Self { limits: Arc::new(limits), records: Arc::default() }
    }

    /// Opens a stream.
    ///
    /// # Errors
    /// `limit`, retryable, where the session, the tenant or the host has as
    /// many as it may and none of them has ended; `invalid` for parameters
    /// that contradict themselves.
    pub fn open(&self, owner: StreamOwner, request: OpenStream<'_>) -> Result<StreamWriter, StreamError> {
        let detected = |parameters, once| -> Result<_, StreamError> {
            Ok(Decider::Detector { detector: Box::new(Detector::new(parameters, None)?), once })
        };
        let (decider, once) = match request.turns {
            Turns::One(parameters) => (detected(parameters, true)?, true),
            Turns::Detected(parameters) => (detected(parameters, false)?, false),
            Turns::Told => (Decider::Source, false),
        };
        let id = StreamId::random()?;
        let title = text::line(request.title, TITLE_BYTES);
        let record = Arc::new(Record::new(id, owner, title, request.held_by, decider, &self.limits));
        let writer = StreamWriter { record: Arc::clone(&record) };
        if once {
            writer.begin_turn(None)?;
        }
        let mut records = self.lock();
        self.expire(&mut records);
        self.make_room(&mut records, &record.owner)?;
        records.insert(id, record);
        Ok(writer)
    }

    /// How many streams are kept, of whatever owner.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// The writer of a stream that this very owner opened.
    ///
    /// # Errors
    /// `not-found` where there is none.
    pub fn writer(&self, owner: &StreamOwner, id: StreamId) -> Result<StreamWriter, StreamError> {
        let found = self.lock().get(&id).filter(|record| record.owner == *owner).cloned();
        found.map(|record| StreamWriter { record }).ok_or(StreamError::NotFound)
    }

    /// A reader of a stream of this context's session and assistant.
    ///
    /// # Errors
    /// `not-found` where there is none.
    pub fn reader(&self, context: &Context, id: StreamId) -> Result<StreamReader, StreamError> {
        let found = self.lock().get(&id).filter(|record| record.owner.is_read_by(context)).cloned();
        found.map(|record| StreamReader { record }).ok_or(StreamError::NotFound)
    }

    /// The streams that this context may read, oldest first.
    #[must_use]
    pub fn list(&self, context: &Context) -> Vec<StreamInfo> {
        let mut found: Vec<_> = {
            let records = self.lock();
            records.values().filter(|record| record.owner.is_read_by(context)).cloned().collect()
        };
        found.sort_by_key(|record| record.opened);
        found.iter().map(|record| record.info()).collect()
    }

    /// Ends a stream of this context and forgets it; who reads it is told that
    /// it ended.
    ///
    /// # Errors
    /// `not-found` where there is none, `conflict` where something else lets
    /// it live.
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
        let open: Vec<_> = {
            let records = self.lock();
            let of_plugin = |record: &&Arc<Record>| record.owner.plugin == *plugin && record.held_by.is_none();
            records.values().filter(of_plugin).filter(|record| record.now().ended.is_none()).cloned().collect()
        };
        let count = open.len();
        open.into_iter().for_each(|record| StreamWriter { record }.close());
        count
    }

    /// Ends the streams that nobody used for long, and forgets those that
    /// ended long ago. How many are left. Opening one does the same.
    pub fn sweep(&self) -> usize {
        let mut records = self.lock();
        self.expire(&mut records);
        records.len()
    }

    fn expire(&self, records: &mut HashMap<StreamId, Arc<Record>>) {
        let idle = Duration::from_secs(self.limits.idle_seconds);
        let kept = Duration::from_secs(self.limits.ended_seconds);
        records.retain(|_, record| {
            let mut state = record.now();
            if record.held_by.is_none() && state.ended.is_none() && state.used.elapsed() >= idle {
                state.end(Ended::Expired);
                record.changed.notify_waiters();
            }
            state.ended.is_none_or(|(at, _)| at.elapsed() < kept)
        });
    }

    /// Whether another one may be opened; forgets the oldest that ended where
    /// that makes it so.
    fn make_room(&self, records: &mut HashMap<StreamId, Arc<Record>>, owner: &StreamOwner) -> Result<(), StreamError> {
        let of_tenant = |record: &Record| record.owner.tenant == owner.tenant;
        let of_session = |record: &Record| of_tenant(record) && record.owner.session == owner.session;
        // The narrowest first: nobody's streams go for what is full by one session alone.
        type Counted<'c> = (&'static str, u64, &'c dyn Fn(&Record) -> bool);
        let limits: [Counted<'_>; 3] = [
            ("streams_per_session", self.limits.streams_per_session, &of_session),
            ("streams_per_tenant", self.limits.streams_per_tenant, &of_tenant),
            ("streams", self.limits.streams, &|_| true),
        ];
        for (name, limit, counts) in limits {
            let counted = || records.values().filter(|record| counts(record));
            if (counted().count() as u64) < limit {
                continue;
            }
            let ended = |record: &Arc<Record>| record.now().ended.map(|(at, _): (Instant, _)| (at, record.id));
            let Some((_, oldest)) = counted().filter_map(ended).min() else {
                return Err(StreamError::TooMany(name));
            };
            records.remove(&oldest);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<StreamId, Arc<Record>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
