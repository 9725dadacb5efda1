//! Limits and users of children, and programs of the host that lock themselves down.

use std::{
    fs::File,
    io::Read as _,
    net::TcpListener,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::support::{self, output, shell, workspace::ContainedWorkspace};
use rustix::process::{getppid, getuid, test_kill_process};
use wharf_spawn::{
    ChildLimits, ChildOutput, Containment, ProcessLimitScope, Sandbox, SpawnError, SpawnRequest, Spawner,
};
use wharf_test_support::processes::parent;

#[tokio::test]
async fn memory_is_limited_and_reserved_addresses_are_not() {
    let spawner = Spawner::new();
    let limits = ChildLimits { memory_bytes: Some(64 << 20), ..ChildLimits::default() };
    let used =
        |megabytes: u32| format!("perl -e '$x = \"x\" x ({megabytes} << 20); print length $x' 2>/dev/null; true");
    let said = output(&spawner, SpawnRequest { limits, ..shell(&used(10)) }).await;
    assert_eq!(said, (10 << 20).to_string());
    assert_eq!(output(&spawner, SpawnRequest { limits, ..shell(&used(200)) }).await, "");
    assert_eq!(output(&spawner, SpawnRequest { limits, ..shell("ulimit -v") }).await, "unlimited\n");
}

#[tokio::test]
async fn bounds_that_cannot_be_set_are_said_and_the_child_does_not_start() {
    let spawner = Spawner::new();
    let found = spawner.capabilities().await.expect("an answer");
    if found.process_limit != ProcessLimitScope::Tree || !found.another_user {
        support::note("NOT TESTED: no control group bounds processes here");
        return;
    }
    let child = spawner.spawn(shell("exec sleep 1000")).await.expect("a child");
    let root = parent(parent(child.pid()));
    // More than the system has numbers for.
    let limits = ChildLimits { processes: Some(u64::MAX), ..ChildLimits::default() };
    for containment in [Containment::None, Containment::Required(Sandbox::default())] {
        let error = spawner.spawn(SpawnRequest { limits, containment, ..shell("true") }).await.expect_err("no group");
        let SpawnError::Bounds(source) = &error else { panic!("{error}") };
        assert!(source.raw_os_error().is_some_and(|code| code == 22 || code == 34), "{source}");
        assert_eq!(groups_of(root), 0, "none is left");
    }
}

/// The number of groups of this root of supervisors.
fn groups_of(root: u32) -> usize {
    let entries = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].iter().flat_map(std::fs::read_dir).flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("wharf-{root}-"))).count()
}

#[tokio::test]
async fn a_child_is_the_user_it_was_to_be_and_no_other() {
    let spawner = Spawner::new();
    let request = || SpawnRequest {
        user: Some(65534),
        ..shell("id -u; id -g; id -G; grep CapEff /proc/self/status; echo open > /dev/stderr")
    };
    if !getuid().is_root() {
        let refused = spawner.spawn(request()).await.expect_err("only root can");
        assert!(matches!(refused, SpawnError::User { user: 65534 }), "{refused}");
        return;
    }
    let expected = "65534\n65534\n65534\nCapEff:\t0000000000000000\n";
    assert_eq!(output(&spawner, request()).await, expected);
    for place in ContainedWorkspace::all().await.into_iter().filter(|place| place.user.is_some()) {
        let said = place.run("id -u; id -g; id -G; grep CapEff /proc/$$/status; stat -c %u .").await;
        assert!(said.starts_with("65534\n65534\n65534\n") && said.ends_with("\n65534\n"), "{}: {said}", place.name());
    }
}

#[tokio::test]
async fn who_lives_on_is_told_within_a_tenth_of_a_second_after_the_end() {
    let spawner = Spawner::new();
    let mut quickest = Duration::MAX;
    // A busy machine may make any of them late, and hardly all.
    for _ in 0..10 {
        let script = "sleep 1000 & setsid sleep 1000 & exec date +%s%N";
        let request = SpawnRequest { stdout: ChildOutput::Pipe, ..shell(script) };
        let mut child = spawner.spawn(request).await.expect("a child");
        let ended = child.wait().await.expect("its end");
        let told = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
        assert_eq!(ended.descendants, 2);
        let mut line = String::new();
        let mut stdout = tokio::io::BufReader::new(child.take_stdout().expect("a pipe"));
        tokio::io::AsyncBufReadExt::read_line(&mut stdout, &mut line).await.expect("a line");
        let said = Duration::from_nanos(line.trim().parse().expect("a time"));
        quickest = quickest.min(told.saturating_sub(said));
        child.kill_tree(Duration::ZERO).await.expect("its end");
    }
    assert!(quickest < Duration::from_millis(100), "{quickest:?}");
}

#[test]
fn a_program_that_is_locked_down_computes_and_does_nothing_else() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("itself"));
    let ended =
        command.args(["--exact", "limits::locked_down"]).env("WHARF_TEST_LOCKED_DOWN", "1").output().expect("a run");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn no_contained_child_has_a_capability_whoever_it_is() {
    let effective = "perl -e '$h = pack(\"LL\", 0x20080522, 0); $d = \"\\0\" x 24; syscall(125, $h, $d); print join(\" \", unpack(\"L*\", $d))'";
    for place in ContainedWorkspace::all().await {
        assert_eq!(place.run(effective).await, "0 0 0 0 0 0", "{}", place.name());
        assert_eq!(place.run(&format!("exec {effective}")).await, "0 0 0 0 0 0", "{}", place.name());
    }
}

/// Locks itself down; does nothing when the tests run.
#[test]
fn locked_down() {
    if std::env::var_os("WHARF_TEST_LOCKED_DOWN").is_none() {
        return;
    }
    let mut open = File::open("/etc/passwd").expect("a file");
    let parent = getppid().expect("a parent");
    test_kill_process(parent).expect("it is there");
    let (start, started) = std::sync::mpsc::channel::<()>();
    let earlier = std::thread::spawn(move || {
        started.recv().expect("a start");
        File::open("/etc/group").is_err()
    });
    wharf_spawn::lock_down().expect("a lock");
    start.send(()).expect("a thread");
    assert!(earlier.join().expect("an end"), "threads that there were are locked down, too");
    let refused = |error: std::io::Error| {
        assert_eq!(error.raw_os_error().map(|code| code == 1 || code == 13), Some(true), "{error}")
    };
    refused(File::open("/etc/passwd").expect_err("a file"));
    refused(File::create("/tmp/wharf-forged").expect_err("a file"));
    refused(std::fs::remove_file("/tmp/wharf-forged").expect_err("a file"));
    refused(TcpListener::bind("127.0.0.1:0").expect_err("a socket"));
    refused(std::os::unix::net::UnixDatagram::unbound().expect_err("a socket"));
    refused(std::process::Command::new("/bin/true").status().expect_err("a program"));
    refused(test_kill_process(parent).expect_err("a signal").into());
    let mut text = String::new();
    open.read_to_string(&mut text).expect("what was open stays open");
    assert!(text.contains("root"));
    assert_eq!(std::thread::spawn(|| (1..=10).sum::<u32>()).join().expect("a thread"), 55);
}
