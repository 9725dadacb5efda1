//! A server over HTTP, and the client that drives every such server over the same number of
//! connections. What is measured with it is elsewhere.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    runtime::Runtime,
    task::JoinHandle,
};
use wharf_test_support::until;

use crate::{
    Setting,
    stdio_client::{YARDSTICK, beside},
};

/// What an answer may have at most; those of an echo have a few hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// A server that listens on a port of the loopback. Ends with this.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // A measured server has nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// `wharf serve --http` with the echo plugin.
    pub(crate) fn wharf(setting: &Setting, data: &Path) -> Result<Self> {
        Self::wharf_with(setting, data, "", &[])
    }

    /// The same with more tables and arguments.
    pub(crate) fn wharf_with(setting: &Setting, data: &Path, tables: &str, arguments: &[&str]) -> Result<Self> {
        let configuration = data.join("wharf.toml");
        let source = std::path::absolute(&setting.echo_component)?;
        // As fast as it can, with one token.
        let limits = "[http.limits]\nrequests_per_second = 1000000";
        let text = format!("{limits}\n[plugin.echo]\nsource = {:?}\n{tables}", source.display().to_string());
        std::fs::write(&configuration, text)?;
        let mut command = Command::new(&setting.wharf);
        command.args(["serve", "--http", "127.0.0.1:0", "--config"]).arg(&configuration).arg("--data").arg(data);
        command.args(arguments);
        let mut server = Self::start(command)?;
        server.token = std::fs::read_to_string(data.join("http-token"))?.trim().to_owned();
        Ok(server)
    }

    /// Ends it as a crash would, while others still call it.
    pub(crate) fn crash(&self) -> Result<()> {
        let process = i32::try_from(self.id()).ok().and_then(Pid::from_raw).context("a process")?;
        Ok(kill_process(process, Signal::KILL)?)
    }

    /// Ends it as a crash would, and waits until it is gone.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// The server without Wasm, which asks for no token and is shown one all the same, as
    /// it comes: with the system's allocator.
    pub(crate) fn echo_with_system_allocator() -> Result<Self> {
        Self::start(beside("wharf-echo-server-system")?)
    }

    /// The same with the allocator of `wharf`.
    pub(crate) fn echo() -> Result<Self> {
        let mut command = beside(YARDSTICK)?;
        command.arg("--http");
        Self::start(command)
    }

    /// Waits until it has said where it listens.
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let mut said = BufReader::new(child.stderr.take().context("no standard error")?);
        let mut server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), token: "0".repeat(43) };
        let mut line = String::new();
        server.address = loop {
            line.clear();
            ensure!(said.read_line(&mut line)? > 0, "the server left before it listened");
            let address = line.split_once("url=\"http://").and_then(|(_, rest)| rest.split_once('"'));
            if let Some((address, _)) = address {
                break address.parse()?;
            }
        };
        // Output that nobody reads would block the server in the end.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Ok(server)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A request, ready to be sent.
    fn request(&self, headers: &str, message: &Value) -> Vec<u8> {
        let body = message.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }

    /// A call as clients of 2026-07-28 make it: each request stands for itself.
    pub(crate) fn call(&self, tool: &str, id: usize) -> Vec<u8> {
        self.call_with(tool, &json!({"text": "hello"}), id, None)
    }

    /// The same in a session.
    pub(crate) fn call_in(&self, session: &str, tool: &str, id: usize) -> Vec<u8> {
        self.call_with(tool, &json!({"text": "hello"}), id, Some(session))
    }

    /// The same with other arguments, in a session or none.
    pub(crate) fn call_with(&self, tool: &str, arguments: &Value, id: usize, session: Option<&str>) -> Vec<u8> {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        });
        if let Some(session) = session {
            meta["dev.wharf/sessionId"] = session.into();
        }
        let parameters = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters});
        let headers = format!("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
        self.request(&headers, &message)
    }

    /// A connection that follows what is at a path, with this token.
    pub(crate) async fn following(&self, path: &str, token: &str, headers: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n{headers}\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).await?;
        Ok(stream)
    }

    /// A call as clients of 2025-11-25 make it, in the session that `headers` name.
    pub(crate) fn older_call(&self, headers: &str, id: usize) -> Vec<u8> {
        let parameters = json!({"name": "echo__echo", "arguments": {"text": "hello"}});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters});
        self.request(headers, &message)
    }

    /// The handshake of 2025-11-25: the headers of what follows. A server without sessions
    /// names none.
    pub(crate) async fn open(&self) -> Result<String> {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let mut connection = Connection::open(self.address).await?;
        let head = connection.ask(&self.request("", &hello), 200).await?.0;
        let session = head.lines().find_map(|line| {
            line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id")).map(|(_, id)| id)
        });
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let headers = format!("{session}Mcp-Protocol-Version: 2025-11-25\r\n");
        let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        connection.ask(&self.request(&headers, &opened), 202).await?;
        Ok(headers)
    }
}

