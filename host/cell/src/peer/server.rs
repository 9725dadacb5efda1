//! The address at which the other hosts reach this one.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, future::BoxFuture};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::{
    body::{Frame as BodyFrame, Incoming},
    server::conn::http2::Builder,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::RwLock;
use rustls::ServerConfig;
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Digest, Error,
    service::{Arguments, EventSink, Events, HomeAnswer, Level, ProposedPlugin},
};

use super::{incarnation_of, naming};
use crate::{
    Incarnation, PassedBody, PeerTls,
    notices::{Batch, LARGEST_BATCH},
    passed::{PassedHead, infallible, marked},
    wire::{
        ALIVE, CALL, CONFIGURED, CONSIDER, CONSIDER_PLUGIN, CallHead, Considered, Frame, HTTP, INCARNATION,
        Misdirected, NOTICES, PROBE, ProbeRequest, Sight,
    },
};

/// How long a host may take to show its certificate.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Connections that have shown none yet.
const UNKNOWN: usize = 64;
/// Connections of hosts: each has one, and one more for a look.
const CONNECTIONS: usize = 4_096;
/// Calls at once over one connection.
const STREAMS: u32 = 4_096;
/// Bytes of a question about a host or a plugin.
const LARGEST_QUESTION: usize = 4 << 10;
/// Lines of an answer that wait for the other host to read; further progress is left out.
const WAITING_LINES: usize = 64;
/// How long to wait where the system gives no connection, for want of descriptors say.
const RELIEF: Duration = Duration::from_millis(100);
/// What one call may have on its way before this host reads on.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

type Body = PassedBody;

/// A call that another host passes on.
pub(crate) struct Arriving {
    pub(crate) head: CallHead,
    pub(crate) arguments: Arguments,
    pub(crate) events: Events,
    /// Fires when the other host has gone.
    pub(crate) cancel: CancellationToken,
}

/// What becomes of it: its outcome in time, or why it is not taken up.
pub(crate) type Arrived = Result<BoxFuture<'static, Result<HomeAnswer, Error>>, Misdirected>;

/// What a host does for the others.
#[async_trait::async_trait]
pub(crate) trait PeerServer: Send + Sync + 'static {
    /// The life that listens; nothing where the host is about to end.
    fn incarnation(&self) -> Option<Incarnation>;
    /// The settings of all hosts that it has started with.
    fn configured(&self) -> Option<Digest>;
    /// Bytes of the longest call.
    fn message_bytes(&self) -> usize;
    /// Takes up a call.
    async fn call(&self, arriving: Arriving) -> Arrived;
    /// Answers an HTTP request.
    async fn request(&self, head: PassedHead, request: Request<Bytes>) -> Result<Response<PassedBody>, Misdirected>;
    /// Hears of changes.
    fn hear(&self, batch: Batch);
    /// Why this host could not use what all hosts would be configured with.
    async fn consider(&self, tables: String) -> Option<String>;
    /// Why this host could not serve a plugin that all hosts would have.
    async fn consider_plugin(&self, plugin: ProposedPlugin) -> Option<String>;
    /// Looks at a third host.
    async fn probe(&self, probe: ProbeRequest) -> Sight;
}

/// The certificate that is shown, which can be renewed.
pub(crate) struct Shown(RwLock<Arc<ServerConfig>>);

impl Shown {
    pub(crate) fn new(tls: &PeerTls) -> Self {
        Self(RwLock::new(Arc::clone(&tls.server)))
    }

    pub(crate) fn renew(&self, tls: &PeerTls) {
        *self.0.write() = Arc::clone(&tls.server);
    }
}

/// Serves until `stop` fires.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Arc<Shown>,
    server: Arc<dyn PeerServer>,
    stop: CancellationToken,
) {
    let (unknown, known) = (Arc::new(Semaphore::new(UNKNOWN)), Arc::new(Semaphore::new(CONNECTIONS)));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection of another host could not be accepted");
                tokio::time::sleep(RELIEF).await;
                continue;
            }
        };
        // Who shows no certificate takes no place of those who do.
        let Ok(place) = Arc::clone(&unknown).try_acquire_owned() else { continue };
        let acceptor = TlsAcceptor::from(Arc::clone(&*tls.0.read()));
        let (server, stop, known) = (Arc::clone(&server), stop.clone(), Arc::clone(&known));
        tokio::spawn(async move {
            let Some(stream) = shake_hands(acceptor, stream, address).await else { return };
            drop(place);
            let Ok(_place) = known.try_acquire() else { return };
            let service = service_fn(move |request| answer(Arc::clone(&server), request));
            let serving = Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .keep_alive_interval(Duration::from_secs(10))
                .keep_alive_timeout(Duration::from_secs(10))
                .max_concurrent_streams(STREAMS)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = serving => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

async fn shake_hands(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    address: SocketAddr,
) -> Option<tokio_rustls::server::TlsStream<TcpStream>> {
    let _ = stream.set_nodelay(true);
    match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::warn!(%address, %error, "a connection to the port of the cell showed no certificate of its hosts");
            None
        }
        Err(_) => None,
    }
}

