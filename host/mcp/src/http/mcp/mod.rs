//! `/mcp`: the protocol itself over HTTP, both eras on one endpoint.
//!
//! Owns what a message has to be before the protocol crate sees it, places for
//! what is being answered, and the sessions of the older era. What a message
//! means, and which era it belongs to, is that crate's to say. Each client has
//! an endpoint of its own, so that nothing of one is ever looked up for another.
//!
//! | file | what it owns |
//! |---|---|
//! | `asked` | what belongs to the request that is being answered |
//! | `sessions`, `session` | sessions: how many, how long; one of them, and its streams |
//! | `outlet` | the messages of one stream, and who reads them |
//! | `answer` | answers as JSON or events |

mod answer;
mod asked;
mod outlet;
mod session;
mod sessions;

use std::{io, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, StatusCode},
    response::{IntoResponse, Response},
};
use rmcp::{
    model::{ErrorCode, RequestId},
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use schemars::JsonSchema;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use wharf_core::{Code, ContextRules, RequestShare, Share};

use super::{
    Failure, Shared,
    client::{Client, InFlight},
    guard, request,
};
use crate::{caller::Place, carried::Arguments, handler::Handler, info::ServerInfo, served::Served, traced::Traced};
use answer::Following;
use asked::{Asked, Reply};
pub(super) use sessions::Room;
use sessions::Sessions;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const CALL: &str = "tools/call";
/// A call whose JSON takes more goes past the protocol crate without its arguments.
const CARRIED_BYTES: u64 = 256 << 10;

/// From this version on clients know an event that only says where to go on.
const PRIMED_SINCE: &str = "2025-11-25";

/// A message of JSON-RPC 2.0, for the description of the route: what is in it,
/// the protocol says.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
pub(super) struct Message {
    /// `2.0`.
    jsonrpc: String,
    /// Of a request, and of what answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    /// Of a request or a notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
}

/// What of a message decides which place it takes.
#[derive(serde::Deserialize)]
struct Outline {
    id: Option<RequestId>,
    method: Option<String>,
}

/// The endpoint of one client.
pub(super) struct Endpoint {
    service: StreamableHttpService<Traced, Sessions>,
    sessions: Arc<Sessions>,
}

/// When what ends.
pub(super) struct Ends {
    /// Streams that nobody waits for.
    pub(super) stopping: CancellationToken,
    /// All of it.
    pub(super) killed: CancellationToken,
    /// How long a stream may be silent.
    pub(super) heartbeat: Duration,
}

impl Endpoint {
    pub(super) fn new(served: Served, rules: ContextRules, info: ServerInfo, room: Room, ends: &Ends) -> Self {
        let stopping = ends.stopping.clone();
        let handler = move |over| Traced::new(Handler::new(served.clone(), rules.clone(), info.clone(), over));
        // What a connection remembers is that of a session or a subscription;
        // other requests share one, which knows the tools already.
        let shared = handler(stopping);
        let factory =
            move || -> Result<Traced, io::Error> { Ok(asked::begins().map_or_else(|| shared.clone(), &handler)) };
        // Host, Origin and the size of bodies are checked before: see `guard` and `request`.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(ends.heartbeat))
            .with_max_request_body_bytes(usize::MAX)
            .with_cancellation_token(ends.killed.clone());
        let sessions = Arc::new(Sessions::new(room));
        Self { service: StreamableHttpService::new(factory, Arc::clone(&sessions), config), sessions }
    }
}

impl Endpoint {
    /// Whether no session is open.
    pub(super) fn is_unused(&self) -> bool {
        self.sessions.is_empty()
    }
}

/// The places that a request takes.
#[derive(Default)]
struct Places {
    reader: Option<Share>,
    in_flight: Option<Arc<InFlight>>,
    session: Option<[OwnedSemaphorePermit; 2]>,
}

/// A message from a client.
pub(super) async fn post(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let (mut head, body) = request.into_parts();
    if !request::is_json(&head.headers) {
        return Err(request::not_json());
    }
    if !request::takes(&head.headers, "application/json") || !request::takes_events(&head.headers) {
        let message = "say that you take both: `Accept: application/json, text/event-stream`";
        return Err(Failure::new(StatusCode::NOT_ACCEPTABLE, Code::Invalid, message));
    }
    let limits = &shared.settings.limits;
    let mut share = shared.memory.begin(&client.rules.tenant);
    let body = request::arrived(body, ("message_bytes", limits.message_bytes), limits, &mut share).await?;
    let read = request::beside_workers(body.len(), || read(&mut share, body))?;
    let Read { body, memory, outline, arguments } = read;
    let outline = match outline {
        Ok(outline) => outline,
        Err(error) => {
            let (code, told) = match error.classify() {
                serde_json::error::Category::Data => (ErrorCode::INVALID_REQUEST, "a message is one JSON object"),
                _ => (ErrorCode::PARSE_ERROR, "the body is not JSON"),
            };
            return Ok(answer::error(StatusCode::BAD_REQUEST, code, format!("{told}: {error}"), None));
        }
    };
    let mut places = Places::default();
    let (mut begins, mut id) = (None, None);
    if let Outline { id: Some(asked), method: Some(method) } = outline {
        if let Some(arguments) = arguments {
            head.extensions.insert(arguments);
        } else if memory > CARRIED_BYTES && method != CALL {
            // The protocol crate builds it more than once.
            share.arrived(memory * 2)?;
        }
        if method == "subscriptions/listen" {
            // Nobody waits for it to end.
            (places.reader, begins) = (Some(shared.reader(&client.rules.tenant)?), Some(shared.stopping.child_token()));
        } else {
            places.in_flight = Some(Arc::new(client.begin(&shared.calls)?));
            if method == "initialize" {
                (places.session, begins) = (Some(client.endpoint.sessions.places()?), Some(CancellationToken::new()));
            }
        }
        id = Some(asked);
    }
    let heartbeat = Following::heartbeat(&shared);
    let share = Arc::new(share);
    if let Some(in_flight) = &places.in_flight {
        // Whoever makes the answer gives it back, before the answer is sent.
        head.extensions.insert(Place::new(Arc::new((Arc::clone(in_flight), Arc::clone(&share)))));
    }
    let request = Request::from_parts(head, Body::from(body));
    let answering = async move {
        let answer = answered(shared, client, request, places, begins, id).await;
        drop(share);
        answer
    };
    Ok(answer::in_time(Box::pin(answering), heartbeat).await)
}

/// What is read of a message before the protocol crate has it.
struct Read {
    /// Without the arguments that were taken out.
    body: Bytes,
    memory: u64,
    outline: serde_json::Result<Outline>,
    arguments: Option<Arguments>,
}

fn read(share: &mut RequestShare, mut body: Bytes) -> Result<Read, Failure> {
    let memory = request::estimated(share, &body)?;
    let outline = serde_json::from_slice::<Outline>(&body);
    let is_call = matches!(&outline, Ok(Outline { id: Some(_), method: Some(method) }) if method == CALL);
    let taken = if is_call && memory > CARRIED_BYTES { Arguments::take_out(&body) } else { None };
    let arguments = taken.map(|(rest, arguments)| {
        body = rest.into();
        arguments
    });
    Ok(Read { body, memory, outline, arguments })
}

/// What the server says unasked, to clients of the older era; or more of an
/// answer whose connection dropped.
pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Result<Response, Failure> {
    let places = Places { reader: Some(shared.reader(&client.rules.tenant)?), ..Places::default() };
    Ok(answered(shared, client, request, places, None, None).await)
}

/// The end of a session of the older era.
pub(super) async fn delete(
    State(shared): State<Arc<Shared>>,
    Extension(client): Extension<Arc<Client>>,
    request: Request,
) -> Response {
    answered(shared, client, request, Places::default(), None, None).await
}

async fn answered(
    shared: Arc<Shared>,
    client: Arc<Client>,
    request: Request,
    places: Places,
    begins: Option<CancellationToken>,
    id: Option<RequestId>,
) -> Response {
    let Places { reader, in_flight, session } = places;
    let (unasked, primes) = (reader.is_some(), primes(request.headers()));
    let asked = Asked { in_flight, begins, places: session.into(), reply: None.into() };
    // A box, since what is handed on is moved again at every step.
    let (response, reply) = asked.scope(Box::pin(client.endpoint.service.handle(request))).await;
    let session = response.headers().get(SESSION).cloned();
    let mut answered = match reply {
        None => {
            let response = answer::in_words(response.map(Body::new), id).await;
            return answer::holding(response, reader);
        }
        Some(Reply::Refused(failure)) => return failure.into_response(),
        Some(Reply::Json(json)) => answer::json(json),
        Some(Reply::Stream(begun)) => Following {
            begun,
            heartbeat: Following::heartbeat(&shared),
            primes,
            until: unasked.then(|| shared.stopping.clone()),
            _place: reader,
        }
        .into_response(),
    };
    answered.headers_mut().extend(session.map(|session| (SESSION, session)));
    answered
}

fn primes(headers: &HeaderMap) -> bool {
    let version = guard::single(headers, &VERSION);
    version.ok().flatten().is_some_and(|version| version.as_bytes() >= PRIMED_SINCE.as_bytes())
}