/// A connection that is kept between requests.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub(crate) async fn to(server: &Server) -> Result<Self> {
        Self::open(server.address).await
    }

    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(4096) })
    }

    /// Sends a call that is to be answered by what it says.
    pub(crate) async fn echo(&mut self, call: &[u8]) -> Result<()> {
        let (_, body) = self.ask(call, 200).await?;
        let echoed = body.windows(7).any(|bytes| bytes == b"\"hello\"");
        ensure!(echoed, "a wrong answer: {}", String::from_utf8_lossy(body));
        Ok(())
    }

    /// Sends a request and reads the whole answer: its head and its body.
    pub(crate) async fn ask(&mut self, request: &[u8], status: u16) -> Result<(String, &[u8])> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let (body, end) = loop {
            ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the server closed the connection");
            ensure!(self.read.len() < MAX_ANSWER_BYTES, "an answer without an end");
            if let Some(found) = body(&self.read)? {
                break found;
            }
        };
        let head = std::str::from_utf8(&self.read[..body])?;
        ensure!(head.split(' ').nth(1) == Some(status.to_string().as_str()), "{}", String::from_utf8_lossy(&self.read));
        Ok((head.to_owned(), &self.read[body..end]))
    }
}

/// A session of 2025-11-25 that listens to what its server says unasked.
pub(crate) struct Listening {
    changes: Arc<AtomicU64>,
    hearing: JoinHandle<Result<()>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.hearing.abort();
    }
}

impl Listening {
    pub(crate) async fn begin(server: &Server) -> Result<Self> {
        let headers = server.open().await?;
        let stream = server.following("/mcp", &server.token, &headers).await?;
        let changes = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&changes);
        let hearing = tokio::spawn(async move {
            let mut lines = tokio::io::BufReader::new(stream).lines();
            while let Some(line) = lines.next_line().await? {
                if line.contains("notifications/tools/list_changed") {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
            bail!("the server ended the session")
        });
        Ok(Self { changes, hearing })
    }

    /// How often it was told that the list of tools has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Waits until it was told so often, and fails where it was told more often.
    pub(crate) async fn until(&self, times: u64) -> Result<()> {
        until(format_args!("it is told {times} times that tools have changed"), || {
            let changes = self.changes();
            if changes >= times { Ok(()) } else { Err(changes) }
        })
        .await;
        ensure!(self.changes() == times, "told {} times that tools have changed, not {times}", self.changes());
        Ok(())
    }
}

/// Where the body of an answer begins and ends, once all of it is there.
fn body(read: &[u8]) -> Result<Option<(usize, usize)>> {
    let Some(begin) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(None) };
    let begin = begin + 4;
    for line in std::str::from_utf8(&read[..begin])?.lines() {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            let end = begin + value.parse::<usize>()?;
            return Ok((read.len() >= end).then_some((begin, end)));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(read.ends_with(b"0\r\n\r\n").then_some((begin, read.len())));
        }
    }
    Ok(Some((begin, read.len())))
}

/// Calls, ready to be sent, and connections to send them on.
pub(crate) struct Load {
    address: SocketAddr,
    connections: Vec<Connection>,
    calls: Vec<Vec<u8>>,
    /// How long the longest call of all rates took.
    pub(crate) slowest: Duration,
}

impl Load {
    pub(crate) async fn new(server: &Server, count: usize, call: impl Fn(usize) -> Vec<u8>) -> Result<Self> {
        let calls = (1..=count).map(call).collect();
        let mut load = Self { address: server.address, connections: Vec::new(), calls, slowest: Duration::ZERO };
        load.open().await?;
        Ok(load)
    }

    /// New connections: a server closes those on which nothing was said for a while.
    async fn open(&mut self) -> Result<()> {
        self.connections.clear();
        for _ in &self.calls {
            self.connections.push(Connection::open(self.address).await?);
        }
        Ok(())
    }

    /// Times of one call after another on the first connection, in microseconds.
    pub(crate) async fn latencies(&mut self, calls: usize) -> Result<Vec<f64>> {
        self.open().await?;
        let first = self.connections.first_mut().zip(self.calls.first());
        let (connection, call) = first.context("nothing to call")?;
        let mut samples = Vec::with_capacity(calls);
        for _ in 0..calls {
            let began = Instant::now();
            connection.echo(call).await?;
            samples.push(began.elapsed().as_secs_f64() * 1e6);
        }
        Ok(samples)
    }

    /// Calls on all connections until it is over; how many were answered.
    pub(crate) async fn until(self, over: Arc<AtomicBool>) -> Result<u64> {
        let answered = Arc::new(AtomicU64::new(0));
        let callers: Vec<_> = self
            .connections
            .into_iter()
            .zip(self.calls)
            .map(|(mut connection, call)| {
                let (over, answered) = (Arc::clone(&over), Arc::clone(&answered));
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        connection.echo(&call).await?;
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for caller in callers {
            caller.await??;
        }
        Ok(answered.load(Ordering::Relaxed))
    }

    /// Calls a second, one on its way on each connection.
    pub(crate) async fn rate(&mut self, calls: usize) -> Result<f64> {
        let each = calls.div_ceil(self.calls.len().max(1));
        self.open().await?;
        let began = Instant::now();
        let connections = std::mem::take(&mut self.connections);
        let callers: Vec<_> = connections
            .into_iter()
            .zip(&self.calls)
            .map(|(mut connection, call)| {
                let call = call.clone();
                tokio::spawn(async move {
                    let mut slowest = Duration::ZERO;
                    for _ in 0..each {
                        let began = Instant::now();
                        connection.echo(&call).await?;
                        slowest = slowest.max(began.elapsed());
                    }
                    anyhow::Ok(slowest)
                })
            })
            .collect();
        for caller in callers {
            self.slowest = self.slowest.max(caller.await??);
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
        Ok((each * self.calls.len()) as f64 / began.elapsed().as_secs_f64())
    }
}

/// One client on one thread, so that it takes as little as it can of what both servers need.
pub(crate) fn client() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
