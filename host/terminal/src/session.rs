//! One program in a terminal of its own, from its start until nothing of it is
//! left, and another one in its place where that is asked for.
//!
//! Knows nothing of other sessions, of who may use one, and of turns.

mod again;
mod current;
mod follow;
mod look;
mod output;
mod request;
mod state;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};
use wharf_completion::detection::Nonce;
use wharf_spawn::Spawner;

use self::{
    current::CurrentPty,
    follow::{RunningProgram, SessionOrder, SessionTask},
};
use crate::{
    HistorySlice, InputRules, Key, LineMode, ScreenView, TerminalError, TerminalModes, TerminalSize, Turn, TurnInput,
    TurnOptions, UnknownKey, child,
    input::InputLine,
    integration, keys,
    turn::{SessionTurns, TurnProgram},
};

pub use output::MAX_MARKS;
pub(crate) use output::ProgramOutput;
pub use request::{HistoryLimits, TerminalRequest};
pub use state::{KilledBy, PlacedMark, ProgramExit, SessionPhase, SessionProgress};

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

/// What the session and its task look at.
#[derive(Debug)]
pub(crate) struct SharedTerminal {
    pub(crate) pty: CurrentPty,
    /// Held to take a chunk or to read, never across an await.
    output: Mutex<ProgramOutput>,
    typing_begun: AtomicU64,
    typing_done: AtomicU64,
}

/// How often something was typed, but for the inputs of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypingCount {
    begun: u64,
    done: u64,
}

impl TypingCount {
    /// Not all of it has reached the terminal.
    pub(crate) fn is_under_way(self) -> bool {
        self.begun != self.done
    }
}

/// Something is being typed, until this is dropped.
struct TypingGuard<'s>(&'s SharedTerminal);

impl Drop for TypingGuard<'_> {
    fn drop(&mut self) {
        self.0.typing_done.fetch_add(1, Release);
    }
}

impl SharedTerminal {
    pub(crate) fn output(&self) -> MutexGuard<'_, ProgramOutput> {
        // A reader that panicked has changed nothing.
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was typed so far.
    pub(crate) fn typed(&self) -> TypingCount {
        // In this order, what ends meanwhile is still under way.
        let done = self.typing_done.load(Acquire);
        TypingCount { begun: self.typing_begun.load(Acquire), done }
    }

