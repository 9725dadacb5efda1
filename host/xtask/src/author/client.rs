//! A client of a host that is a child of this program, over standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// How long a host may say nothing that is waited for: a component of Python is compiled meanwhile.
const PATIENCE: Duration = Duration::from_secs(300);

/// The client, and the host that it speaks to.
pub(super) struct Client {
    server: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Its log. It is read as it is written, or a full pipe would hold the host up.
    log: Receiver<String>,
    last: u64,
}

impl Client {
    pub(super) fn start(host: &mut Command) -> Result<Self> {
        let mut server = host.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (requests, answers, log) = (server.stdin.take(), server.stdout.take(), server.stderr.take());
        let (Some(requests), Some(answers), Some(log)) = (requests, answers, log) else { bail!("there are no pipes") };
        let (told, heard) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                // The pipe is emptied to its end, though nobody listens any more.
                let _ = told.send(line);
            }
        });
        let mut client = Self { server, requests, answers: BufReader::new(answers), log: heard, last: 0 };
        let client_info = json!({ "name": "author", "version": "1" });
        client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.requests, "{message}")?;
        Ok(self.requests.flush()?)
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        ensure!(self.answers.read_line(&mut line)? > 0, "the host ended");
        Ok(serde_json::from_str(&line)?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }))?;
        loop {
            let mut message = self.read()?;
            if message["id"] == self.last {
                return Ok(message["result"].take());
            }
        }
    }

    /// Waits for news of the tools until one of this name is described so.
    pub(super) fn until_described(&mut self, name: &str, words: &str) -> Result<()> {
        loop {
            let listed = self.ask("tools/list", &json!({}))?;
            let mut tools = listed["tools"].as_array().into_iter().flatten();
            let tool = tools.find(|tool| tool["name"] == name);
            if tool.is_some_and(|tool| tool["description"].as_str().is_some_and(|text| text.contains(words))) {
                return Ok(());
            }
            while self.read()?["method"] != "notifications/tools/list_changed" {}
        }
    }

    pub(super) fn until_logged(&mut self, words: &str) -> Result<()> {
        loop {
            let line = self.log.recv_timeout(PATIENCE).with_context(|| format!("the host did not say {words:?}"))?;
            if line.contains(words) {
                return Ok(());
            }
        }
    }

    /// Calls a tool: the text of its answer. A failure says why.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Result<String, String>> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Ok(if answer["isError"] == true { Err(text) } else { Ok(text) })
    }

    /// Calls a tool, whose answer is to be this.
    pub(super) fn expect(&mut self, tool: &str, arguments: &Value, expected: &str) -> Result<()> {
        let answer = self.call(tool, arguments)?;
        ensure!(answer.as_ref().is_ok_and(|text| text.contains(expected)), "{tool} answers {answer:?}, not {expected}");
        Ok(())
    }

    pub(super) fn end(self) -> Result<()> {
        let Self { mut server, requests, .. } = self;
        drop(requests);
        let status = server.wait()?;
        ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }
}
