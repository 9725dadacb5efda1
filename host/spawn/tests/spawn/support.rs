//! Requests, processes and hosts for all tests of children.

pub(crate) mod workspace;

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt as _;
use wharf_spawn::{Child, ChildInput, ChildLimits, ChildOutput, Containment, SpawnRequest, Spawner};
use wharf_test_support::{
    processes::{below, lives, parent},
    soon_once, until,
};

const ROLE: &str = "WHARF_TEST_HOST";
/// A request that runs this script, uncontained.
pub(crate) fn shell(script: &str) -> SpawnRequest {
    SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        working_directory: "/".into(),
        stdin: ChildInput::Null,
        stdout: ChildOutput::Null,
        stderr: ChildOutput::Null,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    }
}

/// All that a child writes to standard output.
pub(crate) async fn output(spawner: &Spawner, request: SpawnRequest) -> String {
    output_and_preparation(spawner, request).await.0
}

/// The same, and whether the child took a prepared sandbox.
pub(crate) async fn output_and_preparation(spawner: &Spawner, mut request: SpawnRequest) -> (String, bool) {
    request.stdout = ChildOutput::Pipe;
    let mut child = spawner.spawn(request).await.expect("a child");
    let mut text = String::new();
    child.take_stdout().expect("a pipe").read_to_string(&mut text).await.expect("output");
    child.wait().await.expect("its end");
    (text, child.used_prepared_sandbox())
}

/// Kills a process, which may have ended already.
pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => panic!("{error}"),
    }
}

/// All processes below a child's supervisor, once there are `count`.
pub(crate) async fn tree_of(child: &Child, count: usize) -> Vec<u32> {
    let supervisor = parent(child.pid());
    until("all have started", || below(supervisor).len() >= count).await;
    below(supervisor)
}

/// Writes a number for the test that started this process as a host.
pub(crate) fn say(number: u32) {
    rustix::io::write(rustix::stdio::stderr(), format!("{number}\n").as_bytes()).expect("a listener");
}

/// The processes of a tree with one descendant, to see them end.
pub(crate) struct WatchedTree(Vec<u32>);

impl WatchedTree {
    pub(crate) async fn tree_of(child: &Child) -> Self {
        Self(tree_of(child, 2).await)
    }

    pub(crate) async fn end(self) {
        until("the tree is gone", || !self.0.iter().any(|pid| lives(*pid))).await;
    }
}

/// Runs a test that plays a host in a process of its own.
pub(crate) fn play_host(test: &str) -> std::process::Child {
    play_host_number(test, 0)
}

/// The same with a number, which the test reads by [`host_number`].
pub(crate) fn play_host_number(test: &str, number: usize) -> std::process::Child {
    let mut command = Command::new(env::current_exe().expect("itself"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, number.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.spawn().expect("a host")
}

pub(crate) fn is_host() -> bool {
    env::var_os(ROLE).is_some()
}

pub(crate) fn host_number() -> usize {
    env::var(ROLE).ok().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Kills a host that has said so many processes live, and sees them end. Two seconds is the promise.
pub(crate) async fn nothing_outlives(play: impl Fn() -> std::process::Child, count: usize) {
    soon_once("nothing lives on after its host", async || {
        let mut host = play();
        let pids = numbers_said_by(&mut host, count);
        assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?} are to live at first");
        host.kill().expect("a kill");
        let killed = Instant::now();
        host.wait().expect("its end");
        until("all of them are gone", || !pids.iter().any(|pid| lives(*pid))).await;
        let took = killed.elapsed();
        if took < Duration::from_secs(2) { Ok(()) } else { Err(took) }
    })
    .await;
}

/// The first numbers that a host writes, each on a line.
fn numbers_said_by(host: &mut std::process::Child, count: usize) -> Vec<u32> {
    let lines = BufReader::new(host.stderr.take().expect("piped")).lines();
    lines.map_while(Result::ok).filter_map(|line| line.trim().parse().ok()).take(count).collect()
}

/// Prints a note for the person who runs the tests.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// Runs a test of this program, which does nothing without the variable, on another machine.
pub(crate) fn passes_on(machine: &str, test: &str, variable: &str) {
    let mut run = std::process::Command::new("sh");
    run.args(["-c", machine, "sh"]).arg(std::env::current_exe().expect("itself")).args(["--exact", test]);
    let ended = run.env(variable, "1").output().expect("a run");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}
