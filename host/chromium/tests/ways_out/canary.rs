//! A server that records every connection and datagram that reaches it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::watch,
};
use wharf_test_support::in_time;

/// A port of TCP and the same one of UDP, on every address of the loopback.
pub(crate) struct Canary {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    changes: watch::Sender<()>,
}

impl Canary {
    pub(crate) async fn start() -> Self {
        let (seen, changes): (Arc<Mutex<Vec<String>>>, _) = (Arc::default(), watch::Sender::new(()));
        let (listeners, datagrams) = loop {
            let first = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let port = first.local_addr().expect("an address").port();
            // The same number is free elsewhere, nearly always.
            if let Ok(datagrams) = UdpSocket::bind(("127.0.0.1", port)).await {
                let mut listeners = vec![first];
                listeners.extend(TcpListener::bind(("::1", port)).await);
                break (listeners, datagrams);
            }
        };
        let port = listeners[0].local_addr().expect("an address").port();
        let canary = Self { port, seen, changes };
        for listener in listeners {
            let (seen, changes) = (Arc::clone(&canary.seen), canary.changes.clone());
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(answer(stream, Arc::clone(&seen), changes.clone()));
                }
            });
        }
        let (seen, changes) = (Arc::clone(&canary.seen), canary.changes.clone());
        tokio::spawn(async move {
            let mut bytes = [0; 2048];
            while let Ok((length, _)) = datagrams.recv_from(&mut bytes).await {
                seen.lock().expect("a lock").push(format!("udp {length}"));
                changes.send_replace(());
            }
        });
        canary
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// Everything: `tcp` for each connection, `/path` of each request, `udp` for
    /// each datagram.
    pub(crate) fn all(&self) -> Vec<String> {
        self.seen.lock().expect("a lock").clone()
    }

    /// First parts of paths that were asked for.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        self.all()
            .iter()
            .filter_map(|seen| Some(seen.strip_prefix('/')?.split(['/', '?', '.']).next()?.to_owned()))
            .collect()
    }

    /// Waits until each of these was asked for: those that were not.
    pub(crate) async fn misses(&self, wanted: &BTreeSet<&'static str>, patience: Duration) -> Vec<&'static str> {
        let mut changes = self.changes.subscribe();
        let missing = || {
            let paths = self.paths();
            wanted.iter().filter(|name| !paths.contains(**name)).copied().collect::<Vec<_>>()
        };
        let looking = async {
            while !missing().is_empty() {
                changes.changed().await.expect("a canary");
            }
        };
        let _ = tokio::time::timeout(patience, looking).await;
        missing()
    }

    /// Is called at in both ways.
    pub(crate) async fn touch(&self) {
        let mut changes = self.changes.subscribe();
        let before = self.all().len();
        TcpStream::connect(("127.0.0.1", self.port)).await.expect("a connection");
        let datagrams = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        datagrams.send_to(b"x", ("127.0.0.1", self.port)).await.expect("sent");
        while self.all().len() < before + 2 {
            in_time("it is seen", changes.changed()).await.expect("a canary");
        }
    }
}

async fn answer(mut stream: TcpStream, seen: Arc<Mutex<Vec<String>>>, changes: watch::Sender<()>) {
    let say = |what: String| {
        seen.lock().expect("a lock").push(what);
        changes.send_replace(());
    };
    say("tcp".to_owned());
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes).await {
            Ok(length @ 1..) => head.extend_from_slice(&bytes[..length]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head);
    say(head.split(' ').nth(1).unwrap_or_default().to_owned());
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n\
        Access-Control-Allow-Headers: *\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
