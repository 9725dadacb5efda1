//! A server on the loopback, for pages that go somewhere.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// Ends with its last clone.
#[derive(Clone)]
pub(super) struct TestServer {
    address: SocketAddr,
    _serving: Arc<Serving>,
}

struct Serving(AbortHandle);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl TestServer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        Self { address, _serving: Arc::new(Serving(serving.abort_handle())) }
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Answers one request; a client that does something else is not one of the tests.
async fn serve(mut stream: TcpStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < 16 << 10 {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let (status, body) = match head.split(' ').nth(1)? {
        "/" => ("200 OK", "<!doctype html><title>first</title><p>first</p>"),
        "/second" => ("200 OK", "<!doctype html><title>second</title><p>second</p>"),
        "/missing" => ("404 Not Found", "<!doctype html><title>missing</title><p>missing</p>"),
        _ => ("404 Not Found", ""),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}
