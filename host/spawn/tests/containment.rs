//! What a contained program can do, how its end is told, and when it is refused.
//! What it cannot do is in the files named `escape`.

#![cfg(target_os = "linux")]

mod support;

use std::{
    fs,
    io::{Seek as _, Write as _},
    time::Duration,
};

use support::{Watched, lives, output, place::Place, shell, until};
use wharf_spawn::{
    Bind, Contained, Containment, Descriptor, Exit, Output, Sandbox, Signal, SpawnError, SpawnRequest, Spawner,
};

#[tokio::test]
async fn the_workspace_is_read_and_written() {
    for place in Place::all().await {
        fs::write(place.path("workspace/given"), "given").expect("a file");
        assert_eq!(place.run("cat given; echo made > made").await, "given");
        assert_eq!(fs::read_to_string(place.path("workspace/made")).expect("a file"), "made\n");
    }
}

#[tokio::test]
async fn programs_and_pipes_work() {
    for place in Place::all().await {
        let said = place.run("(echo b; echo a) | sort; bash -c 'cat <(echo c)'; perl -e 'print \"d\n\"'; echo e > /dev/stderr; date +%Z").await;
        assert_eq!(said, "a\nb\nc\nd\ne\nUTC\n", "{}", place.name());
    }
}

#[tokio::test]
async fn descriptors_reach_a_contained_program() {
    for place in Place::all().await {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"given").expect("a write");
        file.rewind().expect("the beginning");
        let descriptors = vec![Descriptor { number: 3, file }];
        let said = output(&place.spawner, SpawnRequest { descriptors, ..place.request("cat <&3") }).await;
        assert_eq!(said, "given", "{}", place.name());
    }
}

#[tokio::test]
async fn a_bind_is_shown_where_it_was_said_or_refused() {
    for place in Place::all().await {
        let bind = Bind { source: place.path("workspace").into(), target: "/work".into() };
        let sandbox = Sandbox { writable: vec![bind], ..Sandbox::default() };
        let request = SpawnRequest {
            working_directory: "/work".into(),
            containment: Containment::Required(sandbox),
            ..place.request("pwd; echo made > made")
        };
        if place.contained == Contained::Landlock {
            let refused = place.spawner.spawn(request).await.expect_err("Landlock moves nothing");
            assert!(matches!(refused, SpawnError::Moved { .. }), "{refused}");
        } else {
            assert_eq!(output(&place.spawner, request).await, "/work\n");
            assert_eq!(fs::read_to_string(place.path("workspace/made")).expect("a file"), "made\n");
        }
    }
}

#[tokio::test]
async fn how_a_contained_program_ends_is_told_exactly() {
    for place in Place::all().await {
        let child = place.spawner.spawn(place.request("exit 137")).await.expect("a child");
        assert_eq!(child.wait().await.expect("its end").exit, Exit::Exited { code: 137 });
        let child = place.spawner.spawn(place.request("exec sleep 1000")).await.expect("a child");
        child.signal(Signal::Terminate).await.expect("a signal");
        assert_eq!(child.wait().await.expect("its end").exit, Exit::Signaled { signal: 15 });
        let request = SpawnRequest { program: "/no/such/program".into(), ..place.request("") };
        let error = place.spawner.spawn(request).await.expect_err("no such program");
        assert_eq!(error.to_string(), "cannot run /no/such/program");
    }
}

#[tokio::test]
async fn where_nothing_can_contain_a_program_it_is_refused_with_what_is_missing() {
    let spawner = Spawner::with(Contained::Bubblewrap);
    if spawner.capabilities().await.expect("an answer").containment.is_err() {
        return;
    }
    // A machine without bubblewrap: this one, with something else in its place.
    let mut hidden = std::process::Command::new("/usr/bin/bwrap");
    hidden.args(["--dev-bind", "/", "/", "--dev-bind", "/dev/null", "/usr/bin/bwrap"]);
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
    let spawner = Spawner::with(Contained::Bubblewrap);
    let request = SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("true") };
    let refused = spawner.spawn(request).await.expect_err("nothing runs uncontained by itself");
    let expected =
        "the program cannot be contained on this machine: bubblewrap (the program `bwrap`) is not installed;";
    assert!(refused.to_string().starts_with(expected), "{refused}");
    assert_eq!(output(&spawner, shell("echo open")).await, "open\n", "without containment it runs");
    // Where there is another way, that one is taken.
    let found = Spawner::new().capabilities().await.expect("an answer");
    if found.landlock.is_ok() {
        assert_eq!(found.containment, Ok(Contained::Landlock));
    }
}

