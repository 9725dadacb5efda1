//! The sessions of one client: how many, how long, and which one a request
//! belongs to.
//!
//! A table of our own in place of the protocol crate's: there a client that
//! reads nothing holds up its whole session, answers are forgotten as soon as
//! they were sent, and calls that run count as idle.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{Stream, stream::empty};
use http::request::Parts;
use rmcp::{
    RoleServer,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, GetExtensions,
        RequestId, ServerJsonRpcMessage,
    },
    transport::{
        Transport,
        streamable_http_server::{
            SessionManager,
            session::{ServerSseMessage, SessionId},
        },
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{sleep_until, timeout},
};
use wharf_core::{Code, Error};

use super::{
    asked::{self, Reply},
    refusal::EndpointRefusal,
    session::{Session, Unfit},
};
use crate::client_request::Place;

/// How long an answer is waited for before its client is given a stream of
/// events. Short: a client whose connection drops before has nothing to ask
/// for the answer with.
const SOON: Duration = Duration::from_millis(500);

/// Where there is room for sessions, for all clients and for those of a tenant.
#[derive(Clone)]
pub(crate) struct Room {
    pub(crate) all: Arc<Semaphore>,
    pub(crate) tenant: Arc<Semaphore>,
    pub(crate) idle: Duration,
    pub(crate) most_bytes: u64,
}

/// See the module.
pub(super) struct Sessions {
    room: Room,
    // A lock of the standard library: held for a look-up.
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
}

/// Why a session does not do what was asked. What the client is told of it
/// stands in [`asked`] already.
#[derive(Debug, thiserror::Error)]
#[error("the session does not take this request")]
pub(super) struct Refused;

fn refuse(refusal: EndpointRefusal) -> Refused {
    asked::reply(Reply::Refused(refusal));
    Refused
}

fn ended() -> Refused {
    refuse(Error::new(Code::NotFound, "this session has ended; begin another one with `initialize`").into())
}

fn unfit(why: Unfit) -> Refused {
    match why {
        Unfit::Over => ended(),
        Unfit::Twice => refuse(EndpointRefusal::invalid("a request with this id is running in this session")),
    }
}

impl Sessions {
    pub(super) fn new(room: Room) -> Self {
        Self { room, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    fn find(&self, id: &SessionId) -> Result<Arc<Session>, Refused> {
        self.open().get(id).cloned().ok_or_else(ended)
    }

    /// Places for one more session, where need be those of the one unused for longest.
    pub(super) fn places(&self) -> Result<[OwnedSemaphorePermit; 2], EndpointRefusal> {
        loop {
            let taken = match Arc::clone(&self.room.tenant).try_acquire_owned() {
                Err(_) => Err("sessions_per_tenant"),
                Ok(of_tenant) => match Arc::clone(&self.room.all).try_acquire_owned() {
                    Err(_) => Err("sessions"),
                    Ok(of_all) => Ok([of_tenant, of_all]),
                },
            };
            let limit = match taken {
                Ok(places) => return Ok(places),
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

/// A name that nobody can guess; whoever knows it needs the token as well.
fn name() -> Result<SessionId, Refused> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system has no randomness to give");
        refuse(Error::new(Code::Internal, "the host cannot name a session; its log says more").into())
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)).into())
}

impl SessionManager for Sessions {
    type Error = Refused;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), Refused> {
        let places = asked::places().ok_or(Refused)?;
        let (id, over) = (name()?, asked::begins().unwrap_or_default());
        let (session, incoming) = Session::new(over, self.room.idle, self.room.most_bytes, places);
        let session = Arc::new(session);
        self.open().insert(id.clone(), Arc::clone(&session));
        Ok((id, SessionTransport { session, incoming, last: None }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Refused> {
        let session = self.find(id)?;
        let ClientJsonRpcMessage::Request(request) = &message else { return Err(ended()) };
        let mut begun = session.begin(request, None).map_err(unfit)?;
        session.hand_on(message).await.ok_or_else(ended)?;
        let said = begun.reader.next().await.ok_or_else(ended)?;
        session.forget(begun.number);
        let answer = serde_json::from_slice(&said.json).map_err(|_| ended())?;
        asked::reply(Reply::Json(said.json));
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Refused> {
        Ok(self.open().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Refused> {
        // The protocol crate closes what has ended by itself, too, outside of any request.
        match self.open().remove(id) {
            Some(session) => session.end(),
            None => _ = ended(),
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        let session = self.find(id)?;
        let ClientJsonRpcMessage::Request(request) = &mut message else { return Err(ended()) };
        // The session has its place, until it is answered or taken back.
        if let Some(parts) = request.request.extensions_mut().get_mut::<Parts>() {
            parts.extensions.remove::<Place>();
        }
        let mut begun = session.begin(request, asked::in_flight()).map_err(unfit)?;
        session.hand_on(message).await.ok_or_else(ended)?;
        match timeout(SOON, begun.reader.only()).await {
            Ok(Some(json)) => {
                session.forget(begun.number);
                asked::reply(Reply::Json(json));
            }
            _ => asked::reply(Reply::Stream(begun)),
        }
        Ok(empty())
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Refused> {
        self.find(id)?.hand_on(message).await.ok_or_else(ended)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        asked::reply(Reply::Stream(self.find(id)?.unasked().ok_or_else(ended)?));
        Ok(empty())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Refused> {
        // Where nothing is left of it the protocol crate ends the stream at
        // once: an error would bring a browser back for ever.
        let begun = self.find(id)?.resume(&last_event_id).ok_or(Refused)?;
        asked::reply(Reply::Stream(begun));
        Ok(empty())
    }
}

/// What connects a session to the protocol crate.
pub(super) struct SessionTransport {
    session: Arc<Session>,
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    /// What runs still, once the session is over: it is taken back first.
    last: Option<VecDeque<RequestId>>,
}

impl Transport<RoleServer> for SessionTransport {
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if let Err(error) = self.session.say(&message) {
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
