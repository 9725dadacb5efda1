//! Two servers over standard input and output, driven by the same client.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    Setting,
    report::{Bar, Report, median, quantile},
};

const ROUNDS: usize = 5;
const IN_FLIGHT: usize = 64;

/// A server and the client's end of its streams.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        // A measured server has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().context("no standard output")?);
        Ok(Self { child, input, output, next_id: 1 })
    }

    /// `wharf serve --stdio` with the echo plugin.
    pub(crate) fn wharf(setting: &Setting, data: &Path) -> Result<Self> {
        let configuration = data.join("wharf.toml");
        let source = std::path::absolute(&setting.echo_component)?;
        std::fs::write(&configuration, format!("[plugin.echo]\nsource = {:?}\n", source.display().to_string()))?;
        let mut command = Command::new(&setting.wharf);
        command.args(["serve", "--stdio", "--config"]).arg(&configuration).arg("--data").arg(data);
        Self::start(command)
    }

    fn echo() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo-server");
        Self::start(command)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the server left");
        }
        Ok(line)
    }

    /// The answer to one request, notifications skipped.
    fn answer(&mut self, id: u64) -> Result<String> {
        loop {
            let line = self.line()?;
            let message: serde_json::Value = serde_json::from_str(&line)?;
            if message.get("id").and_then(serde_json::Value::as_u64) == Some(id) {
                if message.get("error").is_some() {
                    bail!("{line}");
                }
                return Ok(line);
            }
        }
    }

    /// The handshake of 2025-11-25, up to the first list of tools.
    pub(crate) fn open(&mut self) -> Result<()> {
        let opening = concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
            "\n"
        );
        self.input.write_all(opening.as_bytes())?;
        self.answer(0)?;
        let listing = concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "\n"
        );
        self.input.write_all(listing.as_bytes())?;
        let tools = self.answer(1)?;
        if !tools.contains("echo__echo") {
            bail!("the server has no echo: {tools}");
        }
        self.next_id = 2;
        Ok(())
    }

    fn request(&mut self, into: &mut Vec<u8>) {
        let id = self.next_id;
        self.next_id += 1;
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo__echo\",\
             \"arguments\":{{\"text\":\"hello\"}}}}}}\n"
        );
        into.extend_from_slice(request.as_bytes());
    }

    /// Median time of one call after another, in microseconds.
    fn latency(&mut self, calls: usize) -> Result<f64> {
        let mut samples = Vec::with_capacity(calls);
        let mut buffer = Vec::new();
        for _ in 0..calls {
            buffer.clear();
            self.request(&mut buffer);
            let start = Instant::now();
            self.input.write_all(&buffer)?;
            let answer = self.line()?;
            samples.push(start.elapsed().as_secs_f64() * 1e6);
            if !answer.contains("hello") {
                bail!("a wrong answer: {answer}");
            }
        }
        Ok(quantile(&mut samples, 0.5))
    }

    /// Calls a second with so many in flight.
    pub(crate) fn throughput(&mut self, calls: usize) -> Result<f64> {
        let start = Instant::now();
        let mut buffer = Vec::new();
        let (mut sent, mut received) = (0, 0);
        let mut read = vec![0; 1 << 20];
        while received < calls {
            buffer.clear();
            while sent < calls && sent - received < IN_FLIGHT {
                self.request(&mut buffer);
                sent += 1;
            }
            if !buffer.is_empty() {
                self.input.write_all(&buffer)?;
            }
            let count = self.output.read(&mut read)?;
            if count == 0 {
                bail!("the server left");
            }
            received += read[..count].iter().filter(|byte| **byte == b'\n').count();
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
        Ok(calls as f64 / start.elapsed().as_secs_f64())
    }
}

/// Waits for the code to be loaded: the first calls of a server are not what is
/// measured here.
pub(crate) fn opened(mut server: Server, warm_up: usize) -> Result<Server> {
    server.open()?;
    server.throughput(warm_up)?;
    Ok(server)
}

pub(crate) fn calls(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let warm_up = setting.calls(5_000);
    let mut wharf = opened(Server::wharf(setting, data.path())?, warm_up)?;
    let mut echo = opened(Server::echo()?, warm_up)?;
    let (mut latencies, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..setting.rounds(ROUNDS) {
        let calls = setting.calls(5_000);
        latencies.push([wharf.latency(calls)?, echo.latency(calls)?]);
        let calls = setting.calls(100_000);
        rates.push([wharf.throughput(calls)?, echo.throughput(calls)?]);
    }
    let ratio = |pairs: &[[f64; 2]]| median(pairs.iter().map(|pair| pair[0] / pair[1]).collect());
    let of = |pairs: &[[f64; 2]], side: usize| median(pairs.iter().map(|pair| pair[side]).collect());
    report.note(
        "stdio_latency",
        ratio(&latencies),
        Bar::AtMost(1.8),
        &format!("p50 {:.0} us, without Wasm {:.0} us", of(&latencies, 0), of(&latencies, 1)),
    );
    report.note(
        "stdio_throughput",
        ratio(&rates),
        Bar::AtLeast(0.45),
        &format!("{:.1}k calls/s, without Wasm {:.1}k", of(&rates, 0) / 1e3, of(&rates, 1) / 1e3),
    );
    Ok(())
}

/// Milliseconds from start to the first list of tools.
fn start_time(start: impl Fn() -> Result<Server>) -> Result<f64> {
    let began = Instant::now();
    let mut server = start()?;
    server.open()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

pub(crate) fn cold_start(setting: &Setting, report: &mut Report) -> Result<()> {
    let data = setting.data()?;
    let mut times = Vec::new();
    for round in 0..=setting.calls(50) {
        let wharf = start_time(|| Server::wharf(setting, data.path()))?;
        let echo = start_time(Server::echo)?;
        // The first start fills the cache.
        if round > 0 {
            times.push([wharf, echo]);
        }
    }
    let of = |side: usize| median(times.iter().map(|pair| pair[side]).collect());
    report.note(
        "cold_start",
        median(times.iter().map(|pair| pair[0] / pair[1]).collect()),
        Bar::AtMost(4.0),
        &format!("{:.2} ms, without Wasm {:.2} ms", of(0), of(1)),
    );
    Ok(())
}
