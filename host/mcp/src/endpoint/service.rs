//! The endpoint of one client: a tower service of whole requests.

use std::{
    future::ready,
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{HeaderMap, Method, Request};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use rmcp::{
    model::RequestId,
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio_util::sync::CancellationToken;
use tower_service::Service;
use wharf_core::{
    ContextClaims, ContextRules, Error, Quota, RequestShare, SessionId, Share, TenantId, handle::HandleMint,
    trace::TraceParent,
};

use super::{
    answer::{self, EndpointResponse},
    client_shelf::ClientShelf,
    follower::SessionStreamFollower,
    message::{self, PlainCall, ReadMessage},
    permits::{AnswerLimits, AnswerPermit, SessionLimits, SessionPermit},
    refusal::EndpointRefusal,
    request_scope::{self, RequestScope, SessionReply},
    session_table::SessionTable,
};
use crate::{
    carried::CarriedCall,
    context_claims::{SESSION_HEADER, TransportClaims, VERSION_HEADER},
    handler::Handler,
    info::ServerInfo,
    request_permit::RequestPermit,
    served::Served,
    traced::Traced,
};

/// From this version on clients know an event that only says where to go on.
const PRIMED_SINCE: &str = "2025-11-25";

/// A whole request, and what its transport has found out about it.
pub struct EndpointRequest {
    /// As it came; its extensions may have the [`Requester`](wharf_core::audit::Requester), in an `Arc`.
    pub request: Request<Bytes>,
    /// On whose behalf its headers say that it is: its session, assistant and thread. An
    /// error is told to a client that makes a call.
    pub claims: Result<ContextClaims, Error>,
    /// The trace that its headers say it belongs to.
    pub trace: Option<TraceParent>,
    /// The memory that it takes, given back once it is answered.
    pub memory: RequestShare,
    /// What of that the values of its body take, in bytes.
    pub estimate_bytes: u64,
}

/// The endpoint of one client. Clones are the same endpoint.
#[derive(Clone)]
pub struct HttpEndpoint {
    shared: Arc<EndpointState>,
}

struct EndpointState {
    service: StreamableHttpService<Traced, SessionTable>,
    /// What answers requests that begin nothing.
    handler: Traced,
    sessions: Arc<SessionTable>,
    tenant: TenantId,
    answers: AnswerLimits,
    readers: Arc<Quota>,
    stopping: CancellationToken,
    killed: CancellationToken,
    heartbeat: Duration,
}

/// How much a client may do at once.
pub(super) struct EndpointLimits {
    pub(super) answers: AnswerLimits,
    pub(super) sessions: SessionLimits,
    pub(super) readers: Arc<Quota>,
    /// What names sessions.
    pub(super) handles: HandleMint,
    /// What has sessions outlive the host.
    pub(super) shelf: Option<ClientShelf>,
}

/// When an endpoint ends what.
pub(super) struct EndpointLifetime {
    /// Ends streams that nobody waits for.
    pub(super) stopping: CancellationToken,
    /// Ends everything.
    pub(super) killed: CancellationToken,
    /// How long a stream may be silent.
    pub(super) heartbeat: Duration,
}

/// What a request holds while it is answered.
#[derive(Default)]
struct RequestPermits {
    reader: Option<Share>,
    answer: Option<Arc<AnswerPermit>>,
    session: Option<SessionPermit>,
}

type Answering = BoxFuture<'static, Result<EndpointResponse, EndpointRefusal>>;

impl HttpEndpoint {
    pub(super) fn new(
        served: Served,
        rules: ContextRules,
        info: ServerInfo,
        limits: EndpointLimits,
        lifetime: EndpointLifetime,
    ) -> Self {
        let EndpointLimits { answers, sessions, readers, handles, shelf } = limits;
        let EndpointLifetime { stopping, killed, heartbeat } = lifetime;
        let tenant = rules.tenant.clone();
        let settings = shelf.clone();
        let handler = move |over| {
            let handler = Handler::new(served.clone(), rules.clone(), info.clone(), over);
            Traced::new(match &settings {
                Some(shelf) => handler.with_settings_of(shelf.clone()),
                None => handler,
            })
        };
        // What a connection remembers is that of a session or a subscription;
        // other requests share one, which knows the tools already.
        let shared = handler(stopping.clone());
        let direct = shared.clone();
        let factory = move || -> Result<Traced, io::Error> {
            Ok(request_scope::begins().map_or_else(|| shared.clone(), &handler))
        };
        // Host, Origin and the size of bodies were checked before.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(heartbeat))
            .with_max_request_body_bytes(usize::MAX)
            .with_cancellation_token(killed.clone());
        config.session_store = shelf.clone().map(|shelf| Arc::new(shelf) as _);
        let sessions = Arc::new(SessionTable::new(sessions, handles, shelf, stopping.clone()));
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        let state =
            EndpointState { service, handler: direct, sessions, tenant, answers, readers, stopping, killed, heartbeat };
        Self { shared: Arc::new(state) }
    }

    /// Whether no session is open.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.shared.sessions.is_empty()
    }
}

impl Service<EndpointRequest> for HttpEndpoint {
    type Response = EndpointResponse;
    type Error = EndpointRefusal;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), EndpointRefusal>> {
        Poll::Ready(Ok(()))
    }

    /// Reads the message before it returns its future, so that the caller chooses the thread
    /// that reads a long one.
    fn call(&mut self, request: EndpointRequest) -> Answering {
        let EndpointRequest { mut request, claims, trace, memory, estimate_bytes } = request;
        let extensions = request.extensions_mut();
        extensions.insert(TransportClaims(claims));
        if let Some(trace) = trace {
            extensions.insert(trace);
        }
        let endpoint = Arc::clone(&self.shared);
        let answering = match *request.method() {
            Method::POST => endpoint.post(request, memory, estimate_bytes),
            Method::GET => endpoint.get(request),
            _ => Ok(endpoint.answer(request, RequestPermits::default(), None, None).boxed()),
        };
        answering.unwrap_or_else(|refusal| ready(Err(refusal)).boxed())
    }
}

