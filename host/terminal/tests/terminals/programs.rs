//! Interactive programs as people and agents use them.

use std::time::Duration;

use wharf_terminal::{ProgramExit, SessionPhase, TerminalSize};

use crate::support::{
    all_text, bash, close, ended, is_there, printed, request, shell, shown, soon, spawner, start, until,
};

#[tokio::test]
async fn bash_takes_commands_and_says_whose_turn_it_is() {
    let session = bash().await;
    assert!(session.is_in_foreground());
    session.submit("echo $((6 * 7)) $TERM; tty").await.expect("typed");
    printed(&session, "\n42 xterm-256color\n/dev/pts/").await;
    until(&session, |session| session.is_in_foreground() && session.screen().cursor_line() == "$").await;
    session.submit("cat").await.expect("typed");
    // A shell forgets an interrupt that comes before its child is a program.
    until(&session, |session| !session.is_in_foreground()).await;
    session.submit("a line").await.expect("typed");
    printed(&session, "a line\na line\n").await;
    session.press(&["C-c"]).await.expect("pressed");
    until(&session, wharf_terminal::TerminalSession::is_in_foreground).await;
    session.submit("exit 3").await.expect("typed");
    assert_eq!(ended(&session).await.exit, Some(ProgramExit::Exited { code: 3 }));
}

#[tokio::test]
async fn marks_of_a_shell_come_with_nonce_and_code() {
    let session = bash().await;
    session.submit(r#"PROMPT_COMMAND='printf "\033]133;D;%s;nonce=n1\007" "$?"'"#).await.expect("typed");
    session.submit("(exit 42)").await.expect("typed");
    until(&session, |session| session.marks(0).iter().any(|placed| placed.mark.exit_code == Some(42))).await;
    let mark = session.marks(0).into_iter().find(|placed| placed.mark.exit_code == Some(42)).expect("a mark");
    assert_eq!(mark.mark.parameter("nonce"), Some("n1"));
    assert!(session.text(0, usize::try_from(mark.text_at).expect("small")).content.contains("(exit 42)"));
    close(&session).await;
}

#[tokio::test]
async fn several_lines_are_pasted_as_one_where_the_program_asked_for_it() {
    let session = bash().await;
    until(&session, |session| session.modes().bracketed_paste).await;
    session.type_text("echo on''e\necho tw''o").await.expect("typed");
    // Nothing runs before Enter.
    shown(&session, "echo tw''o").await;
    session.press(&["Enter"]).await.expect("pressed");
    printed(&session, "one\ntwo\n").await;
    close(&session).await;
}

#[tokio::test]
async fn python_holds_a_conversation() {
    let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| is_there(path)) else {
        return;
    };
    let session = start(python, &["-q"]).await;
    until(&session, |session| session.screen().cursor_line() == ">>>").await;
    session.submit("6 * 7").await.expect("typed");
    printed(&session, "\n42\n").await;
    until(&session, |session| session.screen().cursor_line() == ">>>").await;
    session.submit("def f():").await.expect("typed");
    until(&session, |session| session.screen().cursor_line().starts_with("...")).await;
    // Python forgets an interrupt that comes between its prompt and its wait for
    // input, until the next key.
    while session.screen().cursor_line() != ">>>" {
        session.press(&["C-c"]).await.expect("pressed");
        let interrupted = soon(&session, |session| session.screen().cursor_line() == ">>>");
        drop(interrupted.await);
    }
    session.press(&["C-d"]).await.expect("pressed");
    assert_eq!(ended(&session).await.exit, Some(ProgramExit::Exited { code: 0 }));
}

#[tokio::test]
async fn vim_edits_a_file() {
    let Some(vim) = ["/usr/bin/vim", "/usr/bin/vi"].into_iter().find(|path| is_there(path)) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");
    let session = start(vim, &["-N", "-u", "NONE", file.to_str().expect("text")]).await;
    until(&session, |session| session.screen().alternate && session.screen().lines[1].starts_with('~')).await;
    session.press(&["i"]).await.expect("pressed");
    session.type_text("one").await.expect("typed");
    session.press(&["Enter"]).await.expect("pressed");
    session.type_text("two 界").await.expect("typed");
    session.press(&["Up", "Home", "x", "Escape"]).await.expect("pressed");
    shown(&session, "xone").await;
    session.submit(":wq").await.expect("typed");
    assert_eq!(ended(&session).await.exit, Some(ProgramExit::Exited { code: 0 }));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "xone\ntwo 界\n");
    assert!(!session.screen().alternate);
}

#[tokio::test]
async fn top_draws_itself_again_when_the_size_changes() {
    if !is_there("/usr/bin/top") {
        return;
    }
    let session = start("/usr/bin/top", &["-d", "1"]).await;
    shown(&session, "%CPU").await;
    session.resize(TerminalSize::new(60, 10).expect("a size")).expect("resized");
    until(&session, |session| {
        session.screen().lines.len() == 10 && session.screen().lines.iter().any(|line| line.contains("PID"))
    })
    .await;
    session.press(&["q"]).await.expect("pressed");
    assert_eq!(ended(&session).await.exit, Some(ProgramExit::Exited { code: 0 }));
}

#[tokio::test]
async fn programs_are_told_the_size_at_the_start_and_when_it_changes() {
    let size = TerminalSize::new(101, 37).expect("a size");
    let script = "trap 'stty size' WINCH; stty size; tput cols; echo ready; while :; do sleep 0.01; done";
    let request = wharf_terminal::TerminalRequest { size, ..request("/bin/sh", &["-c", script]) };
    let session = wharf_terminal::TerminalSession::start(&spawner(), request).await.expect("a session");
    printed(&session, "ready").await;
    assert!(all_text(&session).starts_with("37 101\n101\n"), "{}", all_text(&session));
    session.resize(TerminalSize::new(20, 5).expect("a size")).expect("resized");
    printed(&session, "5 20\n").await;
    close(&session).await;
}

#[tokio::test]
async fn a_flood_is_kept_within_its_bounds_and_can_be_interrupted() {
    let session = bash().await;
    session.submit("yes 0123456789012345678901234567890123456789").await.expect("typed");
    until(&session, |session| session.progress().borrow().raw_bytes > 20 << 20).await;
    session.press(&["C-c"]).await.expect("pressed");
    until(&session, |session| session.is_in_foreground() && session.screen().cursor_line().ends_with('$')).await;
    let (raw, text) = (session.raw(0, usize::MAX), session.text(0, usize::MAX));
    assert_eq!((raw.content.len(), raw.start), (256 << 10, raw.evicted_before));
    assert!(text.content.len() <= 256 << 10 && text.start > 0);
    assert!(session.lines_with_scrollback(usize::MAX).len() <= 224);
    session.submit("echo sti''ll").await.expect("typed");
    shown(&session, "still").await;
    close(&session).await;
}

#[tokio::test]
async fn a_program_that_never_answers_is_starting_until_something_is_typed_and_ends_when_closed() {
    let session = shell("stty -echo; exec sleep 1000").await;
    until(&session, |session| session.line_mode().is_some_and(|mode| !mode.echo)).await;
    assert_eq!(session.progress().borrow().phase, SessionPhase::Starting);
    session.submit("hello?").await.expect("typed");
    assert_eq!(session.progress().borrow().phase, SessionPhase::Ready);
    assert_eq!(all_text(&session), "");
    let progress = wharf_test_support::in_time("it ends", session.close(Duration::ZERO)).await;
    assert_eq!((progress.phase, progress.finished), (SessionPhase::Closed, true));
}
