//! When real programs are done: none is cut, and none is noticed late.
//!
//! Where a program can, it says in a file when it is done, so that the truth
//! does not come from what is tested.

use std::{fs, path::Path, time::Duration};

use wharf_completion::detection::{Confidence, Parameters, Preset, Reason};
use wharf_terminal::{TerminalSession, TurnInput, TurnOptions, TurnState};

use crate::support::{answered, bash, begin, close, is_there, keys, over, printed, said, shell, start, started, until};

const PYTHON: &str = "/usr/bin/python3";

/// A turn after which nothing more may come, and whose answer has to be whole.
#[track_caller]
fn whole(session: &TerminalSession, state: &TurnState, reason: Reason, end: &str) {
    assert_eq!(state.decision.reason(), Some(reason), "{state:?} {:?}", session.screen());
    let said = said(session, state);
    assert!(said.trim_end().ends_with(end), "{said:?} lacks {end:?}");
}

#[tokio::test]
async fn python_is_done_with_each_line_of_a_conversation() {
    if !is_there(PYTHON) {
        return;
    }
    let session = start(PYTHON, &["-q"]).await;
    started(&session, Preset::Repl).await;
    for (line, end, reason) in [
        ("6 * 7", "\n42\n>>>", Reason::StrictPrompt),
        ("", ">>>", Reason::StrictPrompt),
        ("import time, sys", ">>>", Reason::StrictPrompt),
        ("time.sleep(1.2); print('late')", "\nlate\n>>>", Reason::StrictPrompt),
        ("for i in range(3): print('>>> ', end='', flush=True); time.sleep(0.5)", "...", Reason::StrictPrompt),
        ("", ">>> >>> >>> >>>", Reason::BroadPrompt),
        ("_ = [sum(range(9_000_000)) for i in range(4)]; print('su' + 'm')", "\nsum\n>>>", Reason::StrictPrompt),
        ("name = input('name? ')", "name?", Reason::BroadPrompt),
        ("Ann", ">>>", Reason::StrictPrompt),
        ("word = input()", "input()", Reason::AwaitsInput),
        ("x", ">>>", Reason::StrictPrompt),
        ("sys.ps1 = 'your wish'", "your wish", Reason::AwaitsInput),
    ] {
        let state = answered(&session, line, Preset::Repl).await;
        whole(&session, &state, reason, end);
        assert_eq!(state.decision.verdict.expect("over").confidence, Confidence::High);
    }
    close(&session).await;
}

#[tokio::test]
async fn a_python_that_computes_is_not_done_however_long_it_is_silent() {
    if !is_there(PYTHON) {
        return;
    }
    let session = start(PYTHON, &["-q"]).await;
    started(&session, Preset::Repl).await;
    // Longer than the silence after which one of the preset would be given up.
    let line = "import time; print('working: '); time.sleep(4); print('do' + 'ne')";
    let state = answered(&session, line, Preset::Repl).await;
    whole(&session, &state, Reason::StrictPrompt, "\nworking: \ndone\n>>>");
    assert!(state.decision.elapsed >= Duration::from_secs(4));
    close(&session).await;
}

#[tokio::test]
async fn sqlite_and_gdb_are_done_at_their_prompts_and_at_those_for_more() {
    if is_there("/usr/bin/sqlite3") {
        let session = start("/usr/bin/sqlite3", &[]).await;
        started(&session, Preset::Repl).await;
        for (line, end) in [
            ("select 6 * 7;", "\n42\nsqlite>"),
            ("select", "...>"),
            ("1 + 1;", "\n2\nsqlite>"),
            (
                "with recursive n(i) as (select 1 union all select i + 1 from n limit 2000000) select count(*) from n;",
                "\n2000000\nsqlite>",
            ),
        ] {
            let state = answered(&session, line, Preset::Repl).await;
            whole(&session, &state, Reason::StrictPrompt, end);
        }
        close(&session).await;
    }
    if is_there("/usr/bin/gdb") {
        let session = start("/usr/bin/gdb", &["-q", "-nx", "-batch-silent", "-ex", "echo x"]).await;
        close(&session).await;
        let session = start("/usr/bin/gdb", &["-q", "-nx", "/bin/sh"]).await;
        started(&session, Preset::Repl).await;
        for (line, end) in [
            ("print 6 * 7", "= 42\n(gdb)"),
            ("shell sleep 1; echo sle''pt", "\nslept\n(gdb)"),
            ("define two", ">"),
            ("print 2", ">"),
            ("end", "(gdb)"),
        ] {
            let state = answered(&session, line, Preset::Repl).await;
            let said = said(&session, &state);
            assert_eq!(state.decision.layer().map(|layer| layer.as_str()), Some("L2"), "{line}: {state:?}");
            assert!(said.trim_end().ends_with(end), "{said:?} lacks {end:?}");
        }
        close(&session).await;
    }
}

