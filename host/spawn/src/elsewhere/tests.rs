//! The children of other systems, as far as Linux can run them.

use std::{path::Path, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    time::timeout,
};
use wharf_core::{Code, Grants, ProcessLimits, TerminalGrant};
use wharf_test_support::{AMPLE, in_time, processes::lives, until};

use super::*;
use crate::{ChildExit, ChildLimits, ChildWorkspace, Containment, Descriptor, Sandbox, Signal, policy};

fn shell(script: &str) -> SpawnRequest {
    SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        working_directory: "/".into(),
        stdin: ChildInput::Null,
        stdout: ChildOutput::Pipe,
        stderr: ChildOutput::Null,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    }
}

async fn start(request: SpawnRequest) -> Child {
    Spawner::new().spawn(request).await.expect("a child")
}

/// The lines that a child prints, as they come.
async fn line(output: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> String {
    let mut line = String::new();
    in_time("a line", output.read_line(&mut line)).await.expect("a line");
    line.trim_end().to_owned()
}

/// Waits until a process that a script named is dead.
async fn ends(pid: &str) {
    let pid = pid.parse().expect("a number");
    until("it ends", || !lives(pid)).await;
}

#[tokio::test]
async fn a_child_has_its_streams_and_no_other_environment_and_its_code_is_told() {
    let script = "read word; echo $word; echo ${CARGO_MANIFEST_DIR:-clean} >&2; pwd >&2; exit 3";
    let request = SpawnRequest { stdin: ChildInput::Pipe, stderr: ChildOutput::Pipe, ..shell(script) };
    let mut child = start(request).await;
    let mut stdin = child.take_stdin().expect("a pipe");
    assert!(child.take_stdin().is_none(), "there is one");
    stdin.write_all(b"hello\n").await.expect("written");
    drop(stdin);
    let (mut output, mut errors) = (String::new(), String::new());
    child.take_stdout().expect("a pipe").read_to_string(&mut output).await.expect("read");
    child.take_stderr().expect("a pipe").read_to_string(&mut errors).await.expect("read");
    assert_eq!((&*output, &*errors), ("hello\n", "clean\n/\n"));
    let ended = child.wait().await.expect("an end");
    assert_eq!((ended.exit, ended.descendants), (ChildExit::Exited { code: 3 }, 0));
    assert_eq!(child.ended(), Some(ended));
    child.signal(Signal::Kill).await.expect("nobody is signalled any more");
}

#[tokio::test]
async fn output_goes_into_a_file_of_the_host() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let stdout = ChildOutput::File(file.reopen().expect("a clone"));
    let mut child = start(SpawnRequest { stdout, ..shell("echo kept") }).await;
    assert!(child.take_stdout().is_none() && child.take_stderr().is_none());
    child.wait().await.expect("an end");
    assert_eq!(std::fs::read_to_string(file.path()).expect("text"), "kept\n");
}

#[tokio::test]
async fn a_signal_goes_to_the_whole_group_and_the_end_says_which() {
    let mut child = start(shell("sleep 1000 & echo $!; wait; sleep 1000")).await;
    let descendant = line(&mut BufReader::new(child.take_stdout().expect("a pipe"))).await;
    assert!(lives(descendant.parse().expect("a number")));
    child.signal(Signal::User1).await.expect("a signal");
    let ended = in_time("its end", child.wait()).await.expect("an end");
    assert_eq!(ended.exit, ChildExit::Signaled { signal: 10 });
    ends(&descendant).await;
}

#[tokio::test]
async fn a_group_that_hears_nothing_is_killed_also_where_nobody_waits_for_that() {
    let script =
        "trap '' TERM; sh -c 'echo $$; while :; do sleep 0.01; done' & wait; wait; while :; do sleep 0.01; done";
    let mut child = start(shell(script)).await;
    let descendant = line(&mut BufReader::new(child.take_stdout().expect("a pipe"))).await;
    // Polled once and given up.
    assert!(timeout(Duration::ZERO, child.kill_tree(Duration::from_millis(10))).await.is_err());
    let ended = in_time("its end", child.wait()).await.expect("an end");
    assert_eq!(ended.exit, ChildExit::Signaled { signal: 9 });
    ends(&descendant).await;
}

#[tokio::test]
async fn a_group_that_is_asked_politely_may_end_itself() {
    let mut child =
        start(SpawnRequest { stdin: ChildInput::Pipe, ..shell("trap 'exit 7' TERM; echo set; read x") }).await;
    assert_eq!(line(&mut BufReader::new(child.take_stdout().expect("a pipe"))).await, "set");
    let ended = in_time("its end", child.kill_tree(AMPLE)).await.expect("an end");
    assert_eq!(ended.exit, ChildExit::Exited { code: 7 });
}

#[tokio::test]
async fn what_a_program_leaves_in_its_group_ends_with_it() {
    let mut child = start(shell("sleep 1000 >&2 & echo $!; exit 5")).await;
    let descendant = line(&mut BufReader::new(child.take_stdout().expect("a pipe"))).await;
    assert_eq!(child.wait().await.expect("an end").exit, ChildExit::Exited { code: 5 });
    child.wait_for_tree().await;
    ends(&descendant).await;
}

