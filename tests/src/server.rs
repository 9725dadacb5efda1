//! The real binary as a server of HTTP, and a bare client of it.
//!
//! The client speaks HTTP/1.0, so that the end of an answer is the end of its
//! connection and nothing has to be taken apart.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Child,
    sync::{Arc, Mutex, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{AMPLE, Command, Data, Following, blocking, compiling::until_compiled, keep_log, program, start, wharf_of};

/// A server, its data directory and its address.
#[derive(Debug)]
pub struct Server {
    child: Child,
    log: Arc<Mutex<String>>,
    /// Where its data is.
    pub data: Data,
    /// Where it listens.
    pub address: SocketAddr,
    /// What it wants to be shown.
    pub token: String,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The rest.
    pub body: String,
}

impl Reply {
    /// The body, which is JSON.
    ///
    /// # Panics
    /// Where it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

/// What a client of the protocol says that it takes.
const MESSAGES: &str = "Accept: application/json, text/event-stream\r\n";

impl Reply {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (named, value) = line.split_once(": ")?;
            named.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The message of the protocol in it: the whole of it, or what its last event says.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn message(&self) -> Value {
        self.said().unwrap_or_else(|| panic!("no message: {self:?}"))
    }

    /// The same; nothing where there is none, as where the server ended in the middle of it.
    #[must_use]
    pub fn said(&self) -> Option<Value> {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(events.rev().find(|data| !data.is_empty()).unwrap_or(&self.body)).ok()
    }

    /// An answer as it came; nothing where that is none.
    #[must_use]
    pub fn of(answer: &str) -> Option<Self> {
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head: head.to_owned(), body: body.to_owned() })
    }
}

impl Server {
    /// Sends a message of the protocol, with further headers, and leaves its answer to be read.
    ///
    /// # Panics
    /// Where the server does not take it.
    #[must_use]
    pub fn say(&self, headers: &str, message: &Value) -> TcpStream {
        let mut stream = self.connect();
        // It may have refused it by its head alone.
        let _ = self.send_over(&mut stream, headers, message);
        stream
    }

    /// The same over a connection to a server that may have ended.
    ///
    /// # Errors
    /// Where the connection broke.
    pub fn send_over(&self, stream: &mut TcpStream, headers: &str, message: &Value) -> io::Result<()> {
        self.write(stream, "POST", "/mcp", "s", &format!("{MESSAGES}{headers}"), &message.to_string())
    }

    /// Begins a session of 2025-11-25: the header that names it, or why there is none.
    ///
    /// # Errors
    /// What the server answered instead.
    pub fn handshake(&self) -> Result<String, Reply> {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let reply = replied(self.say("", &hello));
        let Some(session) = reply.header("mcp-session-id") else { return Err(reply) };
        let session = format!("Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n");
        let said = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(replied(self.say(&session, &said)).status, 202);
        Ok(session)
    }

    /// Listens to what the server says unasked in a session.
    ///
    /// # Panics
    /// Where it does not let anybody listen.
    #[must_use]
    pub fn listen(&self, session: &str) -> TcpStream {
        self.send("GET", "/mcp", "s", &format!("{MESSAGES}{session}"), "")
    }

