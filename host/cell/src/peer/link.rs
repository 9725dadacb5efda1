//! One connection to each host that this one calls, made when it is first needed.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::{Mutex, RwLock};
use rustls::ClientConfig;
use tokio::{
    net::TcpStream,
    sync::{Mutex as AsyncMutex, watch},
    time::timeout,
};
use tokio_rustls::TlsConnector;
use wharf_core::text::with_causes;

use super::Sender;
use crate::{Incarnation, PeerTls, roster::Peer};

/// From one sign of life to the next while a call runs. With the patience for its answer, a
/// silent host counts as unavailable within a second.
const PING: Duration = Duration::from_millis(250);
/// What one call may have on its way before the receiver reads on.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

/// Why there is no connection to a host.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// Nobody listens there.
    Refused,
    /// The connection was made and ended before the other side had said who it is, as where a process
    /// just ends.
    Broken(String),
    /// Nobody answers in time, there is no way there, or its certificate is not accepted.
    Unclear(String),
}

/// The connections to the other hosts.
pub(crate) struct Links {
    tls: RwLock<Arc<ClientConfig>>,
    connecting: Duration,
    silence: Duration,
    // One slot for each life, so that one host that does not answer holds up nobody else.
    slots: Mutex<HashMap<Incarnation, Arc<AsyncMutex<Option<Sender>>>>>,
}

impl Links {
    pub(crate) fn new(tls: &PeerTls, connecting: Duration, silence: Duration) -> Self {
        let tls = RwLock::new(Arc::clone(&tls.client));
        Self { tls, connecting, silence, slots: Mutex::default() }
    }

    /// Connections from now on show this certificate.
    pub(crate) fn renew(&self, tls: &PeerTls) {
        *self.tls.write() = Arc::clone(&tls.client);
    }

    /// Lets go of what leads to lives that are over.
    pub(crate) fn retain(&self, lives: impl Fn(Incarnation) -> bool) {
        self.slots.lock().retain(|incarnation, _| lives(*incarnation));
    }

    /// A connection that takes a request. Callers of one host wait for one connection.
    pub(crate) async fn get(&self, peer: &Peer) -> Result<Sender, NotConnected> {
        let slot = Arc::clone(self.slots.lock().entry(peer.incarnation).or_default());
        let mut slot = slot.lock().await;
        if let Some(sender) = slot.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        *slot = None;
        let sender = self.connect(peer).await?;
        *slot = Some(sender.clone());
        Ok(sender)
    }

    /// A connection of its own.
    pub(crate) async fn connect(&self, peer: &Peer) -> Result<Sender, NotConnected> {
        match timeout(self.connecting, self.open(peer)).await {
            Ok(opened) => opened,
            Err(_) => Err(NotConnected::Unclear("nothing answers at its address".to_owned())),
        }
    }

    async fn open(&self, peer: &Peer) -> Result<Sender, NotConnected> {
        let unclear = |error: &dyn std::error::Error| NotConnected::Unclear(with_causes(error));
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::ConnectionRefused => NotConnected::Refused,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => NotConnected::Broken(with_causes(&error)),
            _ => unclear(&error),
        };
        let stream = TcpStream::connect(peer.address.parts()).await.map_err(failed)?;
        let _ = stream.set_nodelay(true);
        let name = peer.address.server_name();
        let name = name.ok_or_else(|| NotConnected::Unclear("its address has no name".to_owned()))?;
        let connector = TlsConnector::from(Arc::clone(&*self.tls.read()));
        let stream = connector.connect(name, stream).await.map_err(failed)?;
        let (requests, connection) = Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(self.silence)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| unclear(&error))?;
        let host = Arc::clone(&peer.host);
        let (is_open, open) = watch::channel(());
        tokio::spawn(async move {
            let _is_open = is_open;
            if let Err(error) = connection.await {
                tracing::debug!(%host, %error, "the connection to another host of the cell ended");
            }
        });
        Ok(Sender::new(requests, open))
    }
}
