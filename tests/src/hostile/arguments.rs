//! What a client asks a tool for, through all that lies between a connection and the tool:
//! whose context it is, which arguments arrive, and what is answered.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, split},
    runtime::Runtime,
};
use tokio_util::sync::CancellationToken;
use wharf::{
    Answer, AppCall, AppTool, Channel, Context, ContextRules, Host, SessionId,
    mcp::{Served, ServerInfo, serve_streams},
};

use super::is_visible;
use crate::Setup;

/// What a tool was called with.
type Seen = Arc<Mutex<Option<(Context, Map<String, Value>)>>>;

/// The three fields of a middleware, and no other name.
const FIELDS: [&str; 3] = ["__sessionId", "__assistantId", "__threadId"];
/// What the metadata calls the same.
const OWN_KEYS: [&str; 3] = ["dev.wharf/sessionId", "dev.wharf/assistantId", "dev.wharf/threadId"];
/// What known clients call theirs.
const CLIENT_KEYS: [&str; 3] = ["threadId", "x-codex-turn-metadata", "vscode.conversationId"];
/// Takes whatever comes.
const ANY: &str = "app__any";
/// Takes what its schema says.
const STRICT: &str = "app__strict";
const PIPE_BYTES: usize = 1 << 20;

/// A connection to a host whose tools tell what they were called with.
struct Connection {
    lines: BufReader<ReadHalf<DuplexStream>>,
    requests: WriteHalf<DuplexStream>,
    last_id: u64,
}

struct Asking {
    runtime: Runtime,
    seen: Seen,
    /// Of a model's channel, and of a trusted middleware's.
    connections: [Connection; 2],
}

/// A tool that keeps what it was called with.
fn telling(name: &str, schema: Value, seen: &Seen) -> AppTool {
    let seen = Arc::clone(seen);
    AppTool::new(name, "Tells what it was called with.", schema, move |call: AppCall| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some((call.caller.context.clone(), call.arguments));
        async { Ok(Answer::default()) }
    })
}

impl Connection {
    async fn open(host: &Host, channel: Channel) -> Self {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let (reader, writer) = split(theirs);
        let served = Served::new(Arc::new(host.clone()), Some(Arc::new(host.clone())));
        let rules = ContextRules { channel, ..ContextRules::local() };
        let info = ServerInfo::new("wharf", "0");
        tokio::spawn(serve_streams(reader, writer, served, rules, info, CancellationToken::new()));
        let (reader, requests) = split(ours);
        let mut connection = Self { lines: BufReader::new(reader), requests, last_id: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"},
        });
        connection.ask("initialize", hello).await;
        connection.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}").await;
        connection
    }

    async fn send(&mut self, line: &str) {
        self.requests.write_all(line.as_bytes()).await.expect("the connection stays open");
        self.requests.write_all(b"\n").await.expect("the connection stays open");
    }

    /// The answer to a request of this id, or to one of which nothing could be read; others
    /// and what is said unasked are passed over.
    async fn answer(&mut self, id: u64, read: bool) -> Value {
        loop {
            let mut line = String::new();
            let bytes = self.lines.read_line(&mut line).await.expect("the answer is UTF-8");
            assert!(bytes > 0, "the connection ended");
            let message: Value = serde_json::from_str(&line).expect("each line is a message");
            if message.get("method").is_none() && (message["id"] == id || (!read && message["id"].is_null())) {
                return message;
            }
        }
    }

    /// A request that is in order.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id, true).await
    }

    /// One that may nest too deeply to be read.
    async fn call(&mut self, params: &Map<String, Value>) -> Value {
        let id = self.request("tools/call", Value::Object(params.clone())).await;
        self.answer(id, false).await
    }

    async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.send(&request.to_string()).await;
        self.last_id
    }
}