    /// Starts `wharf serve --http 127.0.0.1:0` on a directory that has a `wharf.toml`, with further arguments, and waits
    /// until every plugin is compiled.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start_in(data: Data, arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", data, arguments)
    }

    /// The same at another address.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start_at(address: &str, data: Data, arguments: &[&str]) -> Self {
        let command = Self::command_of(&program(), address, &data, arguments);
        Self::start_as(data, command)
    }

    /// The same as a command says that serves on this directory.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start_as(data: Data, command: Command) -> Self {
        let mut child = start(command);
        let (log, reading) = keep_log(child.stderr.take().expect("piped"));
        let mut reading = Some(reading);
        let address = blocking::until("it serves", || {
            let ended = child.try_wait().expect("a child");
            if ended.is_some() {
                // All that it has said.
                reading.take().map(std::thread::JoinHandle::join);
            }
            let said = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
            assert!(ended.is_none(), "it ended: {ended:?}: {said}");
            let address = said.split_once("url=\"http").and_then(|(_, rest)| rest.split_once('"'));
            let address = address.and_then(|(address, _)| address.split_once("://"));
            let address = address.map(|(_, address)| address.parse().expect("an address"));
            address.ok_or(said)
        });
        until_compiled(data.path());
        let token = std::fs::read_to_string(data.path().join("http-token")).expect("there is a token");
        Self { child, log, data, address, token: token.trim().to_owned() }
    }

    /// The command that such a server is.
    #[must_use]
    pub fn command(data: &Data, arguments: &[&str]) -> Command {
        Self::command_of(&program(), "127.0.0.1:0", data, arguments)
    }

    pub(crate) fn command_of(program: &Path, address: &str, data: &Data, arguments: &[&str]) -> Command {
        wharf_of(program, ["serve", "--http", address].iter().chain(arguments))
            .config(&data.path().join("wharf.toml"))
            .data(data.path())
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until it has logged this.
    ///
    /// # Panics
    /// Where it does not.
    pub fn until_logged(&self, words: &str) {
        blocking::until(format_args!("{words:?} is logged"), || {
            let log = self.log();
            if log.contains(words) { Ok(()) } else { Err(log) }
        });
    }

    /// A connection that gives up on an answer that does not come.
    ///
    /// # Panics
    /// Where nobody listens.
    #[must_use]
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(AMPLE)).expect("a timeout can be set");
        stream
    }

    /// The head of a request with the token, for a session.
    #[must_use]
    pub fn head(&self, version: &str, method: &str, path: &str, session: &str) -> String {
        format!(
            "{method} {path} {version}\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nWharf-Session: {session}\r\n",
            self.token
        )
    }

    /// Sends a request and leaves its answer to be read.
    ///
    /// # Panics
    /// Where the server does not take it.
    #[must_use]
    pub fn send(&self, method: &str, path: &str, session: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = self.connect();
        // It may have refused it by its head alone.
        let _ = self.write(&mut stream, method, path, session, headers, body);
        stream
    }

    fn write(
        &self,
        stream: &mut TcpStream,
        method: &str,
        path: &str,
        session: &str,
        headers: &str,
        body: &str,
    ) -> io::Result<()> {
        let head = self.head("HTTP/1.0", method, path, session);
        send(stream, &format!("{head}{headers}"), body)
    }

    /// Asks for a session and reads the whole answer.
    ///
    /// # Panics
    /// Where there is none.
    pub fn ask(&self, method: &str, path: &str, session: &str, body: Option<Value>) -> Reply {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        replied(self.send(method, path, session, "", &body))
    }

    /// Asks with another token than an agent's, on behalf of no session.
    ///
    /// # Panics
    /// Where there is no answer.
    pub fn ask_as(&self, token: &str, method: &str, path: &str, body: Option<Value>) -> Reply {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let mut stream = self.connect();
        let head = format!("{method} {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n");
        // It may have refused it by its head alone.
        let _ = send(&mut stream, &head, &body);
        replied(stream)
    }

    /// Follows a route of events.
    ///
    /// # Panics
    /// Where it is not followed.
    #[must_use]
    pub fn follow(&self, method: &str, path: &str, session: &str, body: &str) -> Following {
        Following::of(self.send(method, path, session, "Accept: text/event-stream\r\n", body))
    }

    /// Starts a shell for a session; the terminal's description.
    ///
    /// # Panics
    /// Where it is not started.
    pub fn shell(&self, session: &str) -> Value {
        let started = self.ask("POST", "/v1/terminals", session, Some(json!({})));
        assert_eq!(started.status, 201, "{started:?}");
        started.json()
    }

    /// The process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, as a service manager does.
    ///
    /// # Panics
    /// Where it cannot be asked.
    pub fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, Signal::TERM).expect("a child can be asked to end");
    }

    /// Waits until it has ended: its exit code.
    ///
    /// # Panics
    /// Where it does not end.
    #[must_use]
    pub fn ended(&mut self) -> Option<i32> {
        let status = blocking::until("it ends", || {
            let ended = self.child.try_wait().expect("a child can be waited for");
            ended.ok_or_else(|| self.log())
        });
        status.code()
    }

    /// Kills it as a crash would, and waits until it is gone.
    ///
    /// # Panics
    /// Where it cannot be killed.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended where the test was orderly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request of this head.
fn send(stream: &mut TcpStream, head: &str, body: &str) -> io::Result<()> {
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let request = format!("{head}{kind}Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes())
}

/// Reads an answer to its end.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn replied(mut stream: impl Read) -> Reply {
    let mut answer = Vec::new();
    // A server that refuses a body closes before it has read it all.
    let read = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    Reply::of(&answer).unwrap_or_else(|| panic!("no answer: {answer:?} ({read:?})"))
}

/// Whether a process with this in its arguments lives.
///
/// # Panics
/// Where there is no `/proc`.
#[must_use]
pub fn lives(mark: &str) -> bool {
    let marked = |entry: std::fs::DirEntry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    };
    std::fs::read_dir("/proc").expect("there is /proc").flatten().any(marked)
}
