//! The client of a request: what every request comes with, whatever it asks for.
//!
//! Owns what a plugin is told of the client. Knows no method.

#![expect(deprecated, reason = "levels of messages are deprecated since 2026-07-28 and used by all of today's clients")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use http::request::Parts;
use parking_lot::Mutex;
use rmcp::{
    RoleServer,
    model::{LoggingLevel, ProtocolVersion},
    service::{Peer, RequestContext},
};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use wharf_core::{
    AnswerShare, Code, ContextRules, Error, EventSink,
    audit::{Requester, shown},
    context::Resolved,
    service::{AllowedPlugins, Caller},
    trace::TraceParent,
};

use crate::{
    context_claims,
    events::CallEvents,
    request_origin::{CAPABILITIES, RequestOrigin},
    request_permit::RequestPermit,
};

/// What a client over HTTP is to do that names no session.
const OF_HTTP: &str = "the header `Wharf-Session`, or `dev.wharf/sessionId` in `_meta`, names one";

/// How a client of the newer era calls itself.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Calls of one connection that may wait for their client at once: they are held in
/// memory, and take no place among those that run.
pub(crate) const MAX_WAITING: usize = 64;

/// One request of a client, and its caller.
pub(crate) struct ClientRequest {
    pub(crate) caller: Arc<Caller>,
    /// Of 2026-07-28 or later.
    pub(crate) modern: bool,
    /// What is told with the answer: that context in the arguments was ignored.
    pub(crate) warning: Option<Value>,
    /// Who is asked for more: absent where the client is not asked on its connection.
    pub(crate) peer: Option<Peer<RoleServer>>,
    /// Places for calls of this connection that wait until their client has been asked.
    pub(crate) waiting: Arc<Semaphore>,
    events: Option<Arc<CallEvents>>,
    permit: Option<RequestPermit>,
}

/// What a connection keeps for all its callers.
pub(crate) struct Remembered {
    /// From which level on a client of the older era gets messages.
    // A blocking lock: held for a copy.
    level: Mutex<LoggingLevel>,
    peer: OnceLock<Peer<RoleServer>>,
    opened: OnceLock<OpenedBy>,
    warned_of_default: AtomicBool,
    waiting: Arc<Semaphore>,
}

/// What a client says of itself when it opens its connection.
struct OpenedBy {
    capabilities: Map<String, Value>,
    name: Option<Arc<str>>,
}

impl Default for Remembered {
    fn default() -> Self {
        let waiting = Arc::new(Semaphore::new(MAX_WAITING));
        Self {
            level: Mutex::new(LoggingLevel::Info),
            peer: OnceLock::new(),
            opened: OnceLock::new(),
            warned_of_default: AtomicBool::new(false),
            waiting,
        }
    }
}

impl Remembered {
    pub(crate) fn set_peer(&self, peer: &Peer<RoleServer>) {
        // It says so once; another time it is the same.
        let _ = self.peer.set(peer.clone());
    }

    pub(crate) fn peer(&self) -> Option<Peer<RoleServer>> {
        self.peer.get().cloned()
    }

    /// What the client said when it opened the connection, where it did: the same for each call, and made once.
    fn opened(&self, peer: Option<&Peer<RoleServer>>) -> Option<&OpenedBy> {
        let info = peer?.peer_info()?;
        Some(self.opened.get_or_init(|| OpenedBy {
            capabilities: match serde_json::to_value(&info.capabilities) {
                Ok(Value::Object(declared)) => declared,
                _ => Map::new(),
            },
            name: shown_name(&info.client_info.name, &info.client_info.version),
        }))
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock() = level;
    }

    #[cfg(feature = "http")]
    pub(crate) fn level(&self) -> LoggingLevel {
        *self.level.lock()
    }
}

/// Whether a request is one of 2026-07-28 or later.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(is_modern_version)
}

fn is_modern_version(version: ProtocolVersion) -> bool {
    version >= ProtocolVersion::V_2026_07_28
}

