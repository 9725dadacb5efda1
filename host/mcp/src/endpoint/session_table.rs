//! The sessions of one client: how many, how long, and which one a request
//! belongs to.
//!
//! A table of our own in place of the protocol crate's: there a client that
//! reads nothing holds up its whole session, answers are forgotten as soon as
//! they were sent, and calls that run count as idle.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use futures_util::{Stream, stream::empty};
use http::request::Parts;
use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    RoleServer,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, GetExtensions,
        RequestId, ServerJsonRpcMessage,
    },
    transport::{
        Transport,
        streamable_http_server::{
            RestoreOutcome, SessionManager, SessionRestoreMarker,
            session::{ServerSseMessage, SessionId},
        },
    },
};
use tokio::{
    sync::mpsc,
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use wharf_core::{Code, Error, handle::HandleMint};

use super::{
    client_shelf::ClientShelf,
    permits::{SessionLimits, SessionPermit},
    refusal::EndpointRefusal,
    request_scope::{self, SessionReply},
    session::{BeginError, LegacySession},
};
use crate::request_permit::RequestPermit;

/// How long an answer is waited for before its client is given a stream of
/// events. Short: a client whose connection drops before has nothing to ask
/// for the answer with.
const SOON: Duration = Duration::from_millis(500);

/// The sessions of one client.
pub(super) struct SessionTable {
    limits: SessionLimits,
    handles: HandleMint,
    shelf: Option<ClientShelf>,
    /// Fires when the host stops: what ends then goes on elsewhere.
    stopping: CancellationToken,
    // A blocking lock: held for a look-up.
    open: Mutex<HashMap<SessionId, Arc<LegacySession>>>,
}

/// Why a session does not do what was asked. What the client is told of it
/// stands in [`request_scope`] already.
#[derive(Debug, thiserror::Error)]
#[error("the session does not take this request")]
pub(super) struct SessionRefused;

fn refuse(refusal: EndpointRefusal) -> SessionRefused {
    request_scope::reply(SessionReply::Refused(refusal));
    SessionRefused
}

fn ended() -> SessionRefused {
    refuse(Error::new(Code::NotFound, "this session has ended; begin another one with `initialize`").into())
}

fn not_begun(why: BeginError) -> SessionRefused {
    match why {
        BeginError::Over => ended(),
        BeginError::Twice => refuse(EndpointRefusal::invalid("a request with this id is running in this session")),
    }
}

impl SessionTable {
    pub(super) fn new(
        limits: SessionLimits,
        handles: HandleMint,
        shelf: Option<ClientShelf>,
        stopping: CancellationToken,
    ) -> Self {
        Self { limits, handles, shelf, stopping, open: Mutex::default() }
    }

    /// Opens a session.
    fn insert(&self, id: SessionId, over: CancellationToken, permit: SessionPermit) -> SessionTransport {
        // Streams of hosts that had the session before have other numbers.
        let first = self.handles.incarnation().map_or(0, |incarnation| u64::from(incarnation.get()) << 32);
        let SessionLimits { idle, most_bytes, .. } = self.limits;
        let (session, incoming) = LegacySession::new(over, (idle, most_bytes), permit, first);
        let session = Arc::new(session);
        self.open().insert(id, Arc::clone(&session));
        SessionTransport { session, incoming, last: None }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<LegacySession>>> {
        self.open.lock()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    fn find(&self, id: &SessionId) -> Result<Arc<LegacySession>, SessionRefused> {
        self.open().get(id).cloned().ok_or_else(ended)
    }

    /// A permit for one more session. Where there is none, the session that is unused for
    /// longest ends.
    pub(super) fn permit(&self) -> Result<SessionPermit, EndpointRefusal> {
        loop {
            let limit = match self.limits.take() {
                Ok(permit) => return Ok(permit),
                Err(limit) => limit,
            };
            let mut open = self.open();
            let unused = open.iter().filter_map(|(id, session)| Some((session.unused_since()?, id.clone()))).min();
            let Some((_, id)) = unused else {
                let told = format!(
                    "as many sessions are in use as there may be (limit `{limit}`); end one with DELETE, or try again later"
                );
                return Err(EndpointRefusal::Busy(told));
            };
            if let Some(session) = open.remove(&id) {
                tracing::debug!(limit, "a session ended to make room for another one");
                session.end();
            }
        }
    }
}

/// A name that cannot be guessed; a client that knows it needs the token as well.
fn name(handles: &HandleMint) -> Result<SessionId, SessionRefused> {
    let handle = handles.handle().map_err(|error| {
        tracing::error!(%error, "the system has no randomness to give");
        refuse(Error::new(Code::Internal, "the host cannot name a session; its log says more").into())
    })?;
    Ok(handle.to_string().into())
}

impl SessionManager for SessionTable {
    type Error = SessionRefused;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), SessionRefused> {
        let permit = request_scope::session_permit().ok_or(SessionRefused)?;
        let (id, over) = (name(&self.handles)?, request_scope::begins().unwrap_or_default());
        let transport = self.insert(id.clone(), over, permit);
        Ok((id, transport))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<SessionTransport>, SessionRefused> {
        let permit = self.permit().map_err(refuse)?;
        tracing::debug!("a session goes on here, whose host has ended");
        Ok(RestoreOutcome::Restored(self.insert(id, request_scope::begin(), permit)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionRefused> {
        let session = self.find(id)?;
        let ClientJsonRpcMessage::Request(request) = &message else { return Err(ended()) };
        let is_repeated = request.request.extensions().get::<SessionRestoreMarker>().is_some();
        let mut stream = session.begin(request, None).map_err(not_begun)?;
        session.forward(message).await.ok_or_else(ended)?;
        let message = stream.reader.next().await.ok_or_else(ended)?;
        session.forget(stream.number);
        let answer = serde_json::from_slice(&message.json).map_err(|_| ended())?;
        // The client had its answer from another host.
        if !is_repeated {
            request_scope::reply(SessionReply::Json(message.json));
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionRefused> {
        Ok(self.open().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionRefused> {
        // The protocol crate closes what has ended by itself, too, outside of any request.
        let open = self.open().remove(id);
        let was_open = open.is_some();
        if let Some(session) = open {
            session.end();
        }
        let was_shelved = match &self.shelf {
            Some(shelf) if !self.stopping.is_cancelled() => shelf.ended(id).await,
            _ => false,
        };
        if !was_open && !was_shelved {
            let _ = ended();
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionRefused> {
        let session = self.find(id)?;
        let ClientJsonRpcMessage::Request(request) = &mut message else { return Err(ended()) };
        // The session has its place, until it is answered or taken back, and the memory of its answer.
        let permit = request_scope::answer_permit();
        if let Some(parts) = request.request.extensions_mut().get_mut::<Parts>() {
            parts.extensions.remove::<RequestPermit>();
            if let Some(permit) = &permit {
                parts.extensions.insert(RequestPermit::new(Arc::new(()), permit.unwritten.clone()));
            }
        }
        let mut stream = session.begin(request, permit).map_err(not_begun)?;
        session.forward(message).await.ok_or_else(ended)?;
        match timeout(SOON, stream.reader.single_message()).await {
            Ok(Some(json)) => {
                session.forget(stream.number);
                request_scope::reply(SessionReply::Json(json));
            }
            _ => request_scope::reply(SessionReply::Stream(stream)),
        }
        Ok(empty())
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionRefused> {
        self.find(id)?.forward(message).await.ok_or_else(ended)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionRefused> {
        request_scope::reply(SessionReply::Stream(self.find(id)?.unasked().ok_or_else(ended)?));
        Ok(empty())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionRefused> {
        // Where nothing is left of it the protocol crate ends the stream at
        // once: an error would bring a browser back for ever.
        let stream = self.find(id)?.resume(&last_event_id).ok_or(SessionRefused)?;
        request_scope::reply(SessionReply::Stream(stream));
        Ok(empty())
    }
}

/// What connects a session to the protocol crate.
pub(super) struct SessionTransport {
    session: Arc<LegacySession>,
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    /// What runs still, once the session is over: it is taken back first.
    last: Option<VecDeque<RequestId>>,
}

impl Transport<RoleServer> for SessionTransport {
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if let Err(error) = self.session.deliver(&message) {
            tracing::error!(%error, "a message has no form in JSON");
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while self.last.is_none() {
            match self.session.idle_at() {
                None => self.session.end(),
                Some(idle_at) => {
                    tokio::select! {
                        biased;
                        () = self.session.over.cancelled() => {}
                        message = self.incoming.recv() => return message,
                        () = sleep_until(idle_at) => continue,
                    }
                }
            }
            self.last = Some(self.session.running().into());
        }
        let id = self.last.as_mut()?.pop_front()?;
        let cancelled = CancelledNotification::new(CancelledNotificationParam::new(Some(id), None));
        Some(ClientJsonRpcMessage::notification(ClientNotification::CancelledNotification(cancelled)))
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.session.end();
        Ok(())
    }
}
