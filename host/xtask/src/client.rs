//! A small MCP client: JSON-RPC, one message a line, over the pipes of a child.
//!
//! Knows the protocol (revision 2025-11-25) as far as the demo needs it, and
//! nothing of Wharf: any MCP server on standard input and output will do.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// The revision that most clients still open with.
pub(crate) const PROTOCOL: &str = "2025-11-25";

/// The first answer may wait for a component to be compiled.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a running server.
pub(crate) struct Client {
    server: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
}

/// On whose behalf a call is made: what an agent app knows and a model does not
/// choose.
#[derive(Clone, Copy)]
pub(crate) struct Conversation {
    pub(crate) session: &'static str,
    pub(crate) assistant: &'static str,
    pub(crate) thread: &'static str,
}

/// What a tool answered.
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) text: String,
    /// What it answered for programs; null where there is none.
    pub(crate) structured: Value,
    /// Its pictures, as they are drawn.
    pub(crate) pictures: Vec<Vec<u8>>,
}

impl Client {
    /// Starts a server and shakes hands; returns what it says about itself.
    pub(crate) fn start(command: &mut Command) -> Result<(Self, Value)> {
        let mut server =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start the server")?;
        let requests = server.stdin.take().context("the server has no input")?;
        let output = server.stdout.take().context("the server has no output")?;
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str(&line) else { continue };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Self { server, requests, messages, last_id: 0 };
        let hello = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": "wharf-demo", "version": env!("CARGO_PKG_VERSION") },
        });
        let server = client.request("initialize", &hello)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok((client, server))
    }

    /// Sends a request and waits for its answer; an error of the protocol is an
    /// error here.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut message = self
                .messages
                .recv_timeout(PATIENCE)
                .with_context(|| format!("the server gave no answer to {method} (its log is in target/demo)"))?;
            // Notifications, and requests of the server's own, are not for us.
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {}", error["message"].as_str().unwrap_or("an error without a message"));
            }
            return Ok(message["result"].take());
        }
    }

    /// Calls a tool for a conversation.
    pub(crate) fn call(&mut self, conversation: Conversation, tool: &str, arguments: &Value) -> Result<Answer> {
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "dev.wharf/sessionId": conversation.session,
                "dev.wharf/assistantId": conversation.assistant,
                "dev.wharf/threadId": conversation.thread,
            },
        });
        let mut result = self.request("tools/call", &params)?;
        let blocks = result["content"].as_array().into_iter().flatten();
        let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        let blocks = result["content"].as_array().into_iter().flatten();
        let pictures = blocks.filter(|block| block["type"] == "image").filter_map(|block| block["data"].as_str());
        let pictures =
            pictures.map(|data| STANDARD.decode(data).context("a picture is base64")).collect::<Result<_>>()?;
        let structured = result["structuredContent"].take();
        Ok(Answer { is_error: result["isError"].as_bool().unwrap_or(false), text, structured, pictures })
    }

    /// Ends the server without a warning, as a crash or a power cut would.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.server.kill().context("cannot end the server")?;
        self.server.wait().context("the server does not end").map(drop)
    }

    /// Closes the connection; a server ends by itself then.
    pub(crate) fn close(self) -> Result<()> {
        let Self { mut server, requests, .. } = self;
        drop(requests);
        let status = server.wait()?;
        if !status.success() {
            bail!("the server ended badly ({status})");
        }
        Ok(())
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.requests.write_all(line.as_bytes()).context("the server closed its input")
    }
}
