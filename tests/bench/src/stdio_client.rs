//! A server over standard input and output, and the client that drives every such server in
//! the same way. What is measured with it is elsewhere.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use wharf_test_support::blocking;

use crate::Setting;

/// Calls on their way at once, where nothing else is said.
pub(crate) const IN_FLIGHT: usize = 64;
/// Far longer than any server takes to have its tools.
const AMPLE: Duration = Duration::from_secs(300);

/// A server and the client's end of its streams. Ends with this.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// The parameters of a call of its tool that echoes, as JSON.
    echo: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // A measured server has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A list of tools, and how long it is on its way.
pub(crate) struct Listing {
    pub(crate) bytes: usize,
    pub(crate) tools: Vec<Value>,
}

impl Listing {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| tool["name"].as_str())
    }

    pub(crate) fn has_plugin(&self, plugin: &str) -> bool {
        self.names().any(|name| name.strip_prefix(plugin).is_some_and(|rest| rest.starts_with("__")))
    }

    /// The parameters of a call of a tool that echoes a text, whatever the server calls it.
    fn echo(&self) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool["name"].as_str().is_some_and(|name| name.contains("echo")))?;
        let argument = tool["inputSchema"]["properties"].as_object()?.keys().next()?.as_str();
        Some(json!({"name": tool["name"], "arguments": {argument: "hello"}}).to_string())
    }
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let input = Some(child.stdin.take().context("no standard input")?);
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().context("no standard output")?);
        Ok(Self { child, input, output, next_id: 0, echo: String::new() })
    }

    /// `wharf serve --stdio` with the echo plugin.
    pub(crate) fn wharf(setting: &Setting, data: &Path) -> Result<Self> {
        let configuration = data.join("wharf.toml");
        let source = std::path::absolute(&setting.echo_component)?;
        std::fs::write(&configuration, format!("[plugin.echo]\nsource = {:?}\n", source.display().to_string()))?;
        Self::wharf_with(setting, data, &["--config".as_ref(), configuration.as_os_str()])
    }

    /// `wharf serve --stdio` as it comes, with the bundled plugins that a profile has.
    pub(crate) fn bundled(setting: &Setting, data: &Path, profile: &str) -> Result<Self> {
        // Not the configuration of the person who measures.
        let configuration = data.join("wharf.toml");
        std::fs::write(&configuration, "")?;
        let profile = ["--profile".as_ref(), profile.as_ref(), "--config".as_ref(), configuration.as_os_str()];
        Self::wharf_with(setting, data, &profile)
    }

    fn wharf_with(setting: &Setting, data: &Path, arguments: &[&std::ffi::OsStr]) -> Result<Self> {
        let mut command = Command::new(&setting.wharf);
        Self::start({
            command.args(["serve", "--stdio"]).args(arguments).arg("--data").arg(data);
            command
        })
    }

    /// The server without Wasm, with the allocator of `wharf` and as many threads.
    pub(crate) fn echo() -> Result<Self> {
        Self::start(beside(YARDSTICK)?)
    }

    /// The same with code for bare wasmtime behind it.
    pub(crate) fn bare(code: &Path) -> Result<Self> {
        let mut command = beside(YARDSTICK)?;
        command.arg("--bare").arg(code);
        Self::start(command)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its input, as clients do, and waits for its end.
    pub(crate) fn leave(mut self) -> Result<()> {
        drop(self.input.take());
        self.child.wait()?;
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.input.as_mut().context("the input is closed")?.write_all(bytes)?)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the server left");
        }
        Ok(line)
    }

    /// Sends a request and waits for its answer; skips notifications. The answer, and its bytes.
    fn ask(&mut self, method: &str, parameters: &Value) -> Result<(Value, usize)> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        self.send(format!("{request}\n").as_bytes())?;
        loop {
            let line = self.line()?;
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"].as_u64() == Some(id) {
                ensure!(message["error"].is_null(), "{method}: {line}");
                return Ok((message["result"].take(), line.len()));
            }
        }
    }

    /// All pages of the list of tools.
    pub(crate) fn list(&mut self) -> Result<Listing> {
        let mut listing = Listing { bytes: 0, tools: Vec::new() };
        let mut parameters = json!({});
        loop {
            let (mut page, bytes) = self.ask("tools/list", &parameters)?;
            listing.bytes += bytes;
            if let Value::Array(tools) = page["tools"].take() {
                listing.tools.extend(tools);
            }
            match page["nextCursor"].take() {
                Value::Null => return Ok(listing),
                cursor => parameters = json!({"cursor": cursor}),
            }
        }
    }

    /// The handshake of 2025-11-25, up to the first list of tools.
    pub(crate) fn begin(&mut self) -> Result<Listing> {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        self.ask("initialize", &hello)?;
        let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(format!("{opened}\n").as_bytes())?;
        self.list()
    }

    /// The same, until it has a tool that echoes: a server may compile one meanwhile.
    pub(crate) fn open(&mut self) -> Result<()> {
        let (mut listing, began) = (self.begin()?, Instant::now());
        loop {
            if let Some(echo) = listing.echo() {
                self.echo = echo;
                return Ok(());
            }
            ensure!(began.elapsed() < AMPLE, "the server has no echo: {:?}", listing.names().collect::<Vec<_>>());
            blocking::let_time_pass(Duration::from_millis(5), "a plugin is compiled");
            listing = self.list()?;
        }
    }

    /// Calls a tool, which is to succeed, in a session if it is named.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value, session: Option<&str>) -> Result<Value> {
        let mut parameters = json!({"name": tool, "arguments": arguments});
        if let Some(session) = session {
            parameters["_meta"] = json!({"dev.wharf/sessionId": session});
        }
        let (answer, _) = self.ask("tools/call", &parameters)?;
        ensure!(answer["isError"] != true, "{tool}: {answer}");
        Ok(answer)
    }

    fn echo_request(&mut self, into: &mut Vec<u8>) {
        let id = self.next_id;
        self.next_id += 1;
        let request =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{}}}\n", self.echo);
        into.extend_from_slice(request.as_bytes());
    }

    /// Times of one call after another, in microseconds.
    pub(crate) fn latencies(&mut self, calls: usize) -> Result<Vec<f64>> {
        let mut samples = Vec::with_capacity(calls);
        let mut buffer = Vec::new();
        for _ in 0..calls {
            buffer.clear();
            self.echo_request(&mut buffer);
            let start = Instant::now();
            self.send(&buffer)?;
            let answer = self.line()?;
            samples.push(start.elapsed().as_secs_f64() * 1e6);
            if !answer.contains("hello") {
                bail!("a wrong answer: {answer}");
            }
        }
        Ok(samples)
    }

    /// Calls a second with so many in flight.
    pub(crate) fn throughput(&mut self, calls: usize, in_flight: usize) -> Result<f64> {
        let start = Instant::now();
        let mut buffer = Vec::new();
        let (mut sent, mut answers) = (0, Answers::default());
        let mut read = vec![0; 1 << 20];
        while answers.received < calls {
            buffer.clear();
            while sent < calls && sent - answers.received < in_flight {
                self.echo_request(&mut buffer);
                sent += 1;
            }
            if !buffer.is_empty() {
                self.send(&buffer)?;
            }
            let count = self.output.read(&mut read)?;
            if count == 0 {
                bail!("the server left");
            }
            answers.take(&read[..count]);
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
        Ok(calls as f64 / start.elapsed().as_secs_f64())
    }
}

