//! The protocol over HTTP for one client, both eras on one endpoint: a tower service.
//!
//! Owns places for what is being answered, and the sessions of the older era. What a message
//! means, and which era it belongs to, is the protocol crate's to say. It knows no
//! connection, no token and no route: whoever serves it hands on whole messages.
//!
//! | file | what it owns |
//! |---|---|
//! | `in_flight`, `refusal` | places for requests; why one is not taken up |
//! | `asked` | what belongs to the request that is being answered |
//! | `sessions`, `session` | sessions: how many, how long; one of them, and its streams |
//! | `outlet` | the messages of one stream, and who reads them |
//! | `answer` | answers as JSON or events |

mod answer;
mod asked;
pub(crate) mod in_flight;
mod outlet;
mod refusal;
mod session;
mod sessions;

use std::{
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use rmcp::{
    model::{ErrorCode, RequestId},
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tower_service::Service;
use wharf_core::{
    ContextHints, ContextRules, Error, Quota, RequestShare, SessionId, Share, TenantId, trace::TraceParent,
};

use crate::{
    carried::CarriedArguments,
    client_request::Place,
    handler::Handler,
    hints::{self, OfTransport},
    info::ServerInfo,
    served::Served,
    traced::Traced,
};
pub use answer::EndpointBody;
use answer::Following;
use asked::{Asked, Reply};
use in_flight::{InFlight, Places};
pub use refusal::EndpointRefusal;
pub(crate) use sessions::Room;
use sessions::Sessions;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const CALL: &str = "tools/call";
/// A call whose JSON takes more goes past the protocol crate without its arguments.
const CARRIED_BYTES: u64 = 256 << 10;

/// From this version on clients know an event that only says where to go on.
const PRIMED_SINCE: &str = "2025-11-25";

/// A whole request, and what its transport has found out about it.
pub struct EndpointRequest {
    /// As it came.
    pub request: Request<Bytes>,
    /// On whose behalf its headers say that it is: its session, assistant and thread. An
    /// error is told to whoever makes a call.
    pub hints: Result<ContextHints, Error>,
    /// The trace that its headers say it belongs to.
    pub trace: Option<TraceParent>,
    /// The memory that it takes, given back once it is answered.
    pub memory: RequestShare,
    /// What of that the values of its body take, in bytes.
    pub estimate_bytes: u64,
}

/// What of a message decides which place it takes.
#[derive(serde::Deserialize)]
struct Outline {
    id: Option<RequestId>,
    method: Option<String>,
}

/// The endpoint of one client. Clones are the same endpoint.
#[derive(Clone)]
pub struct HttpEndpoint {
    shared: Arc<Shared>,
}

struct Shared {
    service: StreamableHttpService<Traced, Sessions>,
    sessions: Arc<Sessions>,
    tenant: TenantId,
    calls: Places,
    readers: Arc<Quota>,
    stopping: CancellationToken,
    heartbeat: Duration,
}

/// When what ends.
pub(crate) struct Ends {
    /// Streams that nobody waits for.
    pub(crate) stopping: CancellationToken,
    /// All of it.
    pub(crate) killed: CancellationToken,
    /// How long a stream may be silent.
    pub(crate) heartbeat: Duration,
}

impl HttpEndpoint {
    pub(crate) fn new(
        served: Served,
        rules: ContextRules,
        info: ServerInfo,
        room: Room,
        calls: Places,
        readers: Arc<Quota>,
        ends: Ends,
    ) -> Self {
        let Ends { stopping, killed, heartbeat } = ends;
        let (tenant, over) = (rules.tenant.clone(), stopping.clone());
        let handler = move |over| Traced::new(Handler::new(served.clone(), rules.clone(), info.clone(), over));
        // What a connection remembers is that of a session or a subscription;
        // other requests share one, which knows the tools already.
        let shared = handler(over);
        let factory =
            move || -> Result<Traced, io::Error> { Ok(asked::begins().map_or_else(|| shared.clone(), &handler)) };
        // Host, Origin and the size of bodies were checked before.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(heartbeat))
            .with_max_request_body_bytes(usize::MAX)
            .with_cancellation_token(killed);
        let sessions = Arc::new(Sessions::new(room));
        let service = StreamableHttpService::new(factory, Arc::clone(&sessions), config);
        Self { shared: Arc::new(Shared { service, sessions, tenant, calls, readers, stopping, heartbeat }) }
    }

    /// Whether no session is open.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.shared.sessions.is_empty()
    }
}

impl Service<EndpointRequest> for HttpEndpoint {
    type Response = Response<EndpointBody>;
    type Error = EndpointRefusal;
    type Future = BoxFuture<'static, Result<Self::Response, EndpointRefusal>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), EndpointRefusal>> {
        Poll::Ready(Ok(()))
    }

    /// Reads the message before it returns its future: whoever calls chooses the thread on
    /// which a long one is read.
    fn call(&mut self, request: EndpointRequest) -> Self::Future {
        let EndpointRequest { mut request, hints, trace, memory, estimate_bytes } = request;
        let extensions = request.extensions_mut();
        extensions.insert(OfTransport(hints));
        if let Some(trace) = trace {
            extensions.insert(trace);
        }
        let shared = Arc::clone(&self.shared);
        let begun = match *request.method() {
            Method::POST => shared.post(request, memory, estimate_bytes),
            Method::GET => shared.get(request),
            _ => Ok(shared.answered(request, Held::default(), None, None).boxed()),
        };
        begun.unwrap_or_else(|refusal| std::future::ready(Err(refusal)).boxed())
    }
}

