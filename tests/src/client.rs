//! A bare MCP client over standard streams. It keeps every line that the server
//! wrote, so that a test can judge the stream itself.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::JoinHandle,
    time::Instant,
};

use serde_json::{Value, json};

use crate::{AMPLE, Command, compiling::until_compiled, keep_log, soon, start};

/// Ids of one caller among several.
const CALLER: u64 = 1_000_000;

/// A started server and the client's end of it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Every line of standard output, in order.
    pub seen: Vec<String>,
    answers: HashMap<u64, Value>,
    log: Arc<Mutex<String>>,
    log_reader: Option<JoinHandle<()>>,
    next: u64,
}

impl Client {
    /// Starts `wharf serve --stdio`, shakes hands, and waits until every plugin is compiled.
    ///
    /// # Panics
    /// Where the server does not answer.
    #[must_use]
    pub fn connect(command: Command) -> Self {
        let data = command.data_directory();
        let client = Self::connect_at_once(command);
        if let Some(data) = data {
            until_compiled(&data);
        }
        client
    }

    /// The same without that wait, as any client does it.
    ///
    /// # Panics
    /// Where the server does not answer.
    #[must_use]
    pub fn connect_at_once(command: Command) -> Self {
        Self::connect_as(command, &json!({}))
    }

    /// The same of a client that can do this.
    ///
    /// # Panics
    /// Where the server does not answer.
    #[must_use]
    pub fn connect_as(command: Command, capabilities: &Value) -> Self {
        let mut child = start(command);
        let output = child.stdout.take().expect("piped");
        let (log, log_reader) = keep_log(child.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Self {
            child,
            input,
            lines,
            seen: Vec::new(),
            answers: HashMap::new(),
            log,
            log_reader: Some(log_reader),
            next: 0,
        };
        let opened = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert!(opened["result"]["serverInfo"]["name"].is_string(), "{opened}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message.
    ///
    /// # Panics
    /// Where the server has gone.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    /// Sends one line, whatever it is.
    ///
    /// # Panics
    /// Where the server has gone.
    pub fn send_raw(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the stream is open");
        input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends a request and returns its id.
    pub fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        // Far from the numbers that a forger would guess.
        self.next += 1;
        self.ask_with(7_000 + self.next, method, parameters)
    }

    /// The same with an id that says which of several callers it is of, to be
    /// read by [`Client::caller_of`].
    pub fn ask_as(&mut self, caller: usize, method: &str, parameters: Value) -> u64 {
        self.next += 1;
        self.ask_with((caller as u64 + 1) * CALLER + self.next, method, parameters)
    }

    fn ask_with(&mut self, id: u64, method: &str, parameters: Value) -> u64 {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    /// Waits for the answer of this id; others are kept for later.
    ///
    /// # Panics
    /// Where none comes, or a line is no JSON.
    pub fn answer(&mut self, id: u64) -> Value {
        let until = soon();
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no answer to {id}; the log ends with:\n{}", tail(&self.log()));
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"));
            self.seen.push(line);
            if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
                self.answers.insert(id, message);
            }
        }
    }

    /// Which caller asked what this answers; none where [`Client::ask`] did.
    #[must_use]
    pub fn caller_of(answer: &Value) -> Option<usize> {
        let caller = (answer["id"].as_u64()? / CALLER).checked_sub(1)?;
        usize::try_from(caller).ok()
    }

    /// Waits for any answer; none where none comes by `until`.
    ///
    /// # Panics
    /// Where the server ended, or a line is no JSON.
    pub fn next_answer(&mut self, until: Instant) -> Option<Value> {
        loop {
            let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => panic!("the server ended:\n{}", tail(&self.log())),
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"));
            if message["id"].is_u64() && message.get("method").is_none() {
                return Some(message);
            }
        }
    }

    /// Waits for the next notification of this method; answers are kept for later.
    ///
    /// # Panics
    /// Where none comes, or a line is no JSON.
    pub fn notification(&mut self, method: &str) -> Value {
        let until = soon();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no {method}; the log ends with:\n{}", tail(&self.log()));
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"));
            self.seen.push(line);
            if message["method"] == method {
                return message;
            }
            if let Some(id) = message["id"].as_u64().filter(|_| message.get("method").is_none()) {
                self.answers.insert(id, message);
            }
        }
    }

    /// Asks and waits.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.ask(method, parameters);
        self.answer(id)
    }

    /// Calls a tool with a `_meta`; the `result` of the answer.
    ///
    /// # Panics
    /// Where the answer is a protocol error.
    pub fn call(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        let mut answer = self.request("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// What the server logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Kills the server as a crash would, waits until it is gone, and returns
    /// the answers that it had still given.
    ///
    /// # Panics
    /// Where it cannot be killed.
    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
        // The last line may be cut, and is no answer then.
        let messages = self.lines.iter().filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        messages.filter(|message| message["id"].is_u64() && message.get("method").is_none()).collect()
    }

    /// Leaves, and returns every line that the server wrote, its whole log and
    /// its exit code.
    ///
    /// # Panics
    /// Where the server does not end.
    #[must_use]
    pub fn leave(mut self) -> (Vec<String>, String, Option<i32>) {
        drop(self.input.take());
        let mut seen = std::mem::take(&mut self.seen);
        // The stream ends when the process does.
        while let Ok(line) = self.lines.recv_timeout(AMPLE) {
            seen.push(line);
        }
        let status = self.child.wait().expect("a child ends");
        if let Some(reader) = self.log_reader.take() {
            reader.join().expect("the log is read");
        }
        (seen, self.log(), status.code())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Already ended where the test was orderly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tail(log: &str) -> &str {
    let mut start = log.len().saturating_sub(2_000);
    while !log.is_char_boundary(start) {
        start += 1;
    }
    &log[start..]
}
