//! Programs that listen to their terminal and work on, or seem to: what is not
//! known makes no turn complete.

use std::time::Duration;

use wharf_completion::detection::{Preset, Reason};
use wharf_terminal::{TerminalSession, TurnInput, TurnOptions, TurnState};
use wharf_test_support::soon_once;

use crate::support::{close, is_there, over, said, start, until, within};

const PYTHON: &str = "/usr/bin/python3";

/// A program that reads a line and then does something.
async fn python(then: &str) -> Option<(TerminalSession, TurnState)> {
    if !is_there(PYTHON) {
        return None;
    }
    let script = format!(
        "import os, select, socket, subprocess, sys, threading, time\nprint('ready', flush=True)\nsys.stdin.readline()\n{then}\nprint('done', flush=True)\nos.read(0, 100)"
    );
    let session = start(PYTHON, &["-c", &script]).await;
    until(&session, |session| session.screen().lines[0] == "ready").await;
    // Only knowledge ends it: there is no prompt, and silence is no reason.
    let options = TurnOptions { parameters: Preset::Shell.into() };
    let turn = session.begin_turn(TurnInput::Submit("go"), options).await.expect("a turn");
    let state = over(&turn).await;
    Some((session, state))
}

async fn is_whole(then: &str) {
    soon_once(then, async || {
        let Some((session, state)) = python(then).await else { return Ok(()) };
        assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{then}: {state:?}");
        let said = said(&session, &state);
        assert!(said.ends_with("done\n"), "{then}: {said:?}");
        close(&session).await;
        within(Duration::from_secs(1), &state)
    })
    .await;
}

#[tokio::test]
async fn a_program_that_sleeps_or_computes_or_waits_for_others_does_not_wait_for_its_terminal() {
    is_whole("time.sleep(1)").await;
    is_whole("sum(range(12_000_000)); sum(range(12_000_000))").await;
    is_whole("subprocess.run(['sleep', '1'])").await;
    is_whole("subprocess.run('sleep 1; echo x', shell=True, stdout=subprocess.PIPE)").await;
    is_whole("a, b = socket.socketpair(); threading.Timer(1, lambda: b.send(b'x')).start(); a.recv(1)").await;
}

#[tokio::test]
async fn a_program_that_listens_to_its_terminal_and_to_something_else_may_go_on_by_itself() {
    is_whole(
        "a, b = socket.socketpair(); threading.Timer(1, lambda: b.send(b'x')).start(); select.select([0, a], [], [])",
    )
    .await;
    // A limit, too, is something else.
    is_whole("select.select([0], [], [], 1)").await;
    is_whole("p = select.poll(); p.register(0, select.POLLIN); p.poll(1000)").await;
    is_whole("e = select.epoll(); e.register(0, select.EPOLLIN); e.poll(1)").await;
    // The writer is in the foreground, too, or is not.
    for session in ["False", "True"] {
        let process =
            "subprocess.Popen('sleep 1; echo x', shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE";
        is_whole(&format!("p = {process}, start_new_session={session}); select.select([0, p.stdout], [], [])")).await;
    }
}

#[tokio::test]
async fn a_thread_that_always_listens_says_nothing_of_the_others() {
    is_whole("threading.Thread(target=lambda: os.read(0, 100), daemon=True).start(); time.sleep(1)").await;
    is_whole("threading.Thread(target=lambda: os.read(0, 100), daemon=True).start(); sum(range(20_000_000))").await;
}

