//! A server that tells what it was asked, a proxy, and a browser's end of it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use wharf_core::OriginPolicy;
use wharf_test_support::in_time;
use wharf_webview::{DeniedConnection, NameOverrides, Proxy, ProxySettings};

/// The result of `future`.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    in_time("it happens", future).await
}

pub(crate) fn policy(origins: &[&str], private_addresses: bool) -> Arc<OriginPolicy> {
    let origins = origins.iter().map(|origin| origin.parse().expect("well written")).collect();
    Arc::new(OriginPolicy::new("browser".parse().expect("well written"), origins, private_addresses))
}

/// A proxy, and what it says of connections that were not got.
pub(crate) struct Served {
    pub(crate) proxy: Proxy,
    pub(crate) denied: Arc<Mutex<Vec<DeniedConnection>>>,
}

impl Served {
    pub(crate) async fn start(policy: Arc<OriginPolicy>) -> Self {
        Self::start_with(policy, |_| {}).await
    }

    pub(crate) async fn start_with(policy: Arc<OriginPolicy>, change: impl FnOnce(&mut ProxySettings)) -> Self {
        let denied: Arc<Mutex<Vec<_>>> = Arc::default();
        let telling = Arc::clone(&denied);
        let mut settings = ProxySettings {
            connections: 256,
            shares: None,
            user: None,
            denied: Arc::new(move |connection| telling.lock().expect("a lock").push(connection)),
            names: None,
        };
        change(&mut settings);
        Self { proxy: Proxy::start(policy, settings).await.expect("done"), denied }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        within(TcpStream::connect(self.proxy.address())).await.expect("done")
    }

    /// Sends `request` on a connection of its own and reads until that ends.
    pub(crate) async fn ask(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.expect("done");
        rest(&mut stream).await
    }

    /// Asks for a URL.
    pub(crate) async fn get(&self, url: &str) -> String {
        self.ask(&format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await
    }

    /// Why connections were not got: code and target.
    pub(crate) fn refusals(&self) -> Vec<(&'static str, String)> {
        let denied = self.denied.lock().expect("a lock");
        denied.iter().map(|denied| (denied.reason.code.as_str(), denied.target.clone())).collect()
    }
}

/// Names that lead to given addresses.
pub(crate) fn names(found: &'static [(&'static str, &'static [&'static str])]) -> NameOverrides {
    Arc::new(move |name| {
        let (_, addresses) = found.iter().find(|(known, _)| *known == name)?;
        Some(addresses.iter().map(|address| address.parse().expect("well written")).collect())
    })
}

/// What comes until the other end is done; also where it ends in an error.
pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = within(stream.read_to_end(&mut bytes)).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One head, up to its empty line.
pub(crate) async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if within(stream.read(&mut byte)).await.unwrap_or(0) == 0 {
            break;
        }
        bytes.push(byte[0]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server that answers each connection by one text, and keeps what it was sent
/// up to an empty line.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
}

impl Origin {
    pub(crate) async fn start(answer: &'static str) -> Self {
        Self::start_held(answer, Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))).await
    }

    /// Answers once `go` gives a permit.
    pub(crate) async fn start_held(answer: &'static str, go: Arc<Semaphore>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("done");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<_>>> = Arc::default();
        let keeping = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (keeping, go) = (Arc::clone(&keeping), Arc::clone(&go));
                tokio::spawn(async move {
                    let head = head(&mut stream).await;
                    keeping.lock().expect("a lock").push(head);
                    let _go = go.acquire().await.expect("done");
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("a lock").clone()
    }
}