impl ClientRequest {
    /// Reads the caller of `what`, and takes context fields out of `arguments`. The
    /// caller may use these plugins; all where absent.
    ///
    /// # Errors
    /// `invalid` where an id is illegal or missing.
    pub(crate) fn read(
        what: &str,
        mut origin: RequestOrigin,
        arguments: &mut Map<String, Value>,
        (rules, plugins): (&ContextRules, Option<&AllowedPlugins>),
        remembered: &Remembered,
    ) -> Result<Self, Error> {
        let modern = origin.version().is_some_and(is_modern_version);
        let token = origin.meta.get_progress_token();
        // A client of the newer era says it in each request.
        let floor = if modern { origin.meta.log_level() } else { Some(*remembered.level.lock()) };
        let mut meta = std::mem::take(&mut origin.meta.0.0);
        let peer = origin.peer.as_ref();
        let opened = remembered.opened(peer);
        let capabilities = capabilities(&mut meta, opened);
        let client = client_name(&meta, opened);
        let claims = context_claims::of_request(&mut meta, &origin.extensions)?;
        let resolved = rules.resolve(&claims, arguments)?;
        let warning = (!resolved.dropped.is_empty()).then(|| ignored(what, &resolved));
        if resolved.defaulted && !remembered.warned_of_default.swap(true, Ordering::Relaxed) {
            let remedy = if origin.extensions.get::<Parts>().is_some() {
                OF_HTTP
            } else {
                "`wharf serve --stdio --session new` gives this client one of its own"
            };
            tracing::warn!(
                session = %resolved.context.session,
                "the client names no session, so all its conversations share one; {remedy}"
            );
        }
        let hears = peer.filter(|_| token.is_some() || floor.is_some());
        let events = hears.map(|peer| Arc::new(CallEvents::new(peer.clone(), token, floor)));
        let of_http = origin.extensions.get::<Parts>().map(|parts| &parts.extensions);
        let requester = of_http.and_then(|of_http| of_http.get::<Arc<Requester>>()).cloned();
        let permit = of_http
            .and_then(|of_http| of_http.get::<RequestPermit>())
            .or_else(|| origin.extensions.get::<RequestPermit>())
            .cloned();
        let mut caller = Caller::new(resolved.context);
        caller.plugins = plugins.cloned();
        (caller.meta, caller.capabilities, caller.client) = (meta, Some(capabilities), client);
        caller.events = events.clone().map(|events| events as Arc<dyn EventSink>);
        caller.requester = requester;
        caller.trace = origin.extensions.get::<TraceParent>().cloned();
        caller.cancel = origin.cancel;
        Ok(Self {
            caller: Arc::new(caller),
            modern,
            warning,
            peer: origin.peer,
            waiting: Arc::clone(&remembered.waiting),
            events,
            permit,
        })
    }

    /// Keeps the memory of an answer until its message is written as text.
    pub(crate) fn keep(&self, memory: AnswerShare) {
        if let Some(permit) = &self.permit {
            permit.answer().keep(memory);
        }
    }

    /// Waits for what comes before the work, and tells the client meanwhile what that says.
    pub(crate) async fn hearing_before<T>(&self, waiting: impl Future<Output = T>) -> T {
        let Some(events) = &self.events else { return waiting.await };
        let mut waiting = pin!(waiting);
        tokio::select! {
            biased;
            outcome = &mut waiting => return outcome,
            () = events.forward(&self.caller.cancel) => {}
        }
        // The client has taken the call back, which ends the wait.
        waiting.await
    }

    /// Does the work, and tells the client meanwhile what it says.
    pub(crate) async fn hearing<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(events) = &self.events else { return work.await };
        let working = async {
            let outcome = work.await;
            events.finish();
            outcome
        };
        // What the call said comes before what it answers.
        tokio::join!(working, events.forward(&self.caller.cancel)).0
    }
}

/// Says in the log, and for the answer, that context in arguments was ignored: the call
/// was made in another context than their author expects.
fn ignored(what: &str, resolved: &Resolved) -> Value {
    let (fields, session) = (&resolved.dropped, resolved.context.session.as_str());
    tracing::warn!(
        what,
        ?fields,
        session,
        "context fields in arguments were dropped; where a middleware writes them, `trusted_middleware = true` takes them"
    );
    json!({
        "code": "context-ignored",
        "fields": fields,
        "session": session,
        "message": format!(
            "{} in the arguments was ignored, since a model could have written it; the call was made in the session \
             `{session}`. Name the context in `_meta` (`dev.wharf/sessionId`, `dev.wharf/assistantId`, \
             `dev.wharf/threadId`). Where a middleware writes these fields itself, the operator sets \
             `trusted_middleware = true` under [context], or for its token",
            fields.join(", ")
        ),
    })
}

/// What the client has declared: with the request, else when the connection was opened.
fn capabilities(meta: &mut Map<String, Value>, opened: Option<&OpenedBy>) -> Map<String, Value> {
    if let Some(Value::Object(declared)) = meta.remove(CAPABILITIES) {
        return declared;
    }
    opened.map(|opened| opened.capabilities.clone()).unwrap_or_default()
}

/// How the client calls itself: with the request, else when the connection was opened.
fn client_name(meta: &Map<String, Value>, opened: Option<&OpenedBy>) -> Option<Arc<str>> {
    let Some(info) = meta.get(CLIENT_INFO) else { return opened?.name.clone() };
    let word = |key: &str| info.get(key).and_then(Value::as_str).unwrap_or_default();
    shown_name(word("name"), word("version"))
}

/// Either may be megabytes long, and is cut before it is copied.
fn shown_name(name: &str, version: &str) -> Option<Arc<str>> {
    let name = [name, version].map(shown::<String>).join(" ");
    let name = shown::<String>(name.trim());
    (!name.is_empty()).then(|| name.into())
}

/// A panic of the host ends its own call with an answer; without this the
/// client would wait for ever.
pub(crate) async fn guarded<T>(calling: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut calling = pin!(calling);
    std::future::poll_fn(|context| {
        // Nothing of the call is looked at again after a panic.
        catch_unwind(AssertUnwindSafe(|| calling.as_mut().poll(context))).unwrap_or_else(|_| {
            let told = "the host failed in this call, and only in this one; its log says more";
            Poll::Ready(Err(Error::new(Code::Internal, told)))
        })
    })
    .await
}
