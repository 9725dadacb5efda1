//! Programs that crash are started again; those that were asked to end are not.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use wharf_completion::detection::{Layer, Preset, Reason};
use wharf_core::{Code, Error};
use wharf_spawn::{SandboxMechanism, Spawner};
use wharf_terminal::{
    CloseReason, ProfileSettings, ProgramExit, RefusedWord, Restart, ShellIntegration, Status, TerminalError,
    TerminalId, TerminalSize,
};
use wharf_test_support::processes::parent;

use crate::support::{Somebody, TestPool, somebody};

fn pool() -> TestPool {
    TestPool::with(|settings| settings.first_backoff = Duration::from_millis(1))
}

/// Waits until the program runs again, so often, and has printed its prompt.
async fn again(pool: &TestPool, who: &Somebody, id: TerminalId, restarts: u32) {
    pool.until(who, id, |info| info.restarts == restarts && info.pid.is_some()).await;
    pool.prompted(who, id).await;
}

#[tokio::test]
async fn a_program_that_crashes_is_started_again_where_it_was_with_its_history_and_its_size() {
    let (pool, owner) = (pool(), somebody("one"));
    let id = pool.shell(&owner).await;
    let first = pool.info(&owner, id);
    fs::create_dir(pool.place().files.join("below")).expect("a directory");
    pool.answer(&owner, id, "echo bef''ore; cd below").await;
    pool.terminals.resize(&owner.owner(), id, TerminalSize::new(101, 37).expect("a size")).expect("resized");
    let (_, turn) = pool.answer(&owner, id, "kill -9 $$").await;
    assert_eq!(turn.decision.layer(), Some(Layer::Ended));
    again(&pool, &owner, id, 1).await;
    let info = pool.info(&owner, id);
    assert_ne!(info.pid, first.pid);
    assert_eq!(info.restarted_because.as_deref(), Some("it was ended by signal 9 (SIGKILL)"));
    assert_eq!((info.exit, info.ended), (None, None));
    let text = pool.text(&owner, id);
    let note = "[wharf: it was ended by signal 9 (SIGKILL); the program was started again]";
    let (before, after) = text.split_once(note).expect("a note");
    assert!(before.contains("\nbefore\n") && after.trim() == "$", "{text:?}");
    assert!(info.text_bytes > first.text_bytes);
    let shown = pool.terminals.screen(&owner.owner(), id, 100).expect("a screen");
    let seen: Vec<_> = shown.history.iter().chain(&shown.view.lines).map(String::as_str).collect();
    assert!(seen.contains(&"before") && seen.contains(&note), "{seen:?}");
    // Turns go on being counted, and the new program answers.
    let (answer, turn) = pool.answer(&owner, id, "pwd; stty size").await;
    assert!(answer.contains("/below\n37 101\n"), "{answer:?}");
    assert_eq!(turn.number, 3);
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.crashes, metrics.restarts, metrics.opened), (1, 1, 1));
}

#[tokio::test]
async fn whatever_a_program_left_on_the_screen_does_not_reach_the_next_one() {
    let (pool, owner) = (pool(), somebody("one"));
    let id = pool.shell(&owner).await;
    // The alternate screen, a colour, a part that scrolls, half of a sequence.
    pool.answer(&owner, id, r"printf 'visible\n\033[?1049h\033[31m\033[2;5rfull\033['; kill -9 $$").await;
    again(&pool, &owner, id, 1).await;
    let shown = pool.terminals.screen(&owner.owner(), id, 100).expect("a screen");
    assert!(!shown.view.alternate);
    assert!(shown.history.iter().chain(&shown.view.lines).any(|line| line == "visible"), "{shown:?}");
    let (answer, _) = pool.answer(&owner, id, "echo cle''an").await;
    assert!(answer.contains("\nclean\n"), "{answer:?}");
}

#[tokio::test]
async fn a_directory_that_is_gone_or_outside_of_the_workspace_is_not_gone_back_to() {
    let (pool, owner) = (pool(), somebody("one"));
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, "mkdir below; cd below").await;
    pool.answer(&owner, id, "rmdir ../below").await;
    pool.answer(&owner, id, "kill -9 $$").await;
    again(&pool, &owner, id, 1).await;
    pool.answer(&owner, id, "cd /usr").await;
    pool.answer(&owner, id, "kill -9 $$").await;
    again(&pool, &owner, id, 2).await;
    let workspace = pool.info(&owner, id).directory;
    let (answer, _) = pool.answer(&owner, id, "pwd").await;
    assert!(answer.contains(&format!("\n{}\n", workspace.display())) && !answer.contains("/usr"), "{answer:?}");
}

#[tokio::test]
async fn who_asks_a_program_to_end_has_it_end_whatever_its_code() {
    let (pool, owner) = (pool(), somebody("one"));
    let id = pool.shell(&owner).await;
    pool.submit(&owner, id, "exit 3").await.expect("a turn");
    let info = pool.closed(&owner, id).await;
    assert_eq!((info.exit, info.restarts, info.why), (Some(ProgramExit::Exited { code: 3 }), 0, None));
    // A shell ends with the code of its last command.
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, "false").await;
    pool.terminals.press(&owner.owner(), id, &["C-d"]).await.expect("pressed");
    let info = pool.closed(&owner, id).await;
    assert_eq!((info.exit, info.restarts), (Some(ProgramExit::Exited { code: 1 }), 0));
    let id = pool.shell_with(&owner, |wanted| wanted.restart = Some(Restart::Never)).await.expect("a terminal").id;
    pool.prompted(&owner, id).await;
    pool.submit(&owner, id, "kill -9 $$").await.expect("a turn");
    let info = pool.closed(&owner, id).await;
    assert_eq!((info.exit, info.restarts), (Some(ProgramExit::Signaled { signal: 9 }), 0));
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.crashes, metrics.restarts), (1, 0));
}

