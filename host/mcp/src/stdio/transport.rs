//! Messages as lines over a pair of byte streams.
//!
//! Owns reading up to a bounded line, answering what cannot be read, and
//! telling the connection that its client has gone. It never knows what a message means.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions, GetMeta, JsonRpcMessage,
        ProtocolVersion, RequestId, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio_util::sync::CancellationToken;
use wharf_core::{RequestMemory, TenantId};

use super::{
    direct::{DirectCall, DirectCalls},
    outbox::Outbox,
    scan::IdScanner,
    wire::{self, IncomingLine, MAX_MESSAGE_BYTES},
};
use crate::request_permit::{AnswerHold, RequestPermit};

/// What one read of the stream may bring: as much as a pipe holds.
const READ_BYTES: usize = 64 * 1024;
/// With this much unread by the client, messages wait until they are written.
const CROWDED_BYTES: usize = 256 * 1024;
/// With this much unread by the client, no further request is read.
const BACKLOG_BYTES: usize = 16 * 1024 * 1024;
/// How long the last answers may take to leave.
const CLOSE_TIME: Duration = Duration::from_secs(1);
/// How long calls may take to end that were cancelled; the protocol crate gives its own as long.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// Lines from `R`, lines to `W`.
pub(super) struct LineTransport<R, W> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the unread part of the buffer starts, and how far into it no line
    /// break was found.
    start: usize,
    searched: usize,
    skipping: Option<OversizedLine>,
    at_end: bool,
    outbox: Arc<Outbox<W>>,
    opened: bool,
    closed: CancellationToken,
    direct: DirectCalls,
    memory: RequestMemory,
    tenant: TenantId,
    /// The memory of each answer that is not written yet.
    unwritten: HashMap<RequestId, AnswerHold>,
}

/// A line that is too long, of which only the id is kept.
#[derive(Default)]
struct OversizedLine {
    scanner: IdScanner,
    bytes: u64,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// `closed` fires when the client has gone, in either direction; `direct` makes what calls
    /// the protocol crate need not see. `memory` is what the
    /// requests of this tenant and of all may take.
    pub(super) fn new(
        reader: R,
        writer: W,
        (closed, direct): (CancellationToken, DirectCalls),
        memory: RequestMemory,
        tenant: TenantId,
    ) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: None,
            at_end: false,
            outbox: Arc::new(Outbox::new(writer)),
            opened: false,
            closed,
            direct,
            memory,
            tenant,
            unwritten: HashMap::new(),
        }
    }

    /// The next line that is worth reading. Loses nothing where it is dropped
    /// half-way: the only await is a read into a buffer that stays.
    async fn next(&mut self) -> Option<IncomingLine> {
        loop {
            let unread = &self.buffer[self.start..];
            if let Some(found) = memchr::memchr(b'\n', &unread[self.searched..]) {
                let length = self.searched + found;
                let line = &unread[..length];
                let incoming = match self.skipping.take() {
                    Some(skipping) => skipping.answer(line),
                    None if length > MAX_MESSAGE_BYTES => OversizedLine::default().answer(line),
                    None => wire::admit(line, self.memory.begin(&self.tenant)),
                };
                self.start += length + 1;
                self.searched = 0;
                return Some(incoming);
            }
            self.searched = unread.len();
            if self.skipping.is_some() || unread.len() > MAX_MESSAGE_BYTES {
                self.skipping.get_or_insert_default().read(unread);
                self.start = self.buffer.len();
                self.searched = 0;
            }
            if self.at_end {
                return None;
            }
            self.make_room();
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) => {
                    self.at_end = true;
                    if self.start < self.buffer.len() {
                        // The last line needs no line break.
                        self.buffer.push(b'\n');
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "reading from the client failed");
                    self.at_end = true;
                }
            }
        }
    }

    fn make_room(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(READ_BYTES);
            self.start = 0;
        } else if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(READ_BYTES);
    }

    /// Whether the protocol crate, which gives up on a connection that opens
    /// with anything but a request, may see this message.
    fn admit(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if self.opened {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else {
            tracing::debug!("a message before the first request was ignored");
            return false;
        };
        self.opened = match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => {
                let meta = other.get_meta();
                meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                    && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
            }
        };
        true
    }
}