impl EndpointState {
    /// A place among the requests that follow something.
    fn reader_permit(&self) -> Result<Share, EndpointRefusal> {
        Ok(self.readers.take(&self.tenant, &SessionId::default_session(), 1)?)
    }

    /// Takes up a message from a client.
    fn post(
        self: Arc<Self>,
        mut request: Request<Bytes>,
        mut memory: RequestShare,
        estimate_bytes: u64,
    ) -> Result<Answering, EndpointRefusal> {
        let read = message::read(self.handler.handler(), request.headers(), request.body(), estimate_bytes);
        let message = match read {
            Ok(ReadMessage::Plain(call)) => return self.call(call, request, memory),
            Ok(ReadMessage::Other(message)) => message,
            Err(error) => return Ok(ready(Ok(answer::no_message(&error))).boxed()),
        };
        let mut permits = RequestPermits::default();
        let (mut begins, mut id) = (None, None);
        if let Some(rest) = message.rest {
            *request.body_mut() = rest;
        }
        if let Some(call) = message.call {
            request.extensions_mut().insert(call);
        }
        if let Some((asked, method)) = message.request {
            memory.arrived(message.further_bytes)?;
            if method == "subscriptions/listen" {
                // Nobody waits for it to end.
                (permits.reader, begins) = (Some(self.reader_permit()?), Some(self.stopping.child_token()));
            } else {
                permits.answer = Some(Arc::new(self.answers.take()?));
                if method == "initialize" {
                    (permits.session, begins) = (Some(self.sessions.permit()?), Some(CancellationToken::new()));
                }
            }
            id = Some(asked);
        }
        let memory = Arc::new(memory);
        if let Some(permit) = &permits.answer {
            // Given back where the answer is made, before it is sent.
            let held = Arc::new((Arc::clone(permit), Arc::clone(&memory)));
            let held = RequestPermit::new(held, permit.unwritten.clone());
            request.extensions_mut().insert(held);
        }
        let (heartbeat, asked) = (self.heartbeat, id.clone());
        let answering = async move {
            let answer = self.answer(request, permits, begins, asked).await;
            drop(memory);
            answer
        };
        Ok(answer::in_time(answering.boxed(), heartbeat, id).boxed())
    }

    /// Makes a plain call.
    fn call(
        self: Arc<Self>,
        call: PlainCall,
        request: Request<Bytes>,
        memory: RequestShare,
    ) -> Result<Answering, EndpointRefusal> {
        let permit = self.answers.take()?;
        let (unwritten, id) = (permit.unwritten.clone(), call.id.clone());
        let permit = RequestPermit::new(Arc::new((permit, memory)), unwritten.clone());
        let head = request.into_parts().0;
        let answering = call.answer(self.handler.clone(), head, permit, unwritten, self.killed.clone());
        Ok(answer::in_time(answering.map(Ok).boxed(), self.heartbeat, Some(id)).boxed())
    }

    /// Follows what the server says unasked, to clients of the older era; or more of an
    /// answer whose connection dropped.
    fn get(self: Arc<Self>, request: Request<Bytes>) -> Result<Answering, EndpointRefusal> {
        let permits = RequestPermits { reader: Some(self.reader_permit()?), ..RequestPermits::default() };
        Ok(self.answer(request, permits, None, None).boxed())
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Bytes>,
        permits: RequestPermits,
        begins: Option<CancellationToken>,
        id: Option<RequestId>,
    ) -> Result<EndpointResponse, EndpointRefusal> {
        let RequestPermits { reader, answer, session } = permits;
        let (unasked, primes) = (reader.is_some(), primes(request.headers()));
        let unwritten = answer.as_ref().map(|permit| permit.unwritten.clone());
        let tool = request.extensions().get::<CarriedCall>().and_then(|call| call.tool.clone());
        let scope = RequestScope { answer, begins: begins.into(), tool, session: session.into(), reply: None.into() };
        // A box, since what is handed on is moved again at every step.
        let (response, reply) = scope.enter(Box::pin(self.service.handle(request.map(Full::new)))).await;
        let session = response.headers().get(SESSION_HEADER).cloned();
        let mut response = match reply {
            None => {
                let response = answer::in_words(response.map(BodyExt::boxed_unsync), id).await;
                // What has a length is text already; events are written as they are read.
                let unwritten = unwritten.filter(|_| response.body().size_hint().exact().is_none());
                return Ok(answer::holding(response, (reader, unwritten)));
            }
            Some(SessionReply::Refused(refusal)) => return Err(refusal),
            Some(SessionReply::Json(json)) => answer::json(json),
            Some(SessionReply::Stream(stream)) => SessionStreamFollower {
                stream,
                heartbeat: self.heartbeat,
                primes,
                until: unasked.then(|| self.stopping.clone()),
                _permit: reader,
            }
            .into_response(),
        };
        response.headers_mut().extend(session.map(|session| (SESSION_HEADER, session)));
        Ok(response)
    }
}

/// Whether the client knows an event that only says where to go on.
fn primes(headers: &HeaderMap) -> bool {
    message::single(headers, &VERSION_HEADER).is_some_and(|version| version.as_bytes() >= PRIMED_SINCE.as_bytes())
}