async fn answer(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let Some(own) = server.incarnation() else { return Ok(said(StatusCode::SERVICE_UNAVAILABLE, &Value::Null)) };
    let meant = incarnation_of(request.headers());
    let mut response = match (request.method(), request.uri().path()) {
        (&Method::GET, ALIVE) => alive(&*server),
        _ if meant != Some(own) => said(StatusCode::MISDIRECTED_REQUEST, &Misdirected::OtherLife),
        (&Method::POST, CALL) => call(server, request).await,
        (&Method::POST, HTTP) => passed(server, request).await,
        (&Method::POST, NOTICES) => hear(server, request).await,
        (&Method::POST, PROBE) => probe(server, request).await,
        (&Method::POST, CONSIDER) => consider(server, request).await,
        (&Method::POST, CONSIDER_PLUGIN) => consider_plugin(server, request).await,
        _ => said(StatusCode::NOT_FOUND, &Value::Null),
    };
    response.headers_mut().insert(INCARNATION, naming(own));
    Ok(response)
}

fn alive(server: &dyn PeerServer) -> Response<Body> {
    let mut response = said(StatusCode::NO_CONTENT, &Value::Null);
    if let Some(configured) =
        server.configured().and_then(|digest| http::HeaderValue::try_from(digest.to_string()).ok())
    {
        response.headers_mut().insert(CONFIGURED, configured);
    }
    response
}

fn said(status: StatusCode, what: &impl serde::Serialize) -> Response<Body> {
    let body = match status {
        StatusCode::NO_CONTENT => Bytes::new(),
        _ => serde_json::to_vec(what).unwrap_or_default().into(),
    };
    let mut response = Response::new(Full::from(body).map_err(infallible).boxed_unsync());
    *response.status_mut() = status;
    response
}

async fn probe(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), LARGEST_QUESTION).collect().await;
    let probe = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    match probe {
        Some(probe) => said(StatusCode::OK, &server.probe(probe).await),
        None => said(StatusCode::BAD_REQUEST, &Value::Null),
    }
}

async fn consider(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), server.message_bytes()).collect().await;
    let Ok(body) = body else { return said(StatusCode::PAYLOAD_TOO_LARGE, &Value::Null) };
    match String::from_utf8(body.to_bytes().into()) {
        Ok(tables) => said(StatusCode::OK, &Considered { refused: server.consider(tables).await }),
        Err(_) => said(StatusCode::BAD_REQUEST, &Value::Null),
    }
}

async fn consider_plugin(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), LARGEST_QUESTION).collect().await;
    let plugin = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    match plugin {
        Some(plugin) => said(StatusCode::OK, &Considered { refused: server.consider_plugin(plugin).await }),
        None => said(StatusCode::BAD_REQUEST, &Value::Null),
    }
}

async fn hear(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), LARGEST_BATCH).collect().await;
    match body.ok().and_then(|body| Batch::read(&body.to_bytes())) {
        Some(batch) => {
            server.hear(batch);
            said(StatusCode::NO_CONTENT, &Value::Null)
        }
        None => said(StatusCode::BAD_REQUEST, &Value::Null),
    }
}

async fn passed(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), server.message_bytes()).collect().await;
    let Ok(body) = body else { return said(StatusCode::PAYLOAD_TOO_LARGE, &Value::Null) };
    let Some((head, request)) = PassedHead::read(&body.to_bytes()) else {
        return said(StatusCode::BAD_REQUEST, &Value::Null);
    };
    match server.request(head, request).await {
        Ok(response) => marked(response),
        Err(why) => said(StatusCode::MISDIRECTED_REQUEST, &why),
    }
}

async fn call(server: Arc<dyn PeerServer>, request: Request<Incoming>) -> Response<Body> {
    let body = Limited::new(request.into_body(), server.message_bytes()).collect().await;
    let Ok(body) = body else { return said(StatusCode::PAYLOAD_TOO_LARGE, &Value::Null) };
    let Ok((head, arguments)) = CallHead::read(&body.to_bytes()) else {
        return said(StatusCode::BAD_REQUEST, &Value::Null);
    };
    let (lines, written) = mpsc::channel(WAITING_LINES);
    let listening = Arc::new(Lines(lines.clone()));
    let cancel = CancellationToken::new();
    let events: Events = head.listens().then_some(listening as Arc<dyn EventSink>);
    let arriving = Arriving { head, arguments, events, cancel: cancel.clone() };
    let running = match server.call(arriving).await {
        Ok(running) => running,
        Err(why) => return said(StatusCode::MISDIRECTED_REQUEST, &why),
    };
    tokio::spawn(async move {
        // The other host has gone when nobody reads the lines any more.
        let outcome = tokio::select! {
            outcome = running => outcome,
            () = lines.closed() => {
                cancel.cancel();
                return;
            }
        };
        let _ = lines.send(Frame::outcome(outcome).line()).await;
    });
    let lines = futures_util::stream::unfold(written, async |mut written| {
        let line: Bytes = written.recv().await?;
        Some((Ok::<_, Infallible>(BodyFrame::data(line)), written))
    });
    Response::new(StreamBody::new(lines.boxed()).map_err(infallible).boxed_unsync())
}

/// The progress and messages of a call, on their way to the other host.
struct Lines(mpsc::Sender<Bytes>);

impl Lines {
    /// Drops what cannot be delivered at once, and leaves a place for the outcome.
    fn send(&self, frame: &Frame<'_>) {
        let _ = self.0.try_send(frame.line());
    }
}

impl EventSink for Lines {
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        self.send(&Frame::Progress { done, total, message: message.map(Into::into) });
    }

    fn waits(&self, message: &str) {
        self.send(&Frame::Waits(message.into()));
    }

    fn message(&self, level: Level, data: Value) {
        self.send(&Frame::message(level, data));
    }
}
