//! The programs of other systems, as far as Linux can run them.

use std::{future::poll_fn, path::Path, time::Duration};

use wharf_spawn::{ChildExit, Containment, Sandbox, Signal};
use wharf_test_support::in_time;

use super::*;
use crate::{
    ChildLimits, HistoryLimits, InputRules, PtyBackend, TerminalSize,
    pty::{PortablePty, Pty as _},
};

fn script(script: &str) -> TerminalRequest {
    TerminalRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![("WORD".into(), "hello".into())],
        working_directory: "/".into(),
        pty: PtyBackend::Portable,
        size: TerminalSize::default(),
        history: HistoryLimits::default(),
        rules: InputRules::default(),
        integration: None,
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    }
}

async fn start(request: TerminalRequest) -> Result<(PortablePty, UncontainedChild), SpawnError> {
    let (pty, slave) = PortablePty::open(request.size).expect("a terminal");
    Ok((pty, super::start(request, slave).await?))
}

/// Reads until this is printed, or to the end.
async fn printed(pty: &PortablePty, text: &str) -> String {
    let (mut all, mut chunk) = (Vec::new(), [0; 100]);
    let reading = async {
        while !String::from_utf8_lossy(&all).contains(text) {
            match poll_fn(|context| pty.poll_read(context, &mut chunk)).await.expect("read") {
                0 => break,
                count => all.extend(&chunk[..count]),
            }
        }
    };
    in_time("it is printed, or over", reading).await;
    String::from_utf8(all).expect("text")
}

#[tokio::test]
async fn a_program_has_its_terminal_and_no_other_environment_and_its_code_is_told() {
    let (pty, child) =
        start(script("tty; echo $WORD ${CARGO_MANIFEST_DIR:-clean}; pwd; exit 3")).await.expect("a child");
    let all = printed(&pty, "the end").await;
    assert!(all.starts_with("/dev/pts/") && all.ends_with("hello clean\r\n/\r\n"), "{all}");
    assert_eq!(child.wait().await.expect("an end").exit, ChildExit::Exited { code: 3 });
    child.signal(Signal::Kill).await.expect("nobody is signalled any more");
}

#[tokio::test]
async fn a_program_that_hears_nothing_is_killed_and_one_that_is_let_go_ends() {
    let (pty, child) =
        start(script("trap '' TERM HUP; echo ready; while :; do sleep 0.01; done")).await.expect("a child");
    printed(&pty, "ready").await;
    let ended = child.kill_tree(Duration::from_millis(10)).await.expect("an end");
    assert_eq!(ended.exit, ChildExit::Signaled { signal: 9 });

    // The terminal stays open, and nothing but a kill ends this one.
    let deaf = "trap '' HUP INT QUIT TERM; echo ready; while :; do sleep 0.01; done";
    let (pty, child) = start(script(deaf)).await.expect("a child");
    printed(&pty, "ready").await;
    drop(child);
    assert_eq!(printed(&pty, "the end").await, "");
}

#[tokio::test]
async fn what_only_a_supervisor_can_do_is_refused() {
    let contained = TerminalRequest { containment: Containment::Required(Sandbox::default()), ..script("exit") };
    assert!(matches!(start(contained).await, Err(SpawnError::Uncontainable { .. })));
    let user = TerminalRequest { user: Some(65534), ..script("exit") };
    assert!(matches!(start(user).await, Err(SpawnError::User { user: 65534 })));
    let nowhere = TerminalRequest { working_directory: "/no/such/place".into(), ..script("exit") };
    let refused = start(nowhere).await.expect_err("no directory");
    assert!(matches!(&refused, SpawnError::Program { step: "enter", path, .. } if path == Path::new("/no/such/place")));
    let absent = TerminalRequest { program: "/no/such/program".into(), ..script("exit") };
    assert!(matches!(start(absent).await, Err(SpawnError::Program { step: "run", .. })));
    let relative = TerminalRequest { program: "sh".into(), ..script("exit") };
    assert!(matches!(start(relative).await, Err(SpawnError::Illegal { what: "the program", .. })));
}
