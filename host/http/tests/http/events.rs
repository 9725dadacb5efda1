//! Server-sent events, as a client reads them.

use http_body_util::BodyExt;
use hyper::{Response, StatusCode, body::Incoming, header};
use serde_json::Value;
use wharf_test_support::in_time;

use crate::client::Client;

impl Client {
    /// Follows a route of events.
    pub(crate) async fn follow(&self, path: &str) -> Events {
        Events::new(self.open("GET", path, None).await)
    }
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: Option<u64>,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// Server-sent events as they come.
pub(crate) struct Events {
    pub(crate) head: hyper::http::response::Parts,
    body: Incoming,
    text: String,
    pub(crate) heartbeats: usize,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        assert_eq!(head.status, StatusCode::OK);
        assert_eq!(head.headers[header::CONTENT_TYPE], "text/event-stream");
        Self { head, body, text: String::new(), heartbeats: 0 }
    }

    /// The next event; nothing where the server has ended the answer.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                match parsed(&block) {
                    Some(sent) => return Some(sent),
                    None => self.heartbeats += usize::from(block.starts_with(':')),
                }
                continue;
            }
            self.more().await?;
        }
    }

    /// Waits until a comment came.
    pub(crate) async fn heartbeat(&mut self) {
        let before = self.heartbeats;
        while self.heartbeats == before {
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                assert_eq!(parsed(&block), None, "only silence was expected");
                self.heartbeats += usize::from(block.starts_with(':'));
            }
            if self.heartbeats == before {
                self.more().await.expect("still open");
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        let frame = in_time("something in time", self.body.frame()).await?;
        let bytes = frame.expect("readable").into_data().expect("no trailers");
        self.text.push_str(std::str::from_utf8(&bytes).expect("whole characters"));
        Some(())
    }

    /// All that comes until the server ends the answer.
    pub(crate) async fn rest(&mut self) -> Vec<Sent> {
        let mut all = Vec::new();
        while let Some(sent) = self.next().await {
            all.push(sent);
        }
        all
    }
}

fn parsed(block: &str) -> Option<Sent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    let data = serde_json::from_str(field("data: ")?).expect("JSON");
    let id = field("id: ").map(|id| id.parse().expect("a number"));
    Some(Sent { id, kind: field("event: ").expect("a kind").to_owned(), data })
}