/// The places that a request takes.
#[derive(Default)]
struct Held {
    reader: Option<Share>,
    in_flight: Option<Arc<InFlight>>,
    session: Option<[OwnedSemaphorePermit; 2]>,
}

type Answering = BoxFuture<'static, Result<Response<EndpointBody>, EndpointRefusal>>;

impl Shared {
    /// A place among those that follow or wait.
    fn reader(&self) -> Result<Share, EndpointRefusal> {
        Ok(self.readers.take(&self.tenant, &SessionId::default_session(), 1)?)
    }

    /// A message from a client.
    fn post(
        self: Arc<Self>,
        mut request: Request<Bytes>,
        mut memory: RequestShare,
        estimate_bytes: u64,
    ) -> Result<Answering, EndpointRefusal> {
        let Read { outline, arguments } = read(request.body_mut(), estimate_bytes);
        let outline = match outline {
            Ok(outline) => outline,
            Err(error) => {
                let (code, told) = match error.classify() {
                    serde_json::error::Category::Data => (ErrorCode::INVALID_REQUEST, "a message is one JSON object"),
                    _ => (ErrorCode::PARSE_ERROR, "the body is not JSON"),
                };
                let refused = answer::error(StatusCode::BAD_REQUEST, code, format!("{told}: {error}"), None);
                return Ok(std::future::ready(Ok(refused)).boxed());
            }
        };
        let mut held = Held::default();
        let (mut begins, mut id) = (None, None);
        if let Outline { id: Some(asked), method: Some(method) } = outline {
            if let Some(arguments) = arguments {
                request.extensions_mut().insert(arguments);
            } else if estimate_bytes > CARRIED_BYTES && method != CALL {
                // The protocol crate builds it more than once.
                memory.arrived(estimate_bytes * 2)?;
            }
            if method == "subscriptions/listen" {
                // Nobody waits for it to end.
                (held.reader, begins) = (Some(self.reader()?), Some(self.stopping.child_token()));
            } else {
                held.in_flight = Some(Arc::new(self.calls.begin()?));
                if method == "initialize" {
                    (held.session, begins) = (Some(self.sessions.places()?), Some(CancellationToken::new()));
                }
            }
            id = Some(asked);
        }
        let heartbeat = self.heartbeat;
        let memory = Arc::new(memory);
        if let Some(in_flight) = &held.in_flight {
            // Whoever makes the answer gives it back, before the answer is sent.
            let place = Place::new(Arc::new((Arc::clone(in_flight), Arc::clone(&memory))));
            request.extensions_mut().insert(place);
        }
        let asked = id.clone();
        let answering = async move {
            let answer = self.answered(request, held, begins, asked).await;
            drop(memory);
            answer
        };
        Ok(answer::in_time(Box::pin(answering), heartbeat, id).boxed())
    }

    /// What the server says unasked, to clients of the older era; or more of an
    /// answer whose connection dropped.
    fn get(self: Arc<Self>, request: Request<Bytes>) -> Result<Answering, EndpointRefusal> {
        let held = Held { reader: Some(self.reader()?), ..Held::default() };
        Ok(self.answered(request, held, None, None).boxed())
    }

    async fn answered(
        self: Arc<Self>,
        request: Request<Bytes>,
        held: Held,
        begins: Option<CancellationToken>,
        id: Option<RequestId>,
    ) -> Result<Response<EndpointBody>, EndpointRefusal> {
        let Held { reader, in_flight, session } = held;
        let (unasked, primes) = (reader.is_some(), primes(request.headers()));
        let asked = Asked { in_flight, begins, places: session.into(), reply: None.into() };
        // A box, since what is handed on is moved again at every step.
        let (response, reply) = asked.scope(Box::pin(self.service.handle(request.map(Full::new)))).await;
        let session = response.headers().get(hints::SESSION_HEADER).cloned();
        let mut answered = match reply {
            None => {
                let response = answer::in_words(response.map(|body| body.boxed_unsync()), id).await;
                return Ok(answer::holding(response, reader));
            }
            Some(Reply::Refused(refusal)) => return Err(refusal),
            Some(Reply::Json(json)) => answer::json(json),
            Some(Reply::Stream(begun)) => Following {
                begun,
                heartbeat: self.heartbeat,
                primes,
                until: unasked.then(|| self.stopping.clone()),
                _place: reader,
            }
            .into_response(),
        };
        answered.headers_mut().extend(session.map(|session| (hints::SESSION_HEADER, session)));
        Ok(answered)
    }
}

/// What is read of a message before the protocol crate has it.
struct Read {
    outline: serde_json::Result<Outline>,
    arguments: Option<CarriedArguments>,
}

/// Reads a message, and takes the arguments out of a call that has many.
fn read(body: &mut Bytes, estimate_bytes: u64) -> Read {
    let outline = serde_json::from_slice::<Outline>(body);
    let is_call = matches!(&outline, Ok(Outline { id: Some(_), method: Some(method) }) if method == CALL);
    let taken = if is_call && estimate_bytes > CARRIED_BYTES { CarriedArguments::take_out(body) } else { None };
    let arguments = taken.map(|(rest, arguments)| {
        *body = rest.into();
        arguments
    });
    Read { outline, arguments }
}

/// Whether the client knows an event that only says where to go on.
fn primes(headers: &HeaderMap) -> bool {
    let mut versions = headers.get_all(VERSION).iter();
    let version = versions.next().filter(|_| versions.next().is_none());
    version.is_some_and(|version| version.as_bytes() >= PRIMED_SINCE.as_bytes())
}
