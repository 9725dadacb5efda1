//! One program in a terminal of its own, from its start until nothing of it is
//! left, and another one in its place where that is asked for.
//!
//! Owns the session's task (`task`), which alone reads and writes the terminal
//! and ends the program; `typing` is what reaches the program, `inspect` what is
//! seen of it. Never knows of other sessions, of who may use one, nor when a turn
//! is over.

mod inspect;
mod restart;
mod task;
mod typing;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::{mpsc, watch};
use wharf_completion::detection::Nonce;
use wharf_spawn::Spawner;

use crate::{
    HistorySlice, InputRules, LineMode, PlacedMark, ScreenView, SessionPhase, SessionProgress, TerminalError,
    TerminalModes, TerminalRequest, TerminalSize, Turn, child, integration,
    shared_terminal::SharedTerminal,
    turn::{SessionTurns, TurnProgram},
};
use task::{RunningProgram, SessionOrder, SessionTask};

/// Orders that wait for the task; more wait where they are given.
const ORDERS: usize = 8;

/// A program in a terminal. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct TerminalSession {
    shared: Arc<SharedTerminal>,
    orders: mpsc::Sender<SessionOrder>,
    progress: watch::Receiver<SessionProgress>,
    /// Another one where the program was started again.
    pid: AtomicU32,
    rules: InputRules,
    turns: SessionTurns,
    /// Bytes typed since the last line was ended.
    typed_bytes: AtomicUsize,
}

impl TerminalSession {
    /// Starts a program. It runs when this returns.
    ///
    /// # Errors
    /// [`TerminalError::Start`] where it does not; then nothing of it is left.
    pub async fn start(spawner: &Spawner, request: TerminalRequest) -> Result<Self, TerminalError> {
        let (size, history, rules) = (request.size, request.history, request.rules.clone());
        let is_shell = request.is_shell();
        let (running, nonce) = run(spawner, request).await?;
        let pid = running.child.pid();
        let shared = Arc::new(SharedTerminal::new(Arc::clone(&running.pty), size, history));
        let (orders, received) = mpsc::channel(ORDERS);
        let (sender, progress) = watch::channel(SessionProgress::START);
        tokio::spawn(SessionTask::new(Arc::clone(&shared), sender).run(running, received));
        let turns = SessionTurns::new(TurnProgram { pid, is_shell }, nonce);
        let (pid, typed_bytes) = (AtomicU32::new(pid), AtomicUsize::new(0));
        Ok(Self { shared, orders, progress, pid, rules, turns, typed_bytes })
    }

    /// How far it has come. Waiting for a change costs nothing; the last state
    /// stays after the end.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<SessionProgress> {
        self.progress.clone()
    }

    /// The program's process id, as the host sees it. For people alone.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.load(Relaxed)
    }

    /// What came, as bytes, from a cursor on.
    #[must_use]
    pub fn raw(&self, from: u64, maximum_bytes: usize) -> HistorySlice<Vec<u8>> {
        self.shared.output().raw.bytes(from, maximum_bytes)
    }

    /// What came, as text without control sequences, from a cursor on.
    #[must_use]
    pub fn text(&self, from: u64, maximum_bytes: usize) -> HistorySlice<String> {
        self.shared.output().text.text(from, maximum_bytes)
    }

    /// What a person would see now.
    #[must_use]
    pub fn screen(&self) -> ScreenView {
        self.shared.output().screen.view()
    }

    /// The main screen with the lines that went off its top, the last of them.
    #[must_use]
    pub fn lines_with_scrollback(&self, maximum_lines: usize) -> Vec<String> {
        self.shared.output().screen.lines_with_scrollback(maximum_lines)
    }

    /// The rows that went off the top of the main screen, the last of them.
    #[must_use]
    pub fn scrollback_rows(&self, maximum_rows: usize) -> Vec<String> {
        self.shared.output().screen.scrollback_rows(maximum_rows)
    }

    /// The marks of shells from this number on, as far as they are kept.
    #[must_use]
    pub fn marks(&self, from: u64) -> Vec<PlacedMark> {
        self.shared.output().marks_from(from)
    }

    /// What the program has asked of its terminal.
    #[must_use]
    pub fn modes(&self) -> TerminalModes {
        self.shared.output().modes()
    }

    /// How the terminal takes what is typed now; nothing where it cannot be
    /// said.
    #[must_use]
    pub fn line_mode(&self) -> Option<LineMode> {
        self.shared.pty.line_mode().ok()
    }

    /// Whether the program itself is in the foreground, which for a shell means
    /// that no command is.
    #[must_use]
    pub fn is_in_foreground(&self) -> bool {
        self.shared.pty.foreground() == Some(self.pid())
    }

    /// The turn that runs, or the last one.
    #[must_use]
    pub fn turn(&self) -> Option<Turn> {
        self.turns.last()
    }

    fn is_closed(&self) -> bool {
        let progress = self.progress.borrow();
        progress.phase == SessionPhase::Closed || !progress.terminal_open
    }

    /// Changes the size. The program is told.
    ///
    /// # Errors
    /// [`TerminalError::System`] where the system refuses.
    pub fn resize(&self, size: TerminalSize) -> Result<(), TerminalError> {
        let mut output = self.shared.output();
        self.shared.pty.resize(size).map_err(TerminalError::system("resize a terminal"))?;
        output.resize(size);
        Ok(())
    }

    /// Ends the whole tree: politely, and what is left after `grace` by force.
    /// Returns once nothing of it is left; dropping the future does not take it
    /// back.
    pub async fn close(&self, grace: Duration) -> SessionProgress {
        let mut progress = self.progress.clone();
        // Where the task has ended, so has all else.
        let _ = self.orders.send(SessionOrder::Close { grace }).await;
        // An error says that the task has ended, so the progress is final.
        let _ = progress.wait_for(|progress| progress.finished).await;
        *progress.borrow()
    }
}

/// Starts a program in a new terminal, and says with which nonce it marks its
/// output, if it does.
async fn run(
    spawner: &Spawner,
    mut request: TerminalRequest,
) -> Result<(RunningProgram, Option<Nonce>), TerminalError> {
    let nonce = integration::integrate(&mut request).map_err(TerminalError::system("make a nonce for a shell"))?;
    let (pty, terminal) = request.pty.open(request.size).map_err(TerminalError::system("open a terminal"))?;
    let child = child::start(spawner, request, terminal).await;
    let child = child.map_err(|source| TerminalError::Start { source })?;
    Ok((RunningProgram { child: Arc::new(child), pty }, nonce))
}