impl Asking {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let seen = Seen::default();
        let connections = runtime.block_on(async {
            let host = Host::builder(Setup::bare().configuration()).open().await.expect("a host opens");
            let strict = json!({
                "type": "object", "required": ["text"], "additionalProperties": false,
                "properties": {"text": {"type": "string", "maxLength": 8}, "of": {"$ref": "#"}},
            });
            for tool in [telling("any", json!({"type": "object"}), &seen), telling("strict", strict, &seen)] {
                host.register_tool(tool).expect("a tool that is in order");
            }
            let open = Connection::open(&host, Channel::Open).await;
            [open, Connection::open(&host, Channel::TrustedMiddleware).await]
        });
        Self { runtime, seen, connections }
    }

    /// What a tool was called with, if one was.
    fn taken(&self) -> Option<(Context, Map<String, Value>)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls a tool with any parameters; checks the answer.
    fn call(&mut self, trusted: bool, params: &Map<String, Value>) {
        let Self { runtime, connections, .. } = self;
        let connection = &mut connections[usize::from(trusted)];
        let message = runtime.block_on(connection.call(params));
        assert_answered(&message);
        let taken = self.taken();
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return assert_eq!(taken, None, "a tool without a name");
        };
        let given = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(given)) => given.clone(),
            Some(_) => return assert_eq!(taken, None, "arguments that are no object"),
        };
        let meta = params.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default();
        match taken {
            Some((context, arguments)) => {
                assert!([ANY, STRICT].contains(&name), "{name:?} led to a tool");
                let mut left = given.clone();
                left.retain(|name, _| !FIELDS.contains(&name.as_str()));
                assert_eq!(arguments, left, "what arrives is all but the three fields");
                if name == STRICT {
                    let text = left.get("text").and_then(Value::as_str);
                    assert!(text.is_some_and(|text| text.chars().count() <= 8), "the schema was passed over: {left:?}");
                }
                assert_context(&context, trusted, &given, &meta);
            }
            // What takes anything was not called for a reason.
            None if name == ANY => {
                let refused = message.get("error").is_some() || message["result"]["isError"] == true;
                assert!(refused, "nobody was called, and {message} was answered");
            }
            None => {}
        }
    }

    /// A line of anything; the connection goes on all the same.
    fn line(&mut self, trusted: bool, line: &str) {
        let line: String = line.chars().filter(|character| *character != '\n').collect();
        let Self { runtime, connections, .. } = self;
        let connection = &mut connections[usize::from(trusted)];
        runtime.block_on(connection.send(&line));
        let message = runtime.block_on(connection.ask("ping", json!({})));
        assert!(message.get("error").is_none(), "{message}");
        let _ = self.taken();
    }
}

/// An answer of the protocol that blames its client alone.
fn assert_answered(message: &Value) {
    let told = message["error"]["message"].as_str().or_else(|| message["result"]["content"][0]["text"].as_str());
    let told = told.unwrap_or_default();
    assert!(is_visible(told), "{told:?}");
    assert!(!told.contains("the host failed in this call"), "the host panicked: {message}");
    assert_ne!(message["error"]["code"], -32_603, "an internal error: {message}");
}

/// Only the metadata, and on a trusted channel the three fields, say whose call it is.
fn assert_context(context: &Context, trusted: bool, given: &Map<String, Value>, meta: &Map<String, Value>) {
    let found = [
        Some(context.session.as_str()),
        context.assistant.as_ref().map(|id| id.as_str()),
        context.thread.as_ref().map(|id| id.as_str()),
    ];
    assert_eq!(context.tenant.as_str(), "local");
    let foreign = CLIENT_KEYS.iter().any(|key| meta.contains_key(*key));
    for ((found, field), key) in found.into_iter().zip(FIELDS).zip(OWN_KEYS) {
        let of_field = given.get(field).filter(|_| trusted);
        let said = of_field.or_else(|| meta.get(key));
        match said {
            Some(said) => assert_eq!(found, said.as_str(), "{field} is not who it was said to be"),
            // A known client's id, in the shape that ids have.
            None if foreign && field != FIELDS[1] => {}
            None => {
                let default = SessionId::default_session();
                let nobody = (field == FIELDS[0]).then(|| default.as_str());
                assert_eq!(found, nobody, "{field} was chosen by nobody who may");
            }
        }
    }
}

thread_local! {
    /// Opening a host takes longer than a thousand calls.
    static ASKING: RefCell<Option<Asking>> = const { RefCell::new(None) };
}

/// The first byte says on which channel and how; the rest is the parameters of a call, the
/// arguments of one, or a line of its own.
pub fn arguments(bytes: &[u8]) {
    let [kind, rest @ ..] = bytes else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let trusted = kind & 1 == 1;
    let parsed = serde_json::from_str::<Map<String, Value>>(text);
    ASKING.with_borrow_mut(|asking| {
        let asking = asking.get_or_insert_with(Asking::new);
        match (kind >> 1 & 3, parsed) {
            (0, Ok(params)) => asking.call(trusted, &params),
            (1, Ok(given)) => asking.call(trusted, &Map::from_iter([name(ANY), ("arguments".into(), given.into())])),
            (2, Ok(given)) => asking.call(trusted, &Map::from_iter([name(STRICT), ("arguments".into(), given.into())])),
            _ => asking.line(trusted, text),
        }
    });
}

fn name(name: &str) -> (String, Value) {
    ("name".into(), name.into())
}