    fn begin_typing(&self) -> TypingGuard<'_> {
        self.typing_begun.fetch_add(1, Release);
        TypingGuard(self)
    }
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
        let shared = Arc::new(SharedTerminal {
            pty: CurrentPty::new(Arc::clone(&running.pty)),
            output: Mutex::new(ProgramOutput::new(size, history)),
            typing_begun: AtomicU64::new(0),
            typing_done: AtomicU64::new(0),
        });
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
    pub fn screen_history(&self, maximum_lines: usize) -> Vec<String> {
        self.shared.output().screen.history(maximum_lines)
    }

    /// The rows that went off the top of the main screen, the last of them.
    #[must_use]
    pub fn rows_above(&self, maximum_rows: usize) -> Vec<String> {
        self.shared.output().screen.above(maximum_rows)
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

    /// Begins a turn: types its input, and follows the answer until it is
    /// complete, whoever looks on. The input may still be on its way when this
    /// returns; without any, the turn is what the program does already.
    ///
    /// # Errors
    /// [`TerminalError::Busy`] while another turn runs;
    /// [`TerminalError::Input`], [`TerminalError::Key`] and
    /// [`TerminalError::Parameters`] for what is refused;
    /// [`TerminalError::Closed`]. Then nothing was typed.
    pub async fn begin_turn(&self, input: TurnInput<'_>, options: TurnOptions) -> Result<Turn, TerminalError> {
        let (bytes, shown) = match input {
            TurnInput::Submit(text) => (self.checked(text, "\r")?, text),
            // What is shown of it is all there is to come.
            TurnInput::Type(text) => (self.checked(text, "")?, ""),
            TurnInput::Keys(names) => (self.encoded(names)?, ""),
        };
        let hidden = self.line_mode().is_some_and(|mode| mode.canonical && !mode.echo);
        let shown = if hidden { "" } else { shown };
        // From here on nothing waits: the turn and its input come together.
        let place = self.place().await?;
        let (done, typed) = oneshot::channel();
        let typing = (!bytes.is_empty()).then_some(typed);
        let turn = self.turns.begin(&self.shared, &self.progress, shown, options, typing)?;
        if !bytes.is_empty() {
            self.count_typed(&bytes);
            place.send(SessionOrder::Type { bytes, done });
        }
        Ok(turn)
    }

    /// The turn that runs, or the last one.
    #[must_use]
    pub fn turn(&self) -> Option<Turn> {
        self.turns.last()
    }

    /// Types a text, once it is checked. Waits until the terminal has taken all
    /// of it, which it does not while the program reads nothing and much was
    /// typed; dropping the future takes back what it has not taken.
    ///
    /// # Errors
    /// [`TerminalError::Input`] for what is refused; [`TerminalError::Busy`]
    /// while a turn runs; [`TerminalError::Closed`].
    pub async fn type_text(&self, text: &str) -> Result<(), TerminalError> {
        self.type_between_turns(self.checked(text, "")?).await
    }

    /// Types a text and Enter.
    ///
    /// # Errors
    /// As for [`TerminalSession::type_text`].
    pub async fn submit(&self, text: &str) -> Result<(), TerminalError> {
        self.type_between_turns(self.checked(text, "\r")?).await
    }

    /// The bytes of a text that may be typed.
    fn checked(&self, text: &str, end: &str) -> Result<Vec<u8>, TerminalError> {
        let canonical = self.line_mode().is_some_and(|mode| mode.canonical);
        let typed_bytes = self.typed_bytes.load(Relaxed);
        self.rules.check(text, InputLine { canonical, typed_bytes })?;
        let mut bytes = keys::paste(text, self.modes());
        bytes.extend(end.as_bytes());
        Ok(bytes)
    }

    /// The bytes of keys.
    fn encoded(&self, names: &[&str]) -> Result<Vec<u8>, TerminalError> {
        let keys = names.iter().map(|name| name.parse()).collect::<Result<Vec<Key>, UnknownKey>>()?;
        let modes = self.modes();
        Ok(keys.into_iter().flat_map(|key| key.bytes(modes)).collect())
    }

    /// Presses keys, one after the other. During a turn they belong to it.
    ///
    /// # Errors
    /// [`TerminalError::Key`] where a name is none; then no key was pressed.
    /// [`TerminalError::Closed`].
    pub async fn press(&self, names: &[&str]) -> Result<(), TerminalError> {
        self.write(self.encoded(names)?).await
    }

    /// Writes bytes as they are, checked by nobody. For what a person types in
    /// a terminal of theirs.
    ///
    /// # Errors
    /// [`TerminalError::Closed`].
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), TerminalError> {
        let place = self.place().await?;
        self.type_at(place, bytes).await
    }

    async fn type_between_turns(&self, bytes: Vec<u8>) -> Result<(), TerminalError> {
        let place = self.place().await?;
        self.turns.refuse_while_one_runs()?;
        self.type_at(place, bytes).await
    }

    /// Waits until the task takes orders.
    async fn place(&self) -> Result<mpsc::Permit<'_, SessionOrder>, TerminalError> {
        if self.is_closed() {
            return Err(TerminalError::Closed);
        }
        self.orders.reserve().await.map_err(|_| TerminalError::Closed)
    }

    async fn type_at(&self, place: mpsc::Permit<'_, SessionOrder>, bytes: Vec<u8>) -> Result<(), TerminalError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.count_typed(&bytes);
        let _typing = self.shared.begin_typing();
        let (done, typed) = oneshot::channel();
        place.send(SessionOrder::Type { bytes, done });
        typed.await.map_err(|_| TerminalError::Closed)
    }

    fn count_typed(&self, bytes: &[u8]) {
        let ends_line = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0x03 | 0x04 | 0x15 | 0x1a | 0x1c);
        let typed = match bytes.iter().rposition(ends_line) {
            Some(last) => bytes.len() - last - 1,
            None => self.typed_bytes.load(Relaxed).saturating_add(bytes.len()),
        };
        self.typed_bytes.store(typed, Relaxed);
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
        // An error says that there is nobody to change it: it is the last.
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
