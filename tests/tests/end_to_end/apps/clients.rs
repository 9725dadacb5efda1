//! The app's tools as a client of the protocol sees them, over streams in
//! memory.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;
use wharf::{
    AppCall, AppTool, Channel, Code, ContextRules,
    mcp::{Served, ServerInfo, serve_streams},
};
use wharf_tests::{Fixture, Setup, in_time};

use super::{anything, reporting, saying};

const CHANGED: &str = "notifications/tools/list_changed";

/// A client of the older era where it has shaken hands, else of the newer.
struct Client {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    legacy: bool,
}

impl Client {
    fn connect(fixture: &Fixture, rules: ContextRules) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(far);
        let info = ServerInfo::new("app", "1");
        let served = Served::new(Arc::new(fixture.host.clone()), None);
        tokio::spawn(serve_streams(reader, writer, served, rules, info, CancellationToken::new()));
        let (reader, writer) = tokio::io::split(near);
        Self { writer, lines: BufReader::new(reader).lines(), legacy: false }
    }

    async fn legacy(fixture: &Fixture, rules: ContextRules) -> Self {
        let mut client = Self { legacy: true, ..Self::connect(fixture, rules) };
        let opened = client
            .ask(
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": {},
                                      "clientInfo": {"name": "test", "version": "1"}}),
            )
            .await;
        assert_eq!(opened["result"]["capabilities"]["tools"], json!({"listChanged": true}), "{opened}");
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("the host reads");
    }

    async fn start(&mut self, method: &str, mut params: Value) {
        if !self.legacy {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        self.send(json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params})).await;
    }

    async fn receive(&mut self) -> Value {
        let line = in_time("a line", self.lines.next_line()).await.expect("readable");
        serde_json::from_str(&line.expect("the host is there")).expect("JSON")
    }

    /// Asks; the next message has to be the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.start(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], method, "{answer}");
        answer
    }

    async fn listed(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_either_era_sees_tools_come_and_go() {
    let fixture = Setup::new().open().await;
    for legacy in [true, false] {
        let mut client = match legacy {
            true => Client::legacy(&fixture, ContextRules::local()).await,
            false => Client::connect(&fixture, ContextRules::local()),
        };
        let without = client.listed().await;
        if !legacy {
            client.start("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
            assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
        }
        let name = fixture.host.register_tool(saying("new", "hello")).expect("legal");
        assert_eq!(client.receive().await["method"], CHANGED);
        let with = client.listed().await;
        assert!(with.contains(&name) && with.len() == without.len() + 1, "{with:?}");
        let answer = client.ask("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
        assert!(fixture.host.unregister_tool(&name));
        assert_eq!(client.receive().await["method"], CHANGED);
        assert_eq!(client.listed().await, without);
        let answer = client.ask("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_does_not_choose_the_context_of_the_apps_tools() {
    let fixture = Setup::new().open().await;
    let name = fixture.host.register_tool(reporting("report")).expect("legal");
    let written = json!({"__sessionId": "written", "__threadId": "written", "x": {"__sessionId": "data"}});
    let call = json!({"name": name, "arguments": written, "_meta": {"com.example/key": 1}});
    let given = json!({"name": name, "arguments": written,
                       "_meta": {"dev.wharf/sessionId": "given", "dev.wharf/assistantId": "helper"}});

    let mut client = Client::legacy(&fixture, ContextRules::local()).await;
    let seen = client.ask("tools/call", call.clone()).await["result"]["structuredContent"].take();
    assert_eq!(seen["arguments"], json!({"x": {"__sessionId": "data"}}));
    assert_eq!((&seen["session"], &seen["thread"]), (&json!("default"), &Value::Null));
    // What the host says of the client is beside what the client says.
    assert_eq!((&seen["meta"], &seen["capabilities"]), (&json!({"com.example/key": 1}), &json!({})));
    let seen = client.ask("tools/call", given).await["result"]["structuredContent"].take();
    assert_eq!((&seen["session"], &seen["assistant"]), (&json!("given"), &json!("helper")));
    assert_eq!(seen["meta"], json!({}), "ids of the context are not for tools");

    let trusted = ContextRules { channel: Channel::TrustedMiddleware, ..ContextRules::local() };
    let mut middleware = Client::legacy(&fixture, trusted).await;
    let seen = middleware.ask("tools/call", call).await["result"]["structuredContent"].take();
    assert_eq!(seen["arguments"], json!({"x": {"__sessionId": "data"}}));
    assert_eq!((&seen["session"], &seen["thread"]), (&json!("written"), &json!("written")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_app_says_on_the_way_comes_before_its_answer_and_is_bounded() {
    let fixture = Setup::new().limit("events", 3).open().await;
    let talking = AppTool::new("talk", "Talks.", anything(), |call: AppCall| async move {
        let code = |told: Result<(), wharf::Error>| told.expect_err("refused").code;
        call.progress(1.0, Some(2.0), Some("a\u{1b}[2Jb\nc"))?;
        assert_eq!(code(call.progress(1.0, None, None)), Code::Invalid, "it has to grow");
        assert_eq!(code(call.progress(f64::NAN, None, None)), Code::Invalid);
        assert_eq!(code(call.message("info", json!("x".repeat(8_192)))), Code::Invalid);
        call.message("warn", json!({"kept": 1}))?;
        call.progress(2.0, None, None)?;
        assert_eq!(code(call.message("info", json!(1))), Code::Limit);
        assert_eq!(code(call.progress(3.0, None, None)), Code::Limit);
        Ok(super::says("said"))
    });
    let name = fixture.host.register_tool(talking).expect("legal");
    let mut client = Client::legacy(&fixture, ContextRules::local()).await;
    client.start("tools/call", json!({"name": name, "arguments": {}, "_meta": {"progressToken": 7}})).await;
    let progress = client.receive().await;
    assert_eq!(progress["params"], json!({"progressToken": 7, "progress": 1.0, "total": 2.0, "message": "a[2Jbc"}));
    let message = client.receive().await;
    assert_eq!((&message["params"]["level"], &message["params"]["data"]), (&json!("warning"), &json!({"kept": 1})));
    assert_eq!(client.receive().await["params"]["progress"], json!(2.0));
    let answer = client.receive().await;
    assert_eq!(answer["result"]["content"][0]["text"], "said", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_takes_a_call_of_the_apps_tools_back() {
    let fixture = Setup::new().open().await;
    let (tool, mut wait) = super::waiting("wait", "never");
    let name = fixture.host.register_tool(tool).expect("legal");
    let mut client = Client::legacy(&fixture, ContextRules::local()).await;
    client.start("tools/call", json!({"name": name, "arguments": {}})).await;
    wait.until("began").await;
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "tools/call"}}))
        .await;
    wait.until("dropped").await;
    fixture.load_is(0, 0).await;
}
