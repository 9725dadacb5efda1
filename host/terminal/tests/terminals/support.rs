//! What the tests share: real programs in real terminals, and patience.

use std::{
    fmt::{self, Debug, Formatter},
    path::Path,
    sync::LazyLock,
    time::Duration,
};

use tokio::time::error::Elapsed;
use wharf_completion::detection::Preset;
use wharf_spawn::Spawner;
use wharf_terminal::{
    ChildLimits, Containment, HistoryLimits, InputRules, SessionProgress, TerminalRequest, TerminalSession,
    TerminalSize, Turn, TurnInput, TurnOptions, TurnState,
};
use wharf_test_support::{AMPLE, in_time};

/// The spawner of all tests of this binary.
pub(crate) fn spawner() -> Spawner {
    static SPAWNER: LazyLock<Spawner> = LazyLock::new(Spawner::new);
    SPAWNER.clone()
}

/// A request for a program, uncontained.
pub(crate) fn request(program: &str, arguments: &[&str]) -> TerminalRequest {
    TerminalRequest {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("LANG", "C.UTF-8"),
            ("PS1", "$ "),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec(),
        working_directory: "/".into(),
        pty: crate::PTY,
        size: TerminalSize::default(),
        history: HistoryLimits::default(),
        rules: InputRules::default(),
        integration: None,
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    }
}

pub(crate) async fn start(program: &str, arguments: &[&str]) -> TerminalSession {
    TerminalSession::start(&spawner(), request(program, arguments)).await.expect("a session")
}

/// A script of a plain shell.
pub(crate) async fn shell(script: &str) -> TerminalSession {
    start("/bin/sh", &["-c", script]).await
}

/// An interactive bash that has printed its prompt.
pub(crate) async fn bash() -> TerminalSession {
    let session = start("/bin/bash", &["--norc", "--noprofile", "-i"]).await;
    until(&session, |session| session.screen().cursor_line().ends_with('$')).await;
    session
}

/// Looks at a session again and again until it is so.
pub(crate) async fn until(session: &TerminalSession, so: impl Fn(&TerminalSession) -> bool) {
    let look = || if so(session) { Ok(()) } else { Err(Shown(session)) };
    wharf_test_support::until("a terminal becomes so", look).await;
}

/// A session as a wait in vain shows it.
struct Shown<'s>(&'s TerminalSession);

impl Debug for Shown<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} {:?}", self.0.progress().borrow(), self.0.screen())
    }
}

/// The same for what may need to be asked for again.
pub(crate) async fn soon(session: &TerminalSession, so: impl Fn(&TerminalSession) -> bool) -> Result<(), Elapsed> {
    tokio::time::timeout(Duration::from_secs(1), until(session, so)).await
}

/// Waits until a text is on the screen.
pub(crate) async fn shown(session: &TerminalSession, text: &str) {
    until(session, |session| session.screen().lines.iter().any(|line| line.contains(text))).await;
}

/// Waits until a text was printed.
pub(crate) async fn printed(session: &TerminalSession, text: &str) {
    until(session, |session| all_text(session).contains(text)).await;
}

pub(crate) fn all_text(session: &TerminalSession) -> String {
    session.text(0, usize::MAX).content
}

/// Waits for the end of the program.
pub(crate) async fn ended(session: &TerminalSession) -> SessionProgress {
    until(session, |session| session.progress().borrow().exit.is_some()).await;
    *session.progress().borrow()
}

pub(crate) async fn close(session: &TerminalSession) -> SessionProgress {
    in_time("it closes", session.close(Duration::from_millis(200))).await
}

/// Whether the end was told so soon after the program had last said something; an error is
/// the turn that was told late.
pub(crate) fn within(time: Duration, state: &TurnState) -> Result<(), String> {
    if state.decision.idle < time { Ok(()) } else { Err(format!("{state:?}")) }
}

/// Begins a turn with a line.
pub(crate) async fn begin(session: &TerminalSession, line: &str, preset: Preset) -> Turn {
    let options = TurnOptions { parameters: preset.into() };
    session.begin_turn(TurnInput::Submit(line), options).await.expect("a turn")
}

/// A turn from its line to its end.
pub(crate) async fn answered(session: &TerminalSession, line: &str, preset: Preset) -> TurnState {
    over(&begin(session, line, preset).await).await
}

/// Waits until a program that was just started is done with that.
pub(crate) async fn started(session: &TerminalSession, preset: Preset) -> TurnState {
    let options = TurnOptions { parameters: preset.into() };
    over(&session.begin_turn(TurnInput::Keys(&[]), options).await.expect("a turn")).await
}

/// A turn of keys from the first to its end.
pub(crate) async fn keys(session: &TerminalSession, names: &[&str]) -> TurnState {
    over(&session.begin_turn(TurnInput::Keys(names), TurnOptions::default()).await.expect("a turn")).await
}

pub(crate) async fn over(turn: &Turn) -> TurnState {
    let state = turn.completed(AMPLE).await;
    assert!(state.is_over(), "not complete: {state:?}");
    state
}

/// What was said in a turn.
pub(crate) fn said(session: &TerminalSession, state: &TurnState) -> String {
    let length = state.end.expect("over") - state.start;
    session.text(state.start, usize::try_from(length).expect("small")).content
}

/// Whether a program is there; a test that cannot run says so.
#[expect(clippy::print_stderr, reason = "for the person who runs the tests")]
pub(crate) fn is_there(program: &str) -> bool {
    let there = Path::new(program).exists();
    if !there {
        eprintln!("NOT TESTED: there is no {program}");
    }
    there
}