#[tokio::test]
async fn a_program_that_crashes_again_and_again_is_given_up() {
    let pool = TestPool::with(|settings| {
        settings.first_backoff = Duration::from_millis(1);
        settings.limits.restarts = 3;
    });
    let owner = somebody("one");
    let script = "echo run >> runs; echo still here; exit 7";
    let id = pool.script_with(&owner, script, Some(Restart::OnCrash)).await.expect("a terminal").id;
    let info = pool.closed(&owner, id).await;
    assert_eq!(
        (info.why, info.exit, info.restarts),
        (Some(CloseReason::Crashes), Some(ProgramExit::Exited { code: 7 }), 3)
    );
    assert_eq!(fs::read_to_string(pool.place().files.join("runs")).expect("a file"), "run\n".repeat(4));
    assert_eq!(pool.text(&owner, id).matches("it ended with code 7; the program was started again").count(), 3);
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.crashes, metrics.restarts, metrics.given_up), (4, 3, 1));
}

#[tokio::test]
async fn a_program_that_is_lost_with_its_supervisor_is_started_again_however_it_is_contained() {
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        let pool = TestPool::by(Spawner::with(contained), |settings| settings.first_backoff = Duration::from_millis(1));
        let owner = somebody("one");
        let id = pool.shell(&owner).await;
        pool.answer(&owner, id, "mkdir below; cd below").await;
        pool.answer(&owner, id, "true").await;
        let supervisor = parent(pool.info(&owner, id).pid.expect("it runs"));
        let killed = std::process::Command::new("kill").args(["-9", &supervisor.to_string()]).status();
        assert!(killed.expect("a kill").success());
        again(&pool, &owner, id, 1).await;
        let info = pool.info(&owner, id);
        assert_eq!(info.restarted_because.as_deref(), Some("it was lost with its supervisor"), "{contained:?}");
        assert!(info.directory.ends_with("below"), "{contained:?}: {}", info.directory.display());
        let (answer, _) = pool.answer(&owner, id, "pwd").await;
        assert!(answer.contains("/below\n"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_word_that_is_refused_does_not_count_as_asking_a_program_to_end() {
    let refused = RefusedWord { word: "exit".into(), reason: "close the terminal instead".into() };
    let own = ProfileSettings { refused: vec![refused], ..ProfileSettings::new("own", &["sh"], Preset::Shell) };
    let pool = TestPool::with(|settings| {
        settings.first_backoff = Duration::from_millis(1);
        settings.profiles = vec![own];
    });
    let owner = somebody("one");
    let script = "until rm stop 2>/dev/null; do sleep 0.01; done; exit 3";
    let id = pool.script_with(&owner, script, Some(Restart::OnCrash)).await.expect("a terminal").id;
    pool.submit(&owner, id, "exit").await.expect_err("refused");
    fs::write(pool.place().files.join("stop"), "").expect("a file");
    pool.until(&owner, id, |info| info.restarts == 1 && info.pid.is_some()).await;
}

#[tokio::test]
async fn a_terminal_that_waits_to_be_started_again_takes_no_input_and_can_be_closed() {
    let pool = TestPool::with(|settings| {
        settings.first_backoff = Duration::from_secs(3_600);
        settings.longest_backoff = Duration::from_secs(3_600);
    });
    let owner = somebody("one");
    let id = pool.shell(&owner).await;
    let (_, turn) = pool.answer(&owner, id, "kill -9 $$").await;
    assert_eq!(turn.decision.layer(), Some(Layer::Ended));
    let info = pool.until(&owner, id, |info| info.restarted_because.is_some()).await;
    assert_eq!((info.status, info.pid, info.restarts), (Status::Restarting, None, 0));
    let error = pool.submit(&owner, id, "echo early").await.expect_err("nobody there");
    assert!(matches!(error, TerminalError::Restarting));
    let error = Error::from(error);
    assert_eq!((error.code, error.retryable), (Code::Unavailable, true));
    let info = pool.close(&owner, id).await;
    assert_eq!((info.status, info.why), (Status::Closed, Some(CloseReason::Owner)));
    assert_eq!(info.exit, Some(ProgramExit::Signaled { signal: 9 }));
}

#[tokio::test]
async fn a_shell_that_says_when_its_commands_end_does_so_again_after_a_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    // The shell has to read them, even as another user.
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
    let integration = ShellIntegration::write(&directory.path().join("shells")).expect("written");
    let pool = TestPool::with(|settings| {
        settings.first_backoff = Duration::from_millis(1);
        settings.integration = Some(integration);
    });
    let owner = somebody("one");
    let id = pool.own_shell(&owner).await;
    let (_, turn) = pool.answer(&owner, id, "(exit 3)").await;
    assert_eq!(turn.decision.reason(), Some(Reason::CommandEnded { exit_code: Some(3) }));
    pool.answer(&owner, id, "kill -9 $$").await;
    pool.until(&owner, id, |info| info.restarts == 1 && info.pid.is_some()).await;
    let (_, turn) = pool.answer(&owner, id, "(exit 4)").await;
    assert_eq!(turn.decision.reason(), Some(Reason::CommandEnded { exit_code: Some(4) }));
}
