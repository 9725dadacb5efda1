//! Clients of both eras, which send what they like.

use http_body_util::BodyExt;
use hyper::{Response, StatusCode, body::Incoming};
use serde_json::{Map, Value, json};
use wharf_test_support::in_time;

use crate::client::{Answered, Client};

const BOTH: &str = "application/json, text/event-stream";

/// What every request of 2026-07-28 carries, and `more`.
pub(crate) fn modern(more: Value) -> Value {
    let mut meta = Map::from_iter([
        ("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2026-07-28")),
        ("io.modelcontextprotocol/clientCapabilities".to_owned(), json!({})),
        ("io.modelcontextprotocol/clientInfo".to_owned(), json!({"name": "test", "version": "1"})),
    ]);
    meta.extend(more.as_object().expect("an object").clone());
    Value::Object(meta)
}

pub(crate) fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A request of 2026-07-28 to call a tool.
pub(crate) fn modern_call(id: i64, tool: &str, arguments: Value, meta: Value) -> Value {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments, "_meta": modern(meta)}))
}

pub(crate) fn legacy_call(id: i64, tool: &str, arguments: Value, meta: Value) -> Value {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments, "_meta": meta}))
}

/// What the message of an answer is, as JSON or as the one event with a message.
pub(crate) fn message(answered: &Answered) -> Value {
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    if answered.headers["content-type"] == "application/json" {
        return answered.json();
    }
    let mut data = answered.body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty());
    let message = serde_json::from_str(data.next().expect("a message")).expect("JSON");
    assert_eq!(data.next(), None);
    message
}

impl Client {
    /// This client as one of 2026-07-28, about to use `method`, of `name` where there is one.
    pub(crate) fn modern(&self, method: &str, name: &str) -> Self {
        let client = self.mcp().with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        if name.is_empty() { client } else { client.with("mcp-name", name) }
    }

    fn mcp(&self) -> Self {
        let mut client = self.with("accept", BOTH);
        client.headers.retain(|(name, _)| *name != "wharf-session");
        client
    }

    /// This client with a session of 2025-11-25.
    pub(crate) async fn legacy(&self) -> Self {
        let answered = self.initialize().await;
        let session = answered.headers["mcp-session-id"].to_str().expect("ASCII").to_owned();
        let client = self.mcp().with("mcp-session-id", session).with("mcp-protocol-version", "2025-11-25");
        let said = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post("/mcp", said).await.status, StatusCode::ACCEPTED);
        client
    }

    pub(crate) async fn initialize(&self) -> Answered {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}},
                           "clientInfo": {"name": "test", "version": "1"}});
        self.mcp().post("/mcp", request(0, "initialize", &hello)).await
    }

    pub(crate) fn session(&self) -> &str {
        self.headers.iter().find(|(name, _)| *name == "mcp-session-id").map(|(_, id)| id).expect("a session")
    }
}

/// Server-sent events of the protocol as they come.
pub(crate) struct Stream {
    body: Incoming,
    text: String,
    pub(crate) comments: usize,
}

/// One event. Without `data` it only says where to go on.
pub(crate) struct Said {
    pub(crate) id: Option<String>,
    pub(crate) data: Option<Value>,
}

impl Stream {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new(), comments: 0 }
    }

    /// The next event; nothing where the server has ended the answer.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                match field("data:") {
                    Some(data) => {
                        let data = data.trim();
                        let data = (!data.is_empty()).then(|| serde_json::from_str(data).expect("JSON"));
                        return Some(Said { id: field("id: "), data });
                    }
                    None => self.comments += 1,
                }
            }
            self.more().await?;
        }
    }

    /// The next message.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            if let Some(message) = self.next().await?.data {
                return Some(message);
            }
        }
    }

    /// Waits until a comment came.
    pub(crate) async fn comment(&mut self) {
        let before = self.comments;
        while self.comments == before {
            self.more().await.expect("open");
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                self.comments += usize::from(block.starts_with(':'));
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        let frame = in_time("something in time", self.body.frame()).await?;
        let bytes = frame.expect("readable").into_data().expect("no trailers");
        self.text.push_str(std::str::from_utf8(&bytes).expect("whole characters"));
        Some(())
    }
}
