//! One session of the older era: which message belongs to which stream, what
//! runs in it, and since when it is unused.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta, JsonRpcRequest, ProgressToken,
        RequestId, ServerJsonRpcMessage, ServerNotification,
    },
    service::OriginatingRequestId,
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    event_buffer::{BufferReader, EventBuffer},
    permits::{AnswerPermit, SessionPermit},
};

/// Messages of the client that were not taken up yet. Further ones wait.
const INCOMING: usize = 64;

/// Answers that are kept for clients that come back.
const MOST_ENDED: usize = 64;

/// One session.
pub(super) struct LegacySession {
    incoming: mpsc::Sender<ClientJsonRpcMessage>,
    /// Fires when it ends, for whatever reason.
    pub(super) over: CancellationToken,
    idle: Duration,
    most_bytes: u64,
    /// The number of the stream of what the server says unasked. Requests have later ones.
    unasked: u64,
    // A blocking lock: held for a look-up, or to end streams.
    state: Mutex<SessionState>,
}

struct SessionState {
    /// By number: what is unasked, and each request that runs or whose answer is kept.
    streams: BTreeMap<u64, SessionStream>,
    requests: HashMap<RequestId, u64>,
    next: u64,
    used: Instant,
    permit: Option<SessionPermit>,
}

#[derive(Default)]
struct SessionStream {
    buffer: Arc<EventBuffer>,
    progress: Option<ProgressToken>,
    /// While the request runs.
    running: Option<Arc<AnswerPermit>>,
    ended: bool,
}

/// The stream of one request, and its number in the session.
pub(super) struct OpenedStream {
    pub(super) number: u64,
    pub(super) reader: BufferReader,
}

/// Why a request cannot begin.
pub(super) enum BeginError {
    /// The session has ended.
    Over,
    /// Another one with its id runs.
    Twice,
}

impl LegacySession {
    /// A session that ends once it is unused for so long and keeps so many bytes, and what its
    /// client sends. Its streams are numbered from `first` on.
    pub(super) fn new(
        over: CancellationToken,
        (idle, most_bytes): (Duration, u64),
        permit: SessionPermit,
        first: u64,
    ) -> (Self, mpsc::Receiver<ClientJsonRpcMessage>) {
        let (incoming, received) = mpsc::channel(INCOMING);
        let state = SessionState {
            streams: BTreeMap::from([(first, SessionStream::default())]),
            requests: HashMap::new(),
            next: first + 1,
            used: Instant::now(),
            permit: Some(permit),
        };
        (Self { incoming, over, idle, most_bytes, unasked: first, state: Mutex::new(state) }, received)
    }

