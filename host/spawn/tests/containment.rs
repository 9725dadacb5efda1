//! What a contained program cannot do: each test is an attempt to escape.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that cannot run says so")]

mod support;

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::symlink,
            net::{SocketAddr, UnixListener},
        },
    },
    time::Duration,
};

use support::{Watched, lives, output, shell, until};
use tempfile::TempDir;
use wharf_spawn::{Containment, Exit, Output, Sandbox, Signal, SpawnRequest, Spawner};

/// A workspace, and beside it what must stay out of reach.
struct Place {
    spawner: Spawner,
    directory: TempDir,
}

impl Place {
    /// None where this machine cannot contain anything; that such a machine
    /// refuses is tested apart.
    async fn open() -> Option<Self> {
        let spawner = Spawner::open().await.expect("a spawner");
        if let Err(why) = &spawner.capabilities().bubblewrap {
            eprintln!("NOT TESTED: bubblewrap does not work here: {why}");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("workspace")).expect("a directory");
        fs::write(directory.path().join("secret"), "the secret").expect("a file");
        Some(Self { spawner, directory })
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("UTF-8").into()
    }

    fn request(&self, script: &str) -> SpawnRequest {
        let workspace = self.directory.path().join("workspace");
        let sandbox = Sandbox { writable: vec![workspace.clone()], ..Sandbox::default() };
        SpawnRequest { working_directory: workspace, containment: Containment::Required(sandbox), ..shell(script) }
    }

    /// What a contained script writes; errors, too.
    async fn run(&self, script: &str) -> String {
        output(&self.spawner, self.request(&format!("exec 2>&1; {script}"))).await
    }
}

#[tokio::test]
async fn the_workspace_is_read_and_written() {
    let Some(place) = Place::open().await else { return };
    fs::write(place.path("workspace/given"), "given").expect("a file");
    assert_eq!(place.run("cat given; echo made > made").await, "given");
    assert_eq!(fs::read_to_string(place.path("workspace/made")).expect("a file"), "made\n");
}

#[tokio::test]
async fn how_a_contained_program_ends_is_told_exactly() {
    let Some(place) = Place::open().await else { return };
    let child = place.spawner.spawn(place.request("exit 137")).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, Exit::Exited { code: 137 });
    let child = place.spawner.spawn(place.request("exec sleep 1000")).await.expect("a child");
    child.signal(Signal::Terminate).await.expect("a signal");
    assert_eq!(child.wait().await.expect("its end").exit, Exit::Signaled { signal: 15 });
    let request = SpawnRequest { program: "/no/such/program".into(), ..place.request("") };
    let error = place.spawner.spawn(request).await.expect_err("no such program");
    assert_eq!(error.to_string(), "cannot run /no/such/program");
}

#[tokio::test]
async fn files_outside_cannot_be_read() {
    let Some(place) = Place::open().await else { return };
    symlink(place.path("secret"), place.path("workspace/link")).expect("a link");
    for path in
        [&place.path("secret"), "../secret", "link", "/proc/1/cwd/../secret", "/etc/shadow", "/var/lib/dpkg/status"]
    {
        let said = place.run(&format!("cat {path}")).await;
        assert!(said.contains("No such file") || said.contains("denied"), "{path}: {said}");
    }
    let outside = place.path("secret");
    let said = place.run(&format!("cat /proc/1/root{outside} /proc/1/cwd{outside} /proc/self/fd/*/..{outside}")).await;
    assert!(!said.contains("the secret"), "{said}");
}

