//! One connection: its handshake, its clocks, and the requests on it.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;

use crate::{
    connections::ConnectionPermit,
    listener::{self, AcceptedConnection, BUFFER_BYTES},
};

/// The clocks of one connection.
#[derive(Clone, Copy)]
pub(super) struct ConnectionTimeouts {
    arrival: Duration,
    stall: Duration,
}

impl ConnectionTimeouts {
    pub(super) fn new(limits: &wharf_core::HttpLimits) -> Self {
        Self {
            arrival: Duration::from_millis(limits.arrival_milliseconds),
            stall: Duration::from_millis(limits.stall_milliseconds),
        }
    }
}

/// Serves one connection until it ends, or until the host stops and its requests have been
/// answered.
pub(super) async fn serve(
    accepted: AcceptedConnection,
    router: Router,
    timeouts: ConnectionTimeouts,
    permit: Arc<ConnectionPermit>,
    stopping: CancellationToken,
) {
    match accepted {
        AcceptedConnection::Port(stream, tls) => {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection gathers small writes");
            }
            match tls {
                None => speak(stream, router, timeouts, permit, stopping).await,
                Some(tls) => {
                    let handshake = listener::tls_handshake(&tls, stream, timeouts.arrival).await;
                    if let Some((stream, certificate)) = handshake {
                        permit.identify(certificate);
                        speak(stream, router, timeouts, permit, stopping).await;
                    }
                }
            }
        }
        #[cfg(unix)]
        AcceptedConnection::Socket(stream) => speak(stream, router, timeouts, permit, stopping).await,
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send,
    router: Router,
    timeouts: ConnectionTimeouts,
    permit: Arc<ConnectionPermit>,
    stopping: CancellationToken,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeouts.stall));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(timeouts.arrival).max_buf_size(BUFFER_BYTES);
    let router = TowerToHyperService::new(router.into_service::<Incoming>());
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&permit));
        router.call(request)
    });
    let mut serving = std::pin::pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
