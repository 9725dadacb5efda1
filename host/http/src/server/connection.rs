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
    connections::Visitor,
    listener::{self, Accepted, BUFFER_BYTES},
};

/// The clocks of one connection.
#[derive(Clone, Copy)]
pub(super) struct Times {
    arrival: Duration,
    stall: Duration,
}

impl Times {
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
    accepted: Accepted,
    router: Router,
    times: Times,
    visitor: Arc<Visitor>,
    stopping: CancellationToken,
) {
    match accepted {
        Accepted::Port(stream, tls) => {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection gathers small writes");
            }
            match tls {
                None => speak(stream, router, times, visitor, stopping).await,
                Some(tls) => {
                    if let Some(stream) = listener::private(&tls, stream, times.arrival).await {
                        speak(stream, router, times, visitor, stopping).await;
                    }
                }
            }
        }
        #[cfg(unix)]
        Accepted::Socket(stream) => speak(stream, router, times, visitor, stopping).await,
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send,
    router: Router,
    times: Times,
    visitor: Arc<Visitor>,
    stopping: CancellationToken,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(times.stall));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(times.arrival).max_buf_size(BUFFER_BYTES);
    let router = TowerToHyperService::new(router.into_service::<Incoming>());
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&visitor));
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