#[tokio::test]
async fn a_shell_without_integration_is_done_when_it_waits_again() {
    let session = bash().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("done");
    for (line, end) in [
        ("true", "$"),
        ("", "$"),
        ("sleep 1.5; echo la''te", "\nlate\n$"),
        ("printf 'Continue? (y/n) '; sleep 1; echo n''o", "Continue? (y/n) no\n$"),
        ("printf '$ '; sleep 2.5; echo lo''g", "$ log\n$"),
        ("for i in 1 2 3; do echo step $i:; sleep 0.4; done; echo e''nd", "\nend\n$"),
        ("sleep 0.5 & wait; echo bo''th", "both\n$"),
        ("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo co''unted", "\ncounted\n$"),
        ("nonsense", "not found\n$"),
        ("echo 'one", ">"),
        ("two'", "one\ntwo\n$"),
        ("read -p 'your name: ' name", "your name:"),
        ("Ann", "$"),
        ("read -s word", "read -s word"),
        ("secret", "$"),
        ("seq 1 300000", "\n300000\n$"),
        ("cat | sed s/a/b/", "sed s/a/b/"),
    ] {
        _ = fs::remove_file(&file);
        let line = if line.contains(";") { format!("{line}; touch {}", file.display()) } else { line.to_owned() };
        let state = answered(&session, &line, Preset::Shell).await;
        let said = said(&session, &state);
        assert!(said.trim_end().ends_with(end), "{line}: {said:?} lacks {end:?}: {state:?}");
        assert!(!line.contains(';') || file.exists(), "{line} was cut: {state:?}");
        assert_eq!(state.decision.layer().map(|layer| layer.as_str()), Some("L2"), "{line}: {state:?}");
    }
    close(&session).await;
}

/// What a shell does until a file is there.
fn waits_for(file: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.02; done", file.display())
}

#[tokio::test]
async fn what_is_typed_ahead_is_a_part_of_the_turn() {
    let (session, directory) = (bash().await, tempfile::tempdir().expect("a directory"));
    let file = directory.path().join("typed");
    let turn = begin(&session, &format!("{}; echo fi''rst", waits_for(&file)), Preset::Shell).await;
    printed(&session, "sleep").await;
    session
        .press(&["e", "c", "h", "o", "Space", "s", "e", "c", "'", "'", "o", "n", "d", "Enter"])
        .await
        .expect("pressed");
    fs::write(&file, "").expect("written");
    let state = over(&turn).await;
    whole(&session, &state, Reason::ShellIdle, "\nsecond\n$");
    // Several lines of one input are, too.
    let state = answered(&session, "sleep 0.5\nsleep 0.6\necho thi''rd", Preset::Shell).await;
    whole(&session, &state, Reason::ShellIdle, "\nthird\n$");
    close(&session).await;
}

#[tokio::test]
async fn output_after_the_prompt_belongs_to_no_turn_and_ends_none() {
    let (session, directory) = (bash().await, tempfile::tempdir().expect("a directory"));
    let [asked, told] = ["asked", "told"].map(|name| directory.path().join(name));
    let behind = format!("({}; echo from be''hind; touch {}) &", waits_for(&asked), told.display());
    let state = answered(&session, &behind, Preset::Shell).await;
    assert!(!said(&session, &state).contains("from behind"));
    let line = format!("touch {}; {}; sleep 1; echo do''ne", asked.display(), waits_for(&told));
    let state = answered(&session, &line, Preset::Shell).await;
    whole(&session, &state, Reason::ShellIdle, "\ndone\n$");
    assert!(said(&session, &state).contains("from behind"));
    close(&session).await;
}