    /// Forwards a message of the client to the protocol crate; nothing where the session has
    /// ended.
    pub(super) async fn forward(&self, message: ClientJsonRpcMessage) -> Option<()> {
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            // Nothing answers it.
            self.state().end(id);
        }
        self.state().used = Instant::now();
        tokio::select! {
            biased;
            () = self.over.cancelled() => None,
            sent = self.incoming.send(message) => sent.ok(),
        }
    }

    /// Makes the stream of a request.
    pub(super) fn begin(
        &self,
        request: &JsonRpcRequest<ClientRequest>,
        running: Option<Arc<AnswerPermit>>,
    ) -> Result<OpenedStream, BeginError> {
        let mut state = self.state();
        // It fires before the streams that are there end.
        if self.over.is_cancelled() {
            return Err(BeginError::Over);
        }
        if state.requests.contains_key(&request.id) {
            return Err(BeginError::Twice);
        }
        let number = state.next;
        state.next += 1;
        state.used = Instant::now();
        state.requests.insert(request.id.clone(), number);
        let progress = request.request.get_meta().get_progress_token();
        let stream = SessionStream { progress, running, ..SessionStream::default() };
        let reader = stream.buffer.reader(None);
        state.streams.insert(number, stream);
        Ok(OpenedStream { number, reader })
    }

    /// Follows what the server says unasked.
    pub(super) fn unasked(&self) -> Option<OpenedStream> {
        self.read(self.unasked, None)
    }

    /// Follows a stream behind a message that was read, by the id that
    /// [`event_id`] made for it.
    pub(super) fn resume(&self, id: &str) -> Option<OpenedStream> {
        let (stream, last) = id.split_once('-')?;
        self.read(stream.parse().ok()?, Some(last.parse().ok()?))
    }

    fn read(&self, number: u64, last: Option<u64>) -> Option<OpenedStream> {
        let mut state = self.state();
        if self.over.is_cancelled() {
            return None;
        }
        state.used = Instant::now();
        let reader = state.streams.get(&number)?.buffer.reader(last);
        Some(OpenedStream { number, reader })
    }

    /// Forgets a stream whose answer has reached its client.
    pub(super) fn forget(&self, number: u64) {
        self.state().streams.remove(&number);
    }

    /// Puts a message of the server on the stream that it belongs to.
    pub(super) fn deliver(&self, message: &ServerJsonRpcMessage) -> Result<(), serde_json::Error> {
        let json = Bytes::from(serde_json::to_vec(message)?);
        let mut state = self.state();
        let (number, answered) = match message {
            ServerJsonRpcMessage::Response(response) => (state.requests.get(&response.id), Some(&response.id)),
            ServerJsonRpcMessage::Error(error) => {
                (error.id.as_ref().and_then(|id| state.requests.get(id)), error.id.as_ref())
            }
            ServerJsonRpcMessage::Request(request) => (state.origin(&request.request), None),
            ServerJsonRpcMessage::Notification(notification) => (state.about(&notification.notification), None),
        };
        let number = number.copied().unwrap_or(self.unasked);
        if let Some(stream) = state.streams.get_mut(&number) {
            if answered.is_some() {
                // Before a reader can see that it is answered.
                stream.running = None;
            }
            stream.buffer.append(json, self.most_bytes);
        }
        if let Some(id) = answered {
            state.end(id);
        }
        state.evict(self.most_bytes);
        Ok(())
    }

    /// When it will have been unused for too long, as far as is known now;
    /// nothing where that is now.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        let mut state = self.state();
        let now = Instant::now();
        if state.is_used() {
            state.used = now;
        }
        let at = state.used + self.idle;
        (at > now).then_some(at)
    }

    /// Since when it is unused; nothing while it is used.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        let state = self.state();
        (!state.is_used()).then_some(state.used)
    }

    /// Ends it: what runs is taken back, and all streams end.
    pub(super) fn end(&self) {
        self.over.cancel();
        let mut state = self.state();
        state.permit = None;
        for stream in state.streams.values_mut() {
            stream.running = None;
            stream.buffer.end();
        }
    }

    /// The requests that run.
    pub(super) fn running(&self) -> Vec<RequestId> {
        self.state().requests.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }
}

impl SessionState {
    fn is_used(&self) -> bool {
        !self.requests.is_empty() || self.streams.values().any(|stream| stream.buffer.has_reader())
    }

    /// A request runs no longer.
    fn end(&mut self, id: &RequestId) {
        self.used = Instant::now();
        let Some(number) = self.requests.remove(id) else { return };
        if let Some(stream) = self.streams.get_mut(&number) {
            (stream.running, stream.progress, stream.ended) = (None, None, true);
            stream.buffer.end();
        }
    }

    /// The stream of the request in whose course the server asks something.
    fn origin(&self, request: &impl GetExtensions) -> Option<&u64> {
        let OriginatingRequestId(id) = request.extensions().get()?;
        self.requests.get(id)
    }

    fn about(&self, notification: &ServerNotification) -> Option<&u64> {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                let token = Some(&progress.params.progress_token);
                self.streams.iter().find(|(_, stream)| stream.progress.as_ref() == token).map(|(number, _)| number)
            }
            ServerNotification::CancelledNotification(cancelled) => {
                self.requests.get(cancelled.params.request_id.as_ref()?)
            }
            _ => None,
        }
    }

    /// Forgets the oldest answers where too much is kept: first those that
    /// were read.
    fn evict(&mut self, most_bytes: u64) {
        let mut kept: u64 = self.streams.values().map(|stream| stream.buffer.bytes()).sum();
        let ended: Vec<_> = self.streams.iter().filter(|(_, stream)| stream.ended).map(|(number, _)| *number).collect();
        let mut count = ended.len();
        for read_only in [true, false] {
            for number in &ended {
                if kept <= most_bytes && count <= MOST_ENDED {
                    return;
                }
                let goes = self
                    .streams
                    .get(number)
                    .filter(|stream| !stream.buffer.has_reader() && (!read_only || stream.buffer.was_delivered()));
                if let Some(bytes) = goes.map(|stream| stream.buffer.bytes()) {
                    self.streams.remove(number);
                    (kept, count) = (kept.saturating_sub(bytes), count - 1);
                }
            }
        }
        if kept > most_bytes {
            // What is left is being said or read: each keeps its part.
            let part = most_bytes / self.streams.len().max(1) as u64;
            self.streams.values().for_each(|stream| stream.buffer.trim(part));
        }
    }
}

/// The id of the message of this number on this stream.
pub(super) fn event_id(stream: u64, number: u64) -> String {
    format!("{stream}-{number}")
}