/// Counts the answers among the lines of a server, which may tell news between them.
#[derive(Default)]
struct Answers {
    received: usize,
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
}

impl Answers {
    fn take(&mut self, mut read: &[u8]) {
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&read[..end]);
            // A request or a notification says what it asks or tells; an answer does not.
            self.received += usize::from(!self.begun.windows(9).any(|part| part == b"\"method\":"));
            self.begun.clear();
            read = &read[end + 1..];
        }
        self.begun.extend_from_slice(read);
    }
}

/// The program of the yardsticks, with the allocator of `wharf`.
pub(crate) const YARDSTICK: &str = "wharf-echo-server";

/// A program of this crate, built beside this one.
pub(crate) fn beside(name: &str) -> Result<Command> {
    Ok(Command::new(std::env::current_exe()?.with_file_name(name)))
}

/// Waits for the code to be loaded: the first calls of a server are not what is
/// measured here.
pub(crate) fn opened(mut server: Server, warm_up: usize) -> Result<Server> {
    server.open()?;
    server.throughput(warm_up, IN_FLIGHT)?;
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_between_answers_are_none_however_they_are_cut() {
        let news = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
        let answer = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n";
        let lines = [answer.as_slice(), news, answer].concat();
        for cut in 0..=lines.len() {
            let mut answers = Answers::default();
            answers.take(&lines[..cut]);
            answers.take(&lines[cut..]);
            assert_eq!(answers.received, 2, "cut at {cut}");
        }
    }
}