#[tokio::test]
async fn a_program_that_waits_in_any_way_is_found_to() {
    for waiting in [
        "select.select([0], [], [0])",
        "p = select.poll(); p.register(0, select.POLLIN); p.poll()",
        "e = select.epoll(); e.register(0, select.EPOLLIN); e.poll()",
        "os.read(os.open('/dev/tty', os.O_RDWR), 100)",
        "r, w = os.pipe(); select.select([0, r], [], [])",
        "threading.Thread(target=lambda: os.read(0, 100)).start()",
        "threading.Thread(target=threading.Event().wait, daemon=True).start(); os.read(0, 100)",
    ] {
        soon_once(waiting, async || {
            let script = format!("print('asks', flush=True)\n{waiting}");
            let Some((session, state)) = python(&script).await else { return Ok(()) };
            assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{waiting}: {state:?}");
            assert!(said(&session, &state).starts_with("go\nasks\n"), "{waiting}");
            close(&session).await;
            within(Duration::from_secs(1), &state)
        })
        .await;
    }
}

#[tokio::test]
async fn a_program_of_events_is_done_soon_at_what_looks_like_a_prompt() {
    let listen =
        "sys.stdout.write('2\\n> '); sys.stdout.flush(); e = select.epoll(); e.register(0, select.EPOLLIN); e.poll(4)";
    soon_once(listen, async || {
        let Some((session, state)) = python(listen).await else { return Ok(()) };
        assert_eq!(state.decision.reason(), Some(Reason::BroadPrompt), "{state:?}");
        close(&session).await;
        within(Duration::from_secs(1), &state)
    })
    .await;
}

/// A turn of a program that writes a prompt, does this, and says `done`.
async fn writes_a_prompt_before(prompt: &str, then: &str) {
    if !is_there(PYTHON) {
        return;
    }
    let script = format!(
        "import os, select, socket, sys, threading, time\nprint('ready', flush=True)\nsys.stdin.readline()\n\
         sys.stdout.write({prompt:?}); sys.stdout.flush()\n{then}\nprint('done', flush=True)\nos.read(0, 100)"
    );
    let session = start(PYTHON, &["-c", &script]).await;
    until(&session, |session| session.screen().lines[0] == "ready").await;
    let options = TurnOptions { parameters: Preset::Repl.into() };
    let turn = session.begin_turn(TurnInput::Submit("go"), options).await.expect("a turn");
    let state = over(&turn).await;
    let said = said(&session, &state);
    assert!(said.ends_with("done\n"), "{prompt:?} before {then}: {said:?} {state:?}");
    close(&session).await;
}

#[tokio::test]
async fn a_prompt_that_is_written_before_a_wait_is_none() {
    for prompt in ["Name? ", "    '> ", "   ...> "] {
        writes_a_prompt_before(prompt, "select.select([0], [], [], 1.2)").await;
        writes_a_prompt_before(
            prompt,
            "threading.Thread(target=lambda: os.read(0, 100), daemon=True).start(); time.sleep(1.2)",
        )
        .await;
    }
    let computes = "until = time.monotonic() + 1.2\nwhile time.monotonic() < until: pass";
    let listens = "threading.Thread(target=lambda: os.read(0, 100), daemon=True).start()";
    writes_a_prompt_before(">>> ", &format!("{listens}\n{computes}")).await;
}

#[tokio::test]
async fn an_agent_with_a_thread_that_wakes_now_and_then_is_done_soon_after_its_prompt() {
    if !is_there(PYTHON) {
        return;
    }
    let script = "import os, sys, threading, time\nprint('ready', flush=True)\nstop = threading.Event()\n\
        def spin():\n    while not stop.wait(0.1): pass\nthreading.Thread(target=spin, daemon=True).start()\n\
        sys.stdin.readline()\nsys.stdout.write('an answer\\n> '); sys.stdout.flush()\nos.read(0, 100)";
    soon_once(script, async || {
        let session = start(PYTHON, &["-c", script]).await;
        until(&session, |session| session.screen().lines[0] == "ready").await;
        let options = TurnOptions { parameters: Preset::Agent.into() };
        let turn = session.begin_turn(TurnInput::Submit("go"), options).await.expect("a turn");
        let state = over(&turn).await;
        assert_eq!(state.decision.reason(), Some(Reason::BroadPrompt), "{state:?}");
        close(&session).await;
        // A tenth of what the preset grants where nothing is known.
        within(Duration::from_secs(2), &state)
    })
    .await;
}
