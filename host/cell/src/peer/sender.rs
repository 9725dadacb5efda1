//! A connection to another host that takes requests, and what becomes of one that is sent just as
//! the connection ends.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, client::conn::http2::SendRequest};
use tokio::{sync::watch, time::sleep};

/// How long an answer that has arrived may take to its caller once the connection has ended.
const ARRIVED: Duration = Duration::from_millis(100);

/// A connection that takes requests. Clones are the same.
#[derive(Clone)]
pub(crate) struct Sender {
    requests: SendRequest<Full<Bytes>>,
    /// Closed once the connection has ended.
    open: watch::Receiver<()>,
}

/// Why there is no answer to a request. Whether it arrived is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// It could not be sent, or the connection broke.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// The connection ended just as it was sent.
    #[error("the connection ended just as the request was sent")]
    Ended,
}

impl Sender {
    /// `open` is closed once the connection has ended.
    pub(super) fn new(requests: SendRequest<Full<Bytes>>, open: watch::Receiver<()>) -> Self {
        Self { requests, open }
    }

    /// Whether it takes no request any more.
    pub(super) fn is_closed(&self) -> bool {
        self.requests.is_closed() || self.open.has_changed().is_err()
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// The channel on which hyper hands requests to its connection keeps one that is sent while the
    /// connection lets go of it, as long as anybody has its other end (tokio's issue 7714 is about
    /// the same): its sender, who waits for an answer, has it. So the end of the connection is the end
    /// of that wait.
    pub(crate) async fn send_request(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, NoAnswer> {
        let mut open = self.open.clone();
        let ended = async move {
            while open.changed().await.is_ok() {}
            sleep(ARRIVED).await;
        };
        tokio::select! {
            biased;
            answered = self.requests.send_request(request) => Ok(answered?),
            () = ended => Err(NoAnswer::Ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::pending};

    use hyper::{client::conn::http2::handshake, server::conn::http2, service::service_fn};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use tokio::time::timeout;
    use wharf_test_support::AMPLE;

    use super::*;

    /// A connection to a host that answers nothing, and what says that it is open.
    async fn silent() -> (Sender, watch::Sender<()>) {
        let (here, there) = tokio::io::duplex(64 << 10);
        let silent = service_fn(|_: Request<Incoming>| pending::<Result<Response<Full<Bytes>>, Infallible>>());
        tokio::spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(there), silent));
        let (requests, connection) = handshake(TokioExecutor::new(), TokioIo::new(here)).await.expect("connected");
        tokio::spawn(connection);
        let (is_open, open) = watch::channel(());
        (Sender::new(requests, open), is_open)
    }

    fn request() -> Request<Full<Bytes>> {
        Request::post("https://host/").body(Full::default()).expect("a request")
    }

    #[tokio::test]
    async fn a_request_that_nobody_takes_off_the_channel_of_a_connection_ends_with_that_connection() {
        let (mut sender, is_open) = silent().await;
        let other = sender.clone();
        let mut waiting = std::pin::pin!(sender.send_request(request()));
        assert!(timeout(Duration::from_millis(50), &mut waiting).await.is_err(), "it waits while there is hope");
        assert!(!other.is_closed());
        drop(is_open);
        assert!(other.is_closed());
        let ended = timeout(AMPLE, waiting).await.expect("it ends");
        assert!(matches!(ended, Err(NoAnswer::Ended)), "{ended:?}");
    }
}
