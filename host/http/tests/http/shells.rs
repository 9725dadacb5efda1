//! A service of terminals that runs real shells, on pipes: enough for what
//! routes do, and no more.

use std::{
    collections::BTreeMap,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Notify,
};
use wharf_completion::{
    Streams,
    detection::{Confidence, Decision, Reason, Verdict},
    stream::{Message, OpenStream, StreamWriter, Turns},
    terminals::{
        CancelTurn, PressKeys, ReadOutput, ResizeTerminal, StartTerminal, StartedTerminal, TerminalCursor,
        TerminalDescription, TerminalOutput, TerminalScreen, TerminalService, TerminalTurn, TerminalWatch, TurnRequest,
        WatchableTerminal,
    },
};
use wharf_core::{Code, Context, Error, StreamOwner, Token};

/// What ends the output of a command.
const MARK: char = '\u{1e}';

pub(crate) struct Shells {
    streams: Streams,
    shells: Mutex<BTreeMap<String, Arc<Shell>>>,
}

struct Shell {
    id: String,
    context: Context,
    writer: StreamWriter,
    child: tokio::sync::Mutex<Child>,
    stdin: tokio::sync::Mutex<ChildStdin>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    text: String,
    size: (u16, u16),
    pressed: Vec<String>,
    turn: u64,
    closed: bool,
}

impl Shells {
    pub(crate) fn new(streams: Streams) -> Self {
        Self { streams, shells: Mutex::default() }
    }

    fn find(&self, context: &Context, id: &str) -> Result<Arc<Shell>, Error> {
        let shells = self.shells.lock().expect("not poisoned");
        let found = shells.get(id).filter(|shell| shell.context == *context).cloned();
        found.ok_or_else(|| Error::new(Code::NotFound, "there is no such terminal"))
    }
}

impl Shell {
    fn described(&self) -> TerminalDescription {
        let state = self.state.lock().expect("not poisoned");
        TerminalDescription {
            terminal: self.id.clone(),
            stream: Some(self.writer.id()),
            command: "sh".into(),
            profile: "shell".into(),
            status: if state.closed { "closed" } else { "ready" }.into(),
            columns: state.size.0,
            rows: state.size.1,
            pid: None,
            started: "2026-01-01T00:00:00Z".into(),
            last_used: "2026-01-01T00:00:00Z".into(),
            ended: None,
            exit: None,
            restarts: 0,
            restarted_because: None,
            turn: None,
            text_bytes: state.text.len() as u64,
            raw_bytes: state.text.len() as u64,
            alternate_screen: false,
            recording: false,
        }
    }

    /// Tells what the shell prints, until it ends.
    async fn read(self: Arc<Self>, mut stdout: ChildStdout) {
        let (mut buffer, mut unread) = ([0; 4_096], String::new());
        while let Ok(length @ 1..) = stdout.read(&mut buffer).await {
            unread.push_str(std::str::from_utf8(&buffer[..length]).expect("ASCII"));
            while let Some((before, behind)) = unread.split_once(MARK) {
                let Some((code, behind)) = behind.split_once('\n') else { break };
                let (before, code, behind) = (before.to_owned(), code.parse().ok(), behind.to_owned());
                self.print(&before);
                let verdict =
                    Verdict { reason: Reason::CommandEnded { exit_code: code }, confidence: Confidence::Certain };
                let turn = self.state.lock().expect("not poisoned").turn;
                let _ = self.writer.end_turn(turn, &Decision { verdict: Some(verdict), ..Decision::default() });
                unread = behind;
            }
            if !unread.contains(MARK) {
                self.print(&std::mem::take(&mut unread));
            }
        }
        self.writer.close();
    }

    fn print(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let from = {
            let mut state = self.state.lock().expect("not poisoned");
            state.text.push_str(text);
            (state.text.len() - text.len()) as u64
        };
        let _ = self.writer.message(Message { text, cursors: Some((from, from + text.len() as u64)) });
        self.changed.notify_waiters();
    }
}