impl<R, W> LineTransport<R, W> {
    /// Notes a request that will be answered, or that nothing answers any more.
    fn note(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Some(permit) = request.request.extensions().get::<RequestPermit>() {
                    self.unwritten.insert(request.id.clone(), permit.answer().clone());
                }
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                    && !self.direct.cancel(id)
                {
                    self.unwritten.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Makes a call past the protocol crate.
    async fn call(&mut self, call: DirectCall)
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (outbox, closed) = (Arc::clone(&self.outbox), self.closed.clone());
        let is_last = self.start == self.buffer.len();
        let send = |message, memory| async move {
            queue(&outbox, message);
            drop(memory);
            // Who is gone is told of nothing.
            let _ = deliver(outbox, closed).await;
        };
        self.direct.begin(call, is_last, send).await;
    }

    /// The memory of what a message answers.
    fn answered(&mut self, message: &ServerJsonRpcMessage) -> Option<AnswerHold> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        self.unwritten.remove(id?)
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (outbox, closed, memory) = (Arc::clone(&self.outbox), self.closed.clone(), self.answered(&item));
        async move {
            queue(&outbox, item);
            // From here on it is text, of which there is a limit of its own.
            drop(memory);
            deliver(outbox, closed).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // A client that does not read its answers is not asked for more.
            self.outbox.below(BACKLOG_BYTES).await;
            match self.next().await {
                Some(IncomingLine::Message(message)) if self.opened => match self.direct.take(message) {
                    Ok(call) => self.call(call).await,
                    Err(message) => {
                        self.note(&message);
                        return Some(*message);
                    }
                },
                Some(IncomingLine::Message(message)) if self.admit(&message) => {
                    self.note(&message);
                    return Some(message);
                }
                Some(IncomingLine::Message(_) | IncomingLine::Nothing) => {}
                Some(IncomingLine::Refused(answer)) => {
                    queue(&self.outbox, answer);
                    // This future may be dropped at any await; a task is not.
                    tokio::spawn(deliver(Arc::clone(&self.outbox), self.closed.clone()));
                }
                None => {
                    // No other task waits until refusals are written.
                    let _ = tokio::time::timeout(CLOSE_TIME, self.outbox.settle()).await;
                    self.closed.cancel();
                    // Their answers leave by this transport.
                    self.direct.finished().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let _ = tokio::time::timeout(CANCELLED_TIME, self.direct.finished()).await;
        match tokio::time::timeout(CLOSE_TIME, self.outbox.close()).await {
            Ok(closed) => closed,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

fn queue<W: AsyncWrite + Unpin>(outbox: &Outbox<W>, message: ServerJsonRpcMessage) {
    match serde_json::to_vec(&message) {
        Ok(mut line) => {
            line.push(b'\n');
            outbox.push(&line);
        }
        Err(error) => tracing::error!(%error, "a message could not be written as JSON"),
    }
}

/// Writes what is queued; returns when the client has taken most of it.
async fn deliver<W: AsyncWrite + Unpin>(outbox: Arc<Outbox<W>>, closed: CancellationToken) -> io::Result<()> {
    let written = outbox.flush().await;
    if written.is_err() {
        closed.cancel();
    } else {
        tokio::select! {
            () = outbox.below(CROWDED_BYTES) => {}
            () = closed.cancelled() => {}
        }
    }
    written
}

impl OversizedLine {
    fn read(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn answer(mut self, rest: &[u8]) -> IncomingLine {
        self.read(rest);
        tracing::warn!(bytes = self.bytes, "a message beyond the limit was refused");
        IncomingLine::Refused(wire::oversized(self.bytes, self.scanner.finish()))
    }
}
