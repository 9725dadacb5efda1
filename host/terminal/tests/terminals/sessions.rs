//! The life of sessions, and what is left of them.

use std::fs;

use wharf_terminal::{SessionPhase, TerminalError, TerminalRequest, TerminalSession};

use crate::support::{close, ended, printed, request, shell, spawner, until};

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_and_leaves_nothing() {
    let error = TerminalSession::start(&spawner(), request("/no/such/program", &[])).await.expect_err("no program");
    assert!(matches!(error, TerminalError::Start { .. }));
    let error = wharf_core::Error::from(error);
    assert_eq!(error.code, wharf_core::Code::Invalid);
    assert!(error.message.contains("cannot run /no/such/program"), "{}", error.message);
}

#[tokio::test]
async fn a_session_goes_from_starting_to_ready_to_closed() {
    let session = shell("read line; echo $line").await;
    assert_eq!(session.progress().borrow().phase, SessionPhase::Starting);
    session.submit("hello").await.expect("typed");
    until(&session, |session| session.progress().borrow().phase >= SessionPhase::Ready).await;
    let progress = ended(&session).await;
    assert_eq!(progress.phase, SessionPhase::Closed);
    // What was printed stays to be read, and a second close changes nothing.
    let closed = close(&session).await;
    assert_eq!((closed.exit, closed.finished), (progress.exit, true));
    assert_eq!(close(&session).await, closed);
    assert!(session.text(0, 100).content.ends_with("hello\n"));
}

#[tokio::test]
async fn what_is_read_by_cursor_is_each_byte_once() {
    let session = shell("seq 1 20000").await;
    let (mut from, mut raw) = (0, Vec::new());
    let mut progress = session.progress();
    loop {
        let finished = progress.borrow_and_update().finished;
        let slice = session.raw(from, 1000);
        assert_eq!(slice.start, from, "nothing is lost");
        raw.extend(&slice.content);
        from = slice.next;
        if finished && slice.content.is_empty() {
            break;
        }
        if slice.content.is_empty() {
            progress.changed().await.expect("it goes on");
        }
    }
    let expected: String = (1..=20_000).map(|number| format!("{number}\r\n")).collect();
    assert_eq!(String::from_utf8(raw).expect("text"), expected);
    assert_eq!(session.text(0, usize::MAX).content, expected.replace('\r', ""));
}

#[tokio::test]
async fn the_name_of_the_terminal_is_what_the_request_says() {
    let environment = vec![("TERM".into(), "dumb".into())];
    let request = TerminalRequest { environment, ..request("/bin/sh", &["-c", "echo $TERM"]) };
    let session = TerminalSession::start(&spawner(), request).await.expect("a session");
    printed(&session, "dumb").await;
}

/// The only test that counts what the whole of this process has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_sessions_opened_and_closed_leave_no_descriptor_and_no_process() {
    // Of a process of its own, since other tests run in this one.
    if std::env::var_os("WHARF_TEST_ALONE").is_none() {
        let name = "sessions::a_hundred_sessions_opened_and_closed_leave_no_descriptor_and_no_process";
        let mut command = std::process::Command::new(std::env::current_exe().expect("itself"));
        let command = command.args(["--exact", name]).env("WHARF_TEST_ALONE", "1");
        let output = command.output().expect("a run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let descriptors = || fs::read_dir("/proc/self/fd").expect("descriptors").count();
    let terminals = || {
        let links = fs::read_dir("/proc/self/fd")
            .expect("descriptors")
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.to_string_lossy().contains("ptmx") || link.starts_with("/dev/pts/")).count()
    };
    let first = shell("exit").await;
    close(&first).await;
    drop(first);
    wharf_test_support::until("the first is gone", || terminals() == 0).await;
    let before = descriptors();
    let mut sessions = Vec::new();
    for _ in 0..100 {
        sessions.push(shell("echo ready; exec sleep 1000").await);
    }
    for session in &sessions {
        printed(session, "ready").await;
    }
    let pids: Vec<u32> = sessions.iter().map(TerminalSession::pid).collect();
    assert_eq!(terminals(), 100 * crate::DESCRIPTORS, "no more descriptors of a terminal than each needs");
    // Half of them are closed, the others just let go.
    for session in sessions.split_off(50) {
        close(&session).await;
    }
    drop(sessions);
    let gone = || {
        terminals() == 0
            && descriptors() <= before
            && !pids.iter().any(|pid| wharf_test_support::processes::lives(*pid))
    };
    wharf_test_support::until("all are gone", gone).await;
}
