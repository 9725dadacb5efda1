//! A small service of tools, and a client that speaks lines.

use std::sync::{Arc, Mutex};
use wharf_test_support::in_time;

use crate::named_tools::{Named, NamedTools};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use wharf_core::{Answer, CallRequest, Code, ContextRules, Error, ToolDefinition, ToolService, service::Level};
use wharf_mcp::{ServeError, Served, ServerInfo, serve_streams};

/// Tools that show what reached them.
pub(crate) struct Service {
    definitions: Arc<[ToolDefinition]>,
    /// What calls of `test__wait` went through.
    pub(crate) seen: mpsc::UnboundedSender<&'static str>,
    /// What the calls of `test__stubborn` wait for.
    pub(crate) release: CancellationToken,
}

pub(crate) fn definition(name: &str) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    ToolDefinition {
        name: format!("test__{name}"),
        description: format!("{name} for tests"),
        input_schema: schema.as_object().expect("an object").clone().into(),
        output_schema: None,
        meta: json!({"title": name}).as_object().expect("an object").clone(),
    }
}

#[async_trait::async_trait]
impl NamedTools for Service {
    fn list(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    async fn run(&self, request: CallRequest) -> Result<Answer, Error> {
        match request.tool.as_str() {
            "test__echo" => Ok(Answer {
                structured: Some(json!({
                    "arguments": request.arguments.values(),
                    "tenant": request.caller.context.tenant.as_str(),
                    "session": request.caller.context.session.as_str(),
                    "assistant": request.caller.context.assistant.as_ref().map(|id| id.as_str()),
                    "thread": request.caller.context.thread.as_ref().map(|id| id.as_str()),
                    "meta": request.caller.meta,
                    "capabilities": request.caller.capabilities,
                })),
                ..Answer::default()
            }),
            "test__size" => Ok(Answer {
                structured: Some(json!({"bytes": request.arguments.values()["text"].as_str().map_or(0, str::len)})),
                ..Answer::default()
            }),
            "test__fail" => Err(Error::new(Code::Invalid, "/text: is too long, at most 5 characters")),
            "test__wait" => {
                let _ = self.seen.send("started");
                request.caller.cancel.cancelled().await;
                let _ = self.seen.send("cancelled");
                Err(Error::new(Code::Cancelled, "the client took the call back"))
            }
            "test__stubborn" => {
                let _ = self.seen.send("started");
                self.release.cancelled().await;
                let mut answer = Answer::default();
                answer.content.push(wharf_core::Content::text("late"));
                Ok(answer)
            }
            "test__talk" => {
                let events = request.caller.events.clone().expect("somebody listens");
                for done in [0.0, 50.0, 50.0, 20.0, f64::NAN, 100.0] {
                    events.progress(done, Some(100.0), Some("on the way"));
                }
                for level in ["debug", "info", "warn", "error", "loud"] {
                    events.message(Level::from_word(level), json!(format!("said as {level}")));
                }
                Ok(Answer::default())
            }
            other => panic!("{other} panics"),
        }
    }
}

/// The service of this file, and both ends of what its calls go through.
pub(crate) struct Serving {
    pub(crate) tools: Arc<dyn ToolService>,
    seen: mpsc::UnboundedReceiver<&'static str>,
    release: CancellationToken,
}

pub(crate) fn service() -> Serving {
    let names = ["echo", "fail", "panic", "size", "stubborn", "talk", "wait"];
    let (sender, seen) = mpsc::unbounded_channel();
    let release = CancellationToken::new();
    let definitions = names.into_iter().map(definition).collect();
    let service = Service { definitions, seen: sender, release: release.clone() };
    Serving { tools: Arc::new(Named(Arc::new(service))), seen, release }
}

pub(crate) fn info() -> ServerInfo {
    let mut info = ServerInfo::new("wharf", "1.2.3");
    (info.title, info.instructions) = ("Wharf".to_owned(), "Tools for tests.".to_owned());
    info
}

/// A client on the other end of a served connection.
pub(crate) struct Client {
    writer: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) seen: Mutex<mpsc::UnboundedReceiver<&'static str>>,
    pub(crate) release: CancellationToken,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<Result<(), ServeError>>,
}

impl Client {
    pub(crate) fn connect() -> Self {
        Self::connect_under(ContextRules::local())
    }

    pub(crate) fn connect_under(rules: ContextRules) -> Self {
        let Serving { tools, seen, release } = service();
        Self { seen: Mutex::new(seen), release, ..Self::connect_to(tools, rules) }
    }

    /// A client of another service than the one of this file.
    pub(crate) fn connect_to(service: Arc<dyn ToolService>, rules: ContextRules) -> Self {
        Self::connect_to_all(Served::new(service, None), rules)
    }

    /// A client of tools and of what is offered beside them.
    pub(crate) fn connect_to_all(served: Served, rules: ContextRules) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(serve_streams(reader, writer, served, rules, info(), shutdown.clone()));
        let (reader, writer) = tokio::io::split(near);
        Self {
            writer: Some(writer),
            lines: BufReader::new(reader).lines(),
            seen: Mutex::new(mpsc::unbounded_channel().1),
            release: CancellationToken::new(),
            shutdown,
            serving,
        }
    }

    /// A client that went through the handshake of 2025-11-25.
    pub(crate) async fn legacy() -> Self {
        let mut client = Self::connect();
        client.handshake().await;
        client
    }

    /// The handshake, and the server's part of it.
    pub(crate) async fn handshake(&mut self) -> Value {
        self.handshake_with(json!({})).await
    }

    /// The handshake of a client with these capabilities.
    pub(crate) async fn handshake_with(&mut self, capabilities: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}}}))
            .await;
        let answer = self.receive().await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        self.send_bytes(line).await;
        self.send_bytes(b"\n").await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.as_mut().expect("open").write_all(bytes).await.expect("the server reads");
    }

    /// Asks, and waits for the next message, which has to be the answer.
    pub(crate) async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn call(&mut self, id: i64, tool: &str, arguments: Value, meta: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta})).await
    }

    pub(crate) async fn receive(&mut self) -> Value {
        self.receive_or_end().await.expect("the server is still there")
    }

    /// The next message, or nothing where the server has closed its end.
    pub(crate) async fn receive_or_end(&mut self) -> Option<Value> {
        let line = in_time("an answer in time", self.lines.next_line()).await;
        line.expect("readable").map(|line| serde_json::from_str(&line).expect("JSON"))
    }

    /// Waits until a call says `what`.
    pub(crate) async fn until(&mut self, what: &str) {
        let seen = self.seen.get_mut().expect("not poisoned");
        loop {
            let said = in_time("in time", seen.recv()).await.expect("a service");
            if said == what {
                return;
            }
        }
    }

    /// Closes the client's sending end.
    pub(crate) async fn hang_up(&mut self) {
        let mut writer = self.writer.take().expect("open");
        writer.shutdown().await.expect("closes");
    }

    /// Waits until the server is done.
    pub(crate) async fn ended(self) -> Result<(), ServeError> {
        in_time("in time", self.serving).await.expect("no panic")
    }
}

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
