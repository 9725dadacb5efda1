//! One connection of the browser: its requests, each checked, each by a connection
//! of its own to the server; or one tunnel.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Either;
use hyper::{
    Method, Request, Response, StatusCode, Uri, Version, body::Incoming, client, http::uri::PathAndQuery, server,
    service::service_fn, upgrade::OnUpgrade,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{io::copy_bidirectional_with_sizes, net::TcpStream, time::Instant};
use tokio_util::sync::CancellationToken;
use wharf_core::{Code, Error, OriginPolicy, Server};
use wharf_network::Connector;

use super::{
    activity::{Activity, CountedStream},
    answer::{self, Body},
    headers, target,
};

/// How long it may take until a server is connected to.
const CONNECT: Duration = Duration::from_secs(20);

/// How long a head may take, and how long a connection may wait for its next
/// request.
const HEAD: Duration = Duration::from_secs(30);

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 16 * 1024;

/// Bytes of the head of an answer: what browsers take.
const ANSWER_HEAD_BYTES: usize = 256 * 1024;

/// How long nothing may go through a connection, in either direction. Pages listen
/// for long to servers that say nothing.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// Bytes that wait in each direction of a tunnel.
const TUNNEL_BYTES: usize = 16 * 1024;

/// A connection that a page did not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedConnection {
    /// What was asked for: a URL, or host and port of a tunnel; one line, cut.
    pub target: String,
    /// Why: `denied` where the policy forbids it, `unavailable` where the server was
    /// not reached, `invalid` where it is no request.
    pub reason: Error,
}

/// What all connections of a proxy share.
pub(super) struct ProxyRules {
    pub(super) policy: Arc<OriginPolicy>,
    pub(super) reach: Connector,
    pub(super) denied: Arc<dyn Fn(DeniedConnection) + Send + Sync>,
    pub(super) address: SocketAddr,
    pub(super) user: Option<u32>,
    pub(super) end: CancellationToken,
}

/// What one connection has.
struct BrowserConnection<'r> {
    rules: &'r ProxyRules,
    activity: Activity,
    /// Ended with the connection: what else works for it.
    end: CancellationToken,
    tunnel: Mutex<Option<Tunnel>>,
}

/// Both ends of a tunnel that was granted.
struct Tunnel {
    browser: OnUpgrade,
    server: CountedStream<TcpStream>,
}

/// Serves a connection of the browser until it ends.
pub(super) async fn serve(rules: &ProxyRules, stream: TcpStream) {
    let end = CancellationToken::new();
    let _end_with_this = end.clone().drop_guard();
    let connection = BrowserConnection { rules, activity: Activity::default(), end, tunnel: Mutex::default() };
    let _ = stream.set_nodelay(true);
    tokio::select! {
        () = connection.run(stream) => {}
        () = connection.activity.stops(IDLE) => {}
    }
}

impl BrowserConnection<'_> {
    async fn run(&self, stream: TcpStream) {
        let stream = TokioIo::new(self.activity.of(stream));
        let service = service_fn(async |request| Ok::<_, Infallible>(self.answer(request).await));
        let serving = server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(HEAD_BYTES)
            .auto_date_header(false)
            .serve_connection(stream, service);
        if serving.with_upgrades().await.is_err() {
            return;
        }
        let tunnel = self.tunnel.lock().take();
        if let Some(Tunnel { browser, mut server }) = tunnel
            && let Ok(browser) = browser.await
        {
            let mut browser = TokioIo::new(browser);
            let _ = copy_bidirectional_with_sizes(&mut browser, &mut server, TUNNEL_BYTES, TUNNEL_BYTES).await;
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let told = target::told(request.method(), request.uri());
        let done = match *request.method() {
            Method::CONNECT => self.tunnel(request).await,
            _ => self.forward(request).await,
        };
        done.unwrap_or_else(|reason| {
            let response = answer::refusal(&reason);
            (self.rules.denied)(DeniedConnection { target: told, reason });
            response
        })
    }

    async fn connect(&self, target: &Server) -> Result<TcpStream, Error> {
        let policy = &self.rules.policy;
        self.rules.reach.connect(target, Instant::now() + CONNECT, |address| policy.address(address)).await
    }

    async fn tunnel(&self, mut request: Request<Incoming>) -> Result<Response<Body>, Error> {
        let target = target::granted(&self.rules.policy, request.method(), request.uri())?;
        let server = self.activity.of(self.connect(&target).await?);
        let browser = hyper::upgrade::on(&mut request);
        *self.tunnel.lock() = Some(Tunnel { browser, server });
        Ok(answer::empty(StatusCode::OK))
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Body>, Error> {
        let target = target::granted(&self.rules.policy, request.method(), request.uri())?;
        headers::to_server(request.headers_mut(), &target)
            .map_err(|_| Error::new(Code::Invalid, "this names no server"))?;
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
        *request.version_mut() = Version::HTTP_11;

        let stream = self.connect(&target).await?;
        let broken = |error: hyper::Error| {
            let message = format!("{} broke off: {error}", target.authority);
            Error::retryable(Code::Unavailable, message)
        };
        let stream = TokioIo::new(self.activity.of(stream));
        let client = client::conn::http1::Builder::new().max_buf_size(ANSWER_HEAD_BYTES).clone();
        let (mut sender, driver) = client.handshake(stream).await.map_err(broken)?;
        tokio::spawn(self.end.clone().run_until_cancelled_owned(driver));
        let response = sender.send_request(request).await.map_err(broken)?;

        // A server is not to speak for the proxy: the browser would ask for a
        // password of it, or take what follows for another protocol.
        if matches!(response.status(), StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::SWITCHING_PROTOCOLS) {
            let message = format!("{} answered {}, which only a proxy may", target.authority, response.status());
            return Err(Error::new(Code::Unavailable, message));
        }
        let mut response = response.map(Either::Left);
        *response.version_mut() = Version::HTTP_11;
        headers::to_browser(response.headers_mut());
        Ok(response)
    }
}
