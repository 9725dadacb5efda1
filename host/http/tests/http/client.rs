//! A client that can do what real ones do: leave, come back, read slowly.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use wharf_test_support::in_time;

/// Where to ask, and what to show.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// An answer that was read.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: header::HeaderMap,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().expect("an error").to_owned()
    }
}

impl Client {
    /// The same client with another header.
    pub(crate) fn with(&self, name: &'static str, value: impl Into<String>) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(other, _)| *other != name);
        client.headers.push((name, value.into()));
        client
    }

    /// Sends a request on a connection of its own, and returns when the head
    /// of the answer is there.
    pub(crate) async fn open(&self, method: &str, path: &str, body: Option<Value>) -> Response<Incoming> {
        let mut request = Request::builder().method(method).uri(path);
        if !self.headers.iter().any(|(name, _)| *name == "host") {
            request = request.header(header::HOST, self.address.to_string());
        }
        if !self.token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        }
        if body.is_some() && !self.headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = Full::new(Bytes::from(body.map(|body| body.to_string()).unwrap_or_default()));
        let request = request.body(body).expect("a legal request");
        let asking = async {
            let stream = TcpStream::connect(self.address).await.expect("connects");
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("speaks HTTP");
            tokio::spawn(connection);
            sender.send_request(request).await.expect("is answered")
        };
        in_time("an answer in time", asking).await
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answered {
        let response = self.open(method, path, body).await;
        let (head, body) = response.into_parts();
        let body = in_time("in time", body.collect()).await.expect("readable").to_bytes();
        let body = String::from_utf8(body.to_vec()).expect("UTF-8");
        Answered { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answered {
        self.ask("POST", path, Some(body)).await
    }
}