#[tokio::test]
async fn dropping_a_child_ends_its_group() {
    let mut child = start(shell("sleep 1000 & echo $$ $!; wait")).await;
    let line = line(&mut BufReader::new(child.take_stdout().expect("a pipe"))).await;
    let (leader, descendant) = line.split_once(' ').expect("two numbers");
    assert_eq!(leader, child.pid().to_string());
    drop(child);
    ends(leader).await;
    ends(descendant).await;
}

#[tokio::test]
async fn what_only_a_supervisor_can_do_is_refused_in_words() {
    let spawner = Spawner::new();
    let refused = |request| async { spawner.spawn(request).await.expect_err("it is refused") };
    let contained = SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("exit") };
    let error = refused(contained).await;
    assert!(matches!(error, SpawnError::Uncontainable { required: false, .. }));
    assert!(error.to_string().contains("only Linux contains programs"), "{error}");
    let limits = ChildLimits { memory_bytes: Some(1 << 30), ..ChildLimits::default() };
    let error = refused(SpawnRequest { limits, ..shell("exit") }).await;
    assert!(matches!(error, SpawnError::Unsupported(_)) && error.to_string().contains("limits"), "{error}");
    assert!(matches!(refused(SpawnRequest { user: Some(7), ..shell("exit") }).await, SpawnError::User { user: 7 }));
    let null = || std::fs::File::open("/dev/null").expect("a file");
    let descriptors = vec![Descriptor { number: 3, file: null() }];
    assert!(matches!(refused(SpawnRequest { descriptors, ..shell("exit") }).await, SpawnError::Unsupported(_)));
    let stdin = ChildInput::Terminal(null());
    assert!(matches!(refused(SpawnRequest { stdin, ..shell("exit") }).await, SpawnError::Unsupported(_)));
    assert!(lock_down().is_err());
}

/// The request of a granted shell command in a workspace at this path.
async fn granted(workspace: &Path, require_containment: bool) -> SpawnRequest {
    let terminal = TerminalGrant { shell: true, require_containment, ..TerminalGrant::with_reason("a test") };
    let grants = Grants { terminal: Some(terminal), ..Grants::default() };
    let plugin = "p".parse().expect("legal");
    let granted = grants.terminal(&plugin).expect("granted");
    let request = policy::CommandRequest {
        command: granted.shell().expect("a shell"),
        arguments: &[],
        directory: "",
        environment: &[],
        terminal: "dumb",
        stand_in: None,
    };
    let place = ChildWorkspace { files: workspace.into(), home: workspace.into(), user: None, stay: None };
    let found = Spawner::new().capabilities().await.expect("an answer");
    let plan = policy::plan(&granted.children(), &place, &request, &found, &ProcessLimits::default()).expect("a plan");
    SpawnRequest {
        program: plan.program,
        // The shell is asked for what it has, not typed to.
        arguments: vec!["-c".into(), "echo $TERM; pwd; echo $HOME".into()],
        environment: plan.environment,
        working_directory: plan.directory,
        limits: plan.limits,
        containment: plan.containment,
        user: plan.user,
        ..shell("")
    }
}

#[tokio::test]
async fn a_grant_that_gives_containment_up_runs_its_programs_in_the_workspace_and_no_other_does() {
    let workspace = tempfile::tempdir().expect("a directory");
    let path = std::fs::canonicalize(workspace.path()).expect("a path");
    let mut child = start(granted(&path, false).await).await;
    let mut output = String::new();
    child.take_stdout().expect("a pipe").read_to_string(&mut output).await.expect("read");
    assert_eq!(output, format!("dumb\n{0}\n{0}\n", path.display()));
    let refused = Spawner::new().spawn(granted(&path, true).await).await.expect_err("nothing contains it");
    let told = refused.of_start("not started".into());
    assert_eq!(told.code, Code::Denied);
    assert!(told.message.contains("only Linux contains programs"), "{}", told.message);
    assert!(told.message.contains("`require_containment = false`"), "{}", told.message);
}

#[tokio::test]
async fn a_program_or_directory_that_is_not_there_is_named() {
    let spawner = Spawner::new();
    let refused = |request| async { spawner.spawn(request).await.expect_err("it is refused") };
    let absent = refused(SpawnRequest { program: "/no/such/program".into(), ..shell("") }).await;
    assert!(matches!(absent, SpawnError::Program { step: "run", path, .. } if path == Path::new("/no/such/program")));
    let nowhere = refused(SpawnRequest { working_directory: "/no/such/place".into(), ..shell("") }).await;
    assert!(matches!(nowhere, SpawnError::Program { step: "enter", path, .. } if path == Path::new("/no/such/place")));
    let relative = refused(SpawnRequest { program: "sh".into(), ..shell("") }).await;
    assert!(matches!(relative, SpawnError::Illegal { what: "the program", .. }));
}

#[tokio::test]
async fn the_machine_limits_nothing_and_no_grant_gives_up_what_the_operator_requires() {
    let found = Spawner::new().capabilities().await.expect("an answer");
    assert_eq!(found.process_limit, ProcessLimitScope::Nothing);
    assert!(found.settled && !found.namespaces_required);
    let spawner = Spawner::new().requiring_namespaces();
    assert!(spawner.capabilities().await.expect("an answer").namespaces_required);
    let contained = SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("exit") };
    let refused = spawner.spawn(contained).await.expect_err("nothing contains it");
    assert!(matches!(refused, SpawnError::Uncontainable { required: true, .. }));
}