#[tokio::test]
async fn programs_that_own_the_screen_are_done_when_they_have_drawn_it() {
    let (vim, less, top) = ("/usr/bin/vim", "/usr/bin/less", "/usr/bin/top");
    if is_there(vim) {
        let session = start(vim, &["-N", "-u", "NONE"]).await;
        started(&session, Preset::Shell).await;
        for (pressed, line) in [(["i"], ""), (["x"], "x"), (["Escape"], "x"), (["p"], "x")] {
            let state = keys(&session, &pressed).await;
            assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{pressed:?}: {state:?}");
            assert_eq!(session.screen().lines[0], line);
            // Not only once it stopped to wait for something else, after 4 s.
            assert!(state.decision.elapsed < Duration::from_secs(4), "{state:?}");
        }
        let state = answered(&session, ":sleep 1 | echo 'slept'", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{state:?}");
        assert!(session.screen().lines[23].starts_with("slept"), "{:?}", session.screen());
        let state = answered(&session, ":q!", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::ProcessExited));
    }
    if is_there(less) {
        let session =
            start("/bin/bash", &["--norc", "--noprofile", "-c", "(seq 1000; sleep 1; seq 1000 2000) | less"]).await;
        started(&session, Preset::Shell).await;
        let state = keys(&session, &["G"]).await;
        assert_eq!(state.decision.reason(), Some(Reason::StrictPrompt), "{state:?}");
        assert_eq!(session.screen().lines[22], "2000");
        let state = keys(&session, &["g"]).await;
        assert_eq!(state.decision.layer().map(|layer| layer.as_str()), Some("L2"), "{state:?}");
        assert_eq!(session.screen().lines[0], "1");
        let state = keys(&session, &["q"]).await;
        assert_eq!(state.decision.reason(), Some(Reason::ProcessExited));
    }
    if is_there(top) {
        let session = start(top, &["-d", "30"]).await;
        started(&session, Preset::Shell).await;
        let state = keys(&session, &["m"]).await;
        assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{state:?}");
        close(&session).await;
    }
}

#[tokio::test]
async fn a_program_that_floods_or_never_answers_is_given_up_with_the_confidence_that_this_deserves() {
    let soon = |limit| {
        let mut parameters = Parameters::from(Preset::Repl);
        (parameters.time_limit, parameters.busy_inactivity_timeout) = (limit, Duration::from_secs(3));
        TurnOptions { parameters }
    };
    let limit = Duration::from_secs(4);
    let session = shell("read a; yes").await;
    let turn = session.begin_turn(TurnInput::Submit("go"), soon(limit)).await.expect("a turn");
    let state = over(&turn).await;
    assert_eq!((state.decision.reason(), state.decision.elapsed), (Some(Reason::TimeLimit), limit));
    assert_eq!(state.decision.verdict.expect("over").confidence, Confidence::None);
    close(&session).await;

    let session = shell("stty -echo; read a; exec sleep 1000").await;
    until(&session, |session| session.line_mode().is_some_and(|mode| !mode.echo)).await;
    let turn = session.begin_turn(TurnInput::Submit("go"), soon(limit)).await.expect("a turn");
    assert_eq!(over(&turn).await.decision.reason(), Some(Reason::TimeLimit));
    close(&session).await;

    let session = shell("read a; echo working; exec sleep 1000").await;
    let turn = session.begin_turn(TurnInput::Submit("go"), soon(limit)).await.expect("a turn");
    let state = over(&turn).await;
    assert_eq!(state.decision.reason(), Some(Reason::Idle), "{state:?}");
    assert_eq!(state.decision.verdict.expect("over").confidence, Confidence::Low);
    close(&session).await;
}

#[tokio::test]
async fn a_program_that_dies_in_mid_turn_ends_it_and_what_holds_the_terminal_does_not_keep_it() {
    let session = shell("read a; echo working; kill -KILL $$").await;
    let state = answered(&session, "go", Preset::Shell).await;
    whole(&session, &state, Reason::ProcessExited, "working");
    let session = shell("read a; trap '' HUP; setsid sleep 1000 & echo working; exit 1").await;
    let state = answered(&session, "go", Preset::Shell).await;
    whole(&session, &state, Reason::DescendantsAlive { descendants: 1 }, "working");
    close(&session).await;
    let session = bash().await;
    answered(&session, "set -e", Preset::Shell).await;
    let state = answered(&session, "false", Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::ProcessExited));
}

#[tokio::test]
async fn a_program_of_another_that_asks_is_found_to_wait() {
    let session = bash().await;
    let script = "sh -c 'printf \"Your name: \"; read a; sleep 1; echo Hello $a'";
    let state = answered(&session, script, Preset::Shell).await;
    whole(&session, &state, Reason::BroadPrompt, "Your name:");
    let state = answered(&session, "Ann", Preset::Shell).await;
    whole(&session, &state, Reason::ShellIdle, "Hello Ann\n$");
    assert!(Path::new("/proc/self/syscall").exists());
    close(&session).await;
}