#[tokio::test]
async fn files_outside_cannot_be_written() {
    let Some(place) = Place::open().await else { return };
    // Opening shows it; writing would change this machine if it succeeded.
    let paths = [
        "/usr/bin/forged",
        "/etc/forged",
        "/etc/passwd",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/proc/irq/default_smp_affinity",
    ];
    for path in paths {
        let said = place.run(&format!(": >> {path}; echo went on")).await;
        assert!(said.contains("cannot create"), "{path}: {said}");
    }
    let (secret, beside) = (place.path("secret"), place.path("beside"));
    place.run(&format!("mkdir -p $(dirname {secret}); echo forged > {secret}; echo forged > {beside}")).await;
    assert_eq!(fs::read_to_string(&secret).expect("a file"), "the secret");
    assert!(!fs::exists(&beside).expect("an answer"));
    // The private directory is writable and leaves nothing outside.
    let name = format!("/tmp/wharf-forged-{}", std::process::id());
    place.run(&format!("echo forged > {name}")).await;
    assert!(!fs::exists(&name).expect("an answer"));
}

#[tokio::test]
async fn the_memory_of_the_machine_cannot_be_filled_with_files() {
    let Some(place) = Place::open().await else { return };
    for path in ["/forged", "/dev/forged", "/run/forged"] {
        assert!(!place.run(&format!("echo forged > {path}; cat {path}")).await.contains("forged\n"), "{path}");
    }
    let said = place.run("df --output=size -B1 /tmp /var/tmp /dev/shm").await;
    assert_eq!(said.lines().skip(1).map(str::trim).collect::<Vec<_>>(), ["536870912"; 3], "{said}");
}

#[tokio::test]
async fn where_nothing_can_contain_a_program_it_is_refused_with_what_is_missing() {
    let Some(place) = Place::open().await else { return };
    // A machine without bubblewrap: this one, with something else in its place.
    let mut hidden = std::process::Command::new("/usr/bin/bwrap");
    hidden.args(["--dev-bind", "/", "/", "--dev-bind", "/dev/null", "/usr/bin/bwrap", "--chdir", &place.path("")]);
    hidden.arg(std::env::current_exe().expect("itself")).args(["--exact", "uncontainable"]);
    let ended = hidden.env("WHARF_TEST_UNCONTAINABLE", "1").output().expect("a run");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

/// What a host finds on a machine without bubblewrap; does nothing when the
/// tests are run.
#[tokio::test]
async fn uncontainable() {
    if std::env::var_os("WHARF_TEST_UNCONTAINABLE").is_none() {
        return;
    }
    let spawner = Spawner::open().await.expect("a spawner");
    let request = SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("true") };
    let refused = spawner.spawn(request).await.expect_err("nothing runs uncontained by itself");
    let expected =
        "the program cannot be contained on this machine: bubblewrap (the program `bwrap`) is not installed;";
    assert!(refused.to_string().starts_with(expected), "{refused}");
    assert_eq!(output(&spawner, shell("echo open")).await, "open\n", "without containment it runs");
}

#[tokio::test]
async fn mounts_cannot_be_changed() {
    let Some(place) = Place::open().await else { return };
    let said = place.run("mount -o remount,rw /usr && echo escaped; mount -t tmpfs none /usr && echo escaped; umount -l /proc && echo escaped").await;
    assert!(!said.contains("escaped"), "{said}");
}

#[tokio::test]
async fn no_other_process_is_seen_or_signalled() {
    let Some(place) = Place::open().await else { return };
    let host = std::process::id();
    let said = place.run(&format!("kill -0 {host} && echo reached; ls /proc | grep -c '^[0-9]'")).await;
    assert!(!said.contains("reached"), "{said}");
    // The supervisor, the shell, `ls` and `grep`.
    let seen: u32 = said.lines().last().and_then(|line| line.trim().parse().ok()).expect("a number");
    assert!(seen <= 5, "{said}");
}

#[tokio::test]
async fn the_supervisor_inside_can_be_neither_killed_nor_looked_into() {
    let Some(place) = Place::open().await else { return };
    let said = place.run("kill -KILL 1; kill -STOP 1; kill -TERM 1; ls /proc/1/fd; cat /proc/1/environ /proc/1/mem | wc -c; echo alive").await;
    assert!(said.ends_with("0\nalive\n"), "{said}");
    let child = place.spawner.spawn(place.request("kill -STOP 1; kill -KILL 1; exit 6")).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, Exit::Exited { code: 6 });
}