/// Compiles, links and runs a program, as far as that goes.
const BUILD: &str = "export TMPDIR=$PWD; echo 'int main(void) { return 42; }' > p.c && cc -o p p.c && ./p; echo $?";

#[tokio::test]
async fn a_program_is_built_and_run() {
    if output(&Spawner::new(), shell("command -v cc")).await.is_empty() {
        support::note("NOT TESTED: no compiler is installed");
        return;
    }
    for place in Place::all().await {
        let said = place.run(BUILD).await;
        if place.contained == Contained::Bubblewrap || place.user.is_some() {
            assert_eq!(said, "42\n", "{}", place.name());
            let script =
                "echo 'exit 7' > s; chmod +x s; ./s; echo $?; chmod 600 s; touch -d 2001-02-03 s; stat -c '%a %y' s";
            let said = place.run(script).await;
            assert_eq!(said, "7\n600 2001-02-03 00:00:00.000000000 +0000\n", "{}", place.name());
        } else {
            // The host's own user owns more than the workspace, so what may run
            // stays as it was made.
            assert!(said.ends_with("Permission denied\n126\n"), "{}: {said}", place.name());
        }
    }
}

#[tokio::test]
async fn a_contained_tree_ends_with_its_child() {
    for place in Place::all().await {
        let request =
            SpawnRequest { stdout: Output::Null, ..place.request("trap '' TERM; setsid sleep 1000 & exec sleep 1000") };
        let child = place.spawner.spawn(request).await.expect("a child");
        let watched = Watched::tree_of(&child).await;
        assert_eq!(child.descendants().await.expect("a count"), 1);
        let ended = child.kill_tree(Duration::from_millis(100)).await.expect("its end");
        assert!(matches!(ended.exit, Exit::Signaled { .. }));
        watched.end().await;
    }
}

#[tokio::test]
async fn nothing_contained_lives_on_after_its_host() {
    for (number, _) in Place::all().await.iter().enumerate() {
        let mut host = support::play_host_number(number);
        let pids = support::numbers_said_by(&mut host, 3);
        assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?} are to live at first");
        host.kill().expect("a kill");
        let killed = std::time::Instant::now();
        host.wait().expect("its end");
        until("the tree is gone", || !pids.iter().any(|pid| lives(*pid))).await;
        assert!(killed.elapsed() < Duration::from_secs(2), "it took {:?}", killed.elapsed());
    }
}

/// Plays a host that is to be killed; does nothing when the tests are run.
#[tokio::test]
async fn host() {
    if !support::is_host() {
        return;
    }
    let place = Place::all().await.into_iter().nth(support::host_number()).expect("containment");
    let request = place.request("trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' & while :; do sleep 1000; done");
    let child = place.spawner.spawn(request).await.expect("a child");
    for pid in support::tree_of(&child, 3).await {
        support::say(pid);
    }
    let _ = child.wait().await;
}

#[tokio::test]
async fn users_and_groups_in_bubblewrap_have_names_of_their_own() {
    for place in Place::all_in_bubblewrap().await {
        let name = match place.user.unwrap_or_else(|| rustix::process::getuid().as_raw()) {
            0 => "root",
            65534 => "nobody",
            _ => "wharf",
        };
        let script = "whoami; id -un; perl -e 'print +(getpwuid($<))[7], \"\n\"'; cut -d: -f1 /etc/passwd | sort";
        let mut request = place.request(script);
        let home = request.working_directory.join("home");
        request.environment.push(("HOME".into(), home.clone().into()));
        let said = output(&place.spawner, request).await;
        let users = if name == "wharf" { "nobody\nroot\nwharf\n" } else { "nobody\nroot\n" };
        assert_eq!(said, format!("{name}\n{name}\n{}\n{users}", home.display()), "{}", place.name());
        assert_eq!(place.run("perl -e 'print +(getpwuid($<))[7]'").await, "/", "{}", place.name());
        if place.user.is_some() {
            let request = SpawnRequest {
                user: Some(61234),
                working_directory: "/".into(),
                ..place.request("id; wc -l < /etc/group")
            };
            let expected = "uid=61234(wharf) gid=61234(wharf) groups=61234(wharf)\n3\n";
            assert_eq!(output(&place.spawner, request).await, expected);
        }
    }
}