#[async_trait::async_trait]
impl TerminalService for Shells {
    async fn start(&self, context: &Context, request: StartTerminal) -> Result<StartedTerminal, Error> {
        if let Some(program) = request.program {
            return Err(Error::new(Code::Denied, format!("the program `{program}` is not granted")));
        }
        let open = OpenStream { title: "sh", turns: Turns::Told, held_by: Some("terminal") };
        let writer = self.streams.open(StreamOwner::host(context), open)?;
        let mut child = Command::new("sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Error::new(Code::Unavailable, error.to_string()))?;
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let size = (request.columns.unwrap_or(80), request.rows.unwrap_or(24));
        let shell = Arc::new(Shell {
            id: Token::generate().expect("randomness"),
            context: context.clone(),
            writer,
            child: child.into(),
            stdin: stdin.into(),
            state: Mutex::new(State { size, ..State::default() }),
            changed: Notify::new(),
        });
        tokio::spawn(Arc::clone(&shell).read(stdout));
        self.shells.lock().expect("not poisoned").insert(shell.id.clone(), Arc::clone(&shell));
        Ok(StartedTerminal { terminal: shell.described(), replaced: Vec::new() })
    }

    async fn list(&self, context: &Context) -> Result<Vec<TerminalDescription>, Error> {
        let shells = self.shells.lock().expect("not poisoned");
        Ok(shells.values().filter(|shell| shell.context == *context).map(|shell| shell.described()).collect())
    }

    async fn info(&self, context: &Context, id: &str) -> Result<TerminalDescription, Error> {
        Ok(self.find(context, id)?.described())
    }

    async fn turn(&self, context: &Context, id: &str, request: TurnRequest) -> Result<TerminalTurn, Error> {
        let shell = self.find(context, id)?;
        let text = request.text.ok_or_else(|| Error::new(Code::Invalid, "send `text` or `keys`"))?;
        let begun = shell.writer.begin_turn(None)?;
        shell.state.lock().expect("not poisoned").turn = begun.turn;
        let line = format!("{text}\nprintf '\\036%s\\n' $?\n");
        let mut stdin = shell.stdin.lock().await;
        stdin.write_all(line.as_bytes()).await.map_err(|_| Error::new(Code::Gone, "the shell has ended"))?;
        Ok(TerminalTurn { stream: shell.writer.id(), turn: begun.turn, first: begun.first })
    }

    async fn keys(&self, context: &Context, id: &str, request: PressKeys) -> Result<(), Error> {
        let shell = self.find(context, id)?;
        shell.state.lock().expect("not poisoned").pressed.extend(request.keys);
        Ok(())
    }

    async fn cancel(&self, context: &Context, id: &str, _: CancelTurn) -> Result<(), Error> {
        self.find(context, id)?.writer.cancel_turn()?;
        Ok(())
    }

    async fn resize(&self, context: &Context, id: &str, request: ResizeTerminal) -> Result<(), Error> {
        let shell = self.find(context, id)?;
        shell.state.lock().expect("not poisoned").size = (request.columns, request.rows);
        Ok(())
    }

    async fn watchable(&self, _: &Context) -> Vec<WatchableTerminal> {
        Vec::new()
    }

    async fn watch(&self, _: &Context, _: &str, _: Option<u64>) -> Result<Box<dyn TerminalWatch>, Error> {
        Err(Error::new(Code::NotFound, "nothing is watched here"))
    }

    async fn screen(&self, context: &Context, id: &str, history_lines: usize) -> Result<TerminalScreen, Error> {
        let shell = self.find(context, id)?;
        let state = shell.state.lock().expect("not poisoned");
        let (columns, rows) = state.size;
        let lines: Vec<String> = state.text.lines().map(str::to_owned).collect();
        let cursor = TerminalCursor { column: 0, row: 0, visible: true };
        let history = lines.iter().take(history_lines).cloned().collect();
        Ok(TerminalScreen { columns, rows, lines, cursor, alternate: false, history })
    }

    async fn output(&self, context: &Context, id: &str, request: ReadOutput) -> Result<TerminalOutput, Error> {
        let shell = self.find(context, id)?;
        let read = || {
            let state = shell.state.lock().expect("not poisoned");
            let from = usize::try_from(request.from).unwrap_or(usize::MAX).min(state.text.len());
            let content: String = state.text[from..].chars().take(request.maximum_bytes).collect();
            let next = (from + content.len()) as u64;
            let (from, closed) = (from as u64, state.closed);
            TerminalOutput { view: request.view, content, from, next, evicted_before: 0, closed }
        };
        let reading = async {
            loop {
                let changed = shell.changed.notified();
                let output = read();
                if !output.content.is_empty() || output.closed {
                    return output;
                }
                changed.await;
            }
        };
        Ok(tokio::time::timeout(request.patience, reading).await.unwrap_or_else(|_| read()))
    }

    async fn close(&self, context: &Context, id: &str, _: Duration) -> Result<TerminalDescription, Error> {
        let shell = self.find(context, id)?;
        shell.child.lock().await.kill().await.map_err(|error| Error::new(Code::Internal, error.to_string()))?;
        shell.state.lock().expect("not poisoned").closed = true;
        shell.writer.close();
        shell.changed.notify_waiters();
        Ok(shell.described())
    }
}