#[tokio::test]
async fn sockets_of_the_host_are_out_of_reach() {
    let Some(place) = Place::open().await else { return };
    let path = place.path("socket");
    let _by_path = UnixListener::bind(&path).expect("a socket");
    let name = format!("wharf-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _by_name = UnixListener::bind_addr(&address).expect("a socket");
    let network = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let port = network.local_addr().expect("an address").port();
    let attempt = format!(
        "perl -MSocket -e '
            socket(A, AF_UNIX, SOCK_STREAM, 0); print connect(A, pack_sockaddr_un(\"{path}\")) ? \"reached\" : \"no\", \"\\n\";
            socket(B, AF_UNIX, SOCK_STREAM, 0); print connect(B, pack_sockaddr_un(\"\\0{name}\")) ? \"reached\" : \"no\", \"\\n\";
            socket(C, AF_INET, SOCK_STREAM, 0); print connect(C, sockaddr_in({port}, INADDR_LOOPBACK)) ? \"reached\" : \"no\", \"\\n\";'"
    );
    assert_eq!(place.run(&attempt).await, "no\nno\nno\n");
    // The attempt itself is right: without containment it gets through.
    assert_eq!(output(&place.spawner, shell(&attempt)).await, "reached\nreached\nreached\n");
}

#[tokio::test]
async fn a_test_server_works_on_a_loopback_of_its_own() {
    let Some(place) = Place::open().await else { return };
    let script = "perl -MSocket -e '
        socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(4000, INADDR_LOOPBACK)) or die $!; listen(S, 1);
        socket(C, AF_INET, SOCK_STREAM, 0); print connect(C, sockaddr_in(4000, INADDR_LOOPBACK)) ? \"reached\" : \"no\";'";
    assert_eq!(place.run(script).await, "reached");
}

#[tokio::test]
async fn the_environment_inside_is_exactly_what_was_given() {
    let Some(place) = Place::open().await else { return };
    let environment = vec![("ONE".into(), "1".into())];
    let request = SpawnRequest { program: "/usr/bin/env".into(), arguments: vec![], environment, ..place.request("") };
    assert_eq!(output(&place.spawner, request).await, "ONE=1\n");
    assert_eq!(place.run("ls /proc/self/fd | wc -l").await.trim(), "4");
}

#[tokio::test]
async fn a_contained_tree_ends_with_its_child() {
    let Some(place) = Place::open().await else { return };
    let request =
        SpawnRequest { stdout: Output::Null, ..place.request("trap '' TERM; setsid sleep 1000 & exec sleep 1000") };
    let child = place.spawner.spawn(request).await.expect("a child");
    let watched = Watched::tree_of(&child).await;
    assert_eq!(child.descendants().await.expect("a count"), 1);
    let ended = child.kill_tree(Duration::from_millis(100)).await.expect("its end");
    assert!(matches!(ended.exit, Exit::Signaled { .. }));
    watched.end().await;
}

#[tokio::test]
async fn nothing_contained_lives_on_after_its_host() {
    if Place::open().await.is_none() {
        return;
    }
    let mut host = support::play_host();
    let pids = support::numbers_said_by(&mut host, 3);
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?} are to live at first");
    host.kill().expect("a kill");
    let killed = std::time::Instant::now();
    host.wait().expect("its end");
    until("the tree is gone", || !pids.iter().any(|pid| lives(*pid))).await;
    assert!(killed.elapsed() < Duration::from_secs(2), "it took {:?}", killed.elapsed());
}

/// Plays a host that is to be killed; does nothing when the tests are run.
#[tokio::test]
async fn host() {
    if !support::is_host() {
        return;
    }
    let place = Place::open().await.expect("containment");
    let request = place.request("trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' & while :; do sleep 1000; done");
    let child = place.spawner.spawn(request).await.expect("a child");
    for pid in support::tree_of(&child, 3).await {
        support::say(pid);
    }
    let _ = child.wait().await;
}
