//! Contained programs: their abilities, their end, and their refusal.
//! The files named `escape` test what they cannot do.

use std::{
    fs,
    io::{self, Seek as _, Write as _},
    os::unix::fs::{PermissionsExt as _, chown},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use crate::support::{self, WatchedTree, output, shell, workspace::ContainedWorkspace};
use wharf_spawn::{
    Bind, ChildExit, ChildOutput, ChildWorkspace, Containment, Descriptor, ProbeWorkspace, Sandbox, SandboxMechanism,
    Signal, SpawnError, SpawnRequest, Spawner,
};
use wharf_test_support::{machine, until_async};

#[tokio::test]
async fn the_workspace_is_read_and_written() {
    for place in ContainedWorkspace::all().await {
        fs::write(place.path("workspace/given"), "given").expect("a file");
        assert_eq!(place.run("cat given; echo made > made").await, "given");
        assert_eq!(fs::read_to_string(place.path("workspace/made")).expect("a file"), "made\n");
    }
}

#[tokio::test]
async fn programs_and_pipes_work() {
    for place in ContainedWorkspace::all().await {
        let said = place.run("(echo b; echo a) | sort; bash -c 'cat <(echo c)'; perl -e 'print \"d\n\"'; echo e > /dev/stderr; date +%Z").await;
        assert_eq!(said, "a\nb\nc\nd\ne\nUTC\n", "{}", place.name());
    }
}

#[tokio::test]
async fn descriptors_reach_a_contained_program() {
    for place in ContainedWorkspace::all().await {
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
    for place in ContainedWorkspace::all().await {
        let bind = Bind { source: place.path("workspace").into(), target: "/work".into() };
        let sandbox = Sandbox { writable: vec![bind], ..Sandbox::default() };
        let request = SpawnRequest {
            working_directory: "/work".into(),
            containment: Containment::Required(sandbox),
            ..place.request("pwd; echo made > made")
        };
        if place.contained == SandboxMechanism::Landlock {
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
    for place in ContainedWorkspace::all().await {
        let child = place.spawner.spawn(place.request("exit 137")).await.expect("a child");
        assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: 137 });
        let child = place.spawner.spawn(place.request("exec sleep 1000")).await.expect("a child");
        child.signal(Signal::Terminate).await.expect("a signal");
        assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 15 });
        let request = SpawnRequest { program: "/no/such/program".into(), ..place.request("") };
        let error = place.spawner.spawn(request).await.expect_err("no such program");
        assert_eq!(error.to_string(), "cannot run /no/such/program");
    }
}

#[tokio::test]
async fn where_nothing_can_contain_a_program_it_is_refused_with_what_is_missing() {
    let spawner = Spawner::with(SandboxMechanism::Namespaces);
    if spawner.capabilities().await.expect("an answer").containment.is_err() {
        return;
    }
    let Some(machine) = machine::without_namespaces() else { return };
    support::passes_on(&machine, "containment::uncontainable", "WHARF_TEST_UNCONTAINABLE");
}

/// A host on a machine that makes no namespaces; does nothing when the tests run.
#[tokio::test]
async fn uncontainable() {
    if std::env::var_os("WHARF_TEST_UNCONTAINABLE").is_none() {
        return;
    }
    let spawner = Spawner::with(SandboxMechanism::Namespaces);
    let request = SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("true") };
    let refused = spawner.spawn(request).await.expect_err("nothing runs uncontained by itself");
    let expected = "the program cannot be contained on this machine: a sandbox of namespaces does not work here: \
                    the sandbox could not be set up: the system makes no namespaces: ";
    assert!(refused.to_string().starts_with(expected), "{refused}");
    assert_eq!(output(&spawner, shell("echo open")).await, "open\n", "without containment it runs");
    // Another mechanism takes its place, where there is one.
    let found = Spawner::new().capabilities().await.expect("an answer");
    if found.landlock.is_ok() {
        assert_eq!(found.containment, Ok(SandboxMechanism::Landlock));
    }
}

/// Compiles, links and runs a program, as far as the containment allows.
const BUILD: &str = "export TMPDIR=$PWD; echo 'int main(void) { return 42; }' > p.c && cc -o p p.c && ./p; echo $?";

#[tokio::test]
async fn a_program_is_built_and_run() {
    if output(&Spawner::new(), shell("command -v cc")).await.is_empty() {
        support::note("NOT TESTED: no compiler is installed");
        return;
    }
    for place in ContainedWorkspace::all().await {
        let said = place.run(BUILD).await;
        if place.contained == SandboxMechanism::Namespaces || place.user.is_some() {
            assert_eq!(said, "42\n", "{}", place.name());
            let script =
                "echo 'exit 7' > s; chmod +x s; ./s; echo $?; chmod 600 s; touch -d 2001-02-03 s; stat -c '%a %y' s";
            let said = place.run(script).await;
            assert_eq!(said, "7\n600 2001-02-03 00:00:00.000000000 +0000\n", "{}", place.name());
        } else {
            // The host's own user owns more than the workspace, so a child cannot make a
            // file executable.
            assert!(said.ends_with("Permission denied\n126\n"), "{}: {said}", place.name());
        }
    }
}

#[tokio::test]
async fn a_contained_tree_ends_with_its_child() {
    for place in ContainedWorkspace::all().await {
        let request = SpawnRequest {
            stdout: ChildOutput::Null,
            ..place.request("trap '' TERM; setsid sleep 1000 & exec sleep 1000")
        };
        let child = place.spawner.spawn(request).await.expect("a child");
        let watched = WatchedTree::tree_of(&child).await;
        assert_eq!(child.descendants().await.expect("a count"), 1);
        let ended = child.kill_tree(Duration::from_millis(100)).await.expect("its end");
        assert!(matches!(ended.exit, ChildExit::Signaled { .. }));
        watched.end().await;
    }
}

#[tokio::test]
async fn nothing_contained_lives_on_after_its_host() {
    for (number, _) in ContainedWorkspace::all().await.iter().enumerate() {
        support::nothing_outlives(|| support::play_host_number("containment::host", number), 3).await;
    }
}

/// Plays a host that is to be killed; does nothing when the tests run.
#[tokio::test]
async fn host() {
    if !support::is_host() {
        return;
    }
    let place = ContainedWorkspace::all().await.into_iter().nth(support::host_number()).expect("containment");
    let request = place.request("trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' & while :; do sleep 1000; done");
    let child = place.spawner.spawn(request).await.expect("a child");
    for pid in support::tree_of(&child, 3).await {
        support::say(pid);
    }
    let _ = child.wait().await;
}

#[tokio::test]
async fn users_and_groups_in_namespaces_have_names_of_their_own() {
    for place in ContainedWorkspace::all_in_namespaces().await {
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

/// Directories as a host that is root makes them for a session: every directory above
/// `place` is closed to its user.
fn session_place() -> (tempfile::TempDir, ChildWorkspace) {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).expect("a mode");
    let place = directory.path().join("place");
    fs::create_dir(&place).expect("a directory");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o711)).expect("a mode");
    let user = rustix::process::getuid().is_root().then_some(61234);
    for part in ["files", "files/sub", "home", "home/tmp"] {
        let part = place.join(part);
        fs::create_dir(&part).expect("a directory");
        fs::set_permissions(&part, fs::Permissions::from_mode(0o700)).expect("a mode");
        chown(&part, user, user).expect("another owner");
    }
    let place = ChildWorkspace { files: place.join("files"), home: place.join("home"), user, stay: None };
    (directory, place)
}

#[tokio::test]
async fn a_program_starts_in_its_workspace_though_the_way_there_is_closed_to_its_user() {
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        let spawner = Spawner::with(contained);
        if spawner.capabilities().await.expect("an answer").containment.is_err() {
            support::note(&format!("NOT TESTED: {contained:?} does not work here"));
            continue;
        }
        let (outer, place) = session_place();
        fs::create_dir(outer.path().join("secret")).expect("a directory");
        std::os::unix::fs::symlink(outer.path().join("secret"), place.files.join("link")).expect("a link");
        fs::write(place.files.join("given"), "given\n").expect("a file");
        let request = |directory: &str, script: &str| {
            let sandbox = Sandbox { writable: vec![Bind::same(&place.files)], ..Sandbox::default() };
            SpawnRequest {
                working_directory: place.files.join(directory),
                containment: Containment::Required(sandbox),
                user: place.user,
                ..shell(script)
            }
        };
        let script = "exec 2>&1; echo made > made; cat made";
        assert_eq!(output(&spawner, request("", script)).await, "made\n", "{contained:?}");
        assert_eq!(output(&spawner, request("sub", script)).await, "made\n", "{contained:?}");
        assert!(place.files.join("sub/made").exists());
        // A link does not lead its user past closed directories. The host's own user may enter
        // them, and Landlock refuses it the files there.
        if contained == SandboxMechanism::Landlock && place.user.is_none() {
            continue;
        }
        let refused = spawner.spawn(request("link", "true")).await.expect_err("it is closed to it");
        assert!(matches!(refused, SpawnError::Program { step: "enter", .. }), "{contained:?}: {refused:?}");
    }
}

#[tokio::test]
async fn what_contains_is_tried_in_a_workspace_as_sessions_have_one() {
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        if Spawner::with(contained).capabilities().await.expect("an answer").containment.is_err() {
            support::note(&format!("NOT TESTED: {contained:?} does not work here"));
            continue;
        }
        let probed = async |mode: u32, owner: Option<u32>| {
            let (outer, place) = session_place();
            fs::set_permissions(outer.path(), fs::Permissions::from_mode(mode)).expect("a mode");
            if owner.is_some() {
                chown(&place.files, owner, owner).expect("another owner");
            }
            let spawner = Spawner::with(contained)
                .probing_in(move || Ok(ProbeWorkspace { workspace: place.clone(), guard: Box::new(()) }));
            (spawner.capabilities().await.expect("an answer"), outer)
        };
        let (well, _) = probed(0o711, None).await;
        assert_eq!((&well.containment, well.warnings.len()), (&Ok(contained), 0), "{:?}", well.warnings);
        if !rustix::process::getuid().is_root() {
            continue;
        }
        let (in_part, outer) = probed(0o700, None).await;
        assert_eq!(in_part.containment, Ok(contained));
        let named = in_part.warnings.iter().any(|warning| warning.contains(outer.path().to_str().expect("text")));
        assert_eq!(named, contained == SandboxMechanism::Landlock, "{:?}", in_part.warnings);
        let (broken, _) = probed(0o711, Some(0)).await;
        assert!(broken.containment.is_err() && !broken.settled, "{:?}", broken.containment);
    }
}

#[tokio::test]
async fn a_probe_that_failed_is_tried_again_and_starts_are_unavailable_until_it_works() {
    let healthy = Spawner::with(SandboxMechanism::Namespaces);
    if healthy.capabilities().await.expect("an answer").containment.is_err() {
        support::note("NOT TESTED: namespaces do not work here");
        return;
    }
    let (_outer, place) = session_place();
    let (tries, mended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, asked) = (Arc::clone(&tries), Arc::clone(&mended));
    let spawner = Spawner::with(SandboxMechanism::Namespaces).probing_in(move || {
        counted.fetch_add(1, SeqCst);
        match asked.load(SeqCst) {
            true => Ok(ProbeWorkspace { workspace: place.clone(), guard: Box::new(()) }),
            false => Err(io::Error::other("the disk is full")),
        }
    });
    let contained = || SpawnRequest { containment: Containment::Required(Sandbox::default()), ..shell("true") };
    let refused = spawner.spawn(contained()).await.expect_err("it failed");
    assert!(matches!(refused, SpawnError::Unproven { .. }), "{refused:?}");
    let error = wharf_core::Error::from(refused);
    assert_eq!((error.code, error.retryable), (wharf_core::Code::Unavailable, true), "{error}");
    assert!(error.message.contains("the disk is full"), "{error}");
    // Requests soon after get the same answer without another trial.
    for _ in 0..20 {
        spawner.spawn(contained()).await.expect_err("it failed a moment ago");
    }
    assert!(tries.load(SeqCst) <= 2, "{} tries", tries.load(SeqCst));
    mended.store(true, SeqCst);
    until_async("it is tried again", async || spawner.spawn(contained()).await).await;
    let tried = tries.load(SeqCst);
    spawner.spawn(contained()).await.expect("it contains");
    assert_eq!(tries.load(SeqCst), tried, "what works is not tried again");
}

#[tokio::test]
async fn a_null_device_that_is_a_file_is_named_and_nothing_is_started_with_it() {
    let spawner = Spawner::with(SandboxMechanism::Namespaces);
    if spawner.capabilities().await.expect("an answer").containment.is_err() {
        return;
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    let machine = machine::after(&format!("mount --bind {} /dev/null", file.path().display()));
    let machine = machine.expect("namespaces work, so this machine can play another");
    support::passes_on(&machine, "containment::without_a_null_device", "WHARF_TEST_NULL");
    assert_eq!(file.as_file().metadata().expect("a file").len(), 0, "nothing was written into it");
}

/// A host on a machine with a file as its null device; does nothing when the
/// tests run.
#[tokio::test]
async fn without_a_null_device() {
    if std::env::var_os("WHARF_TEST_NULL").is_none() {
        return;
    }
    let spawner = Spawner::new();
    for refused in [spawner.capabilities().await.map(drop), spawner.spawn(shell("true")).await.map(drop)] {
        let refused = wharf_core::Error::from(refused.expect_err("there is no null device"));
        assert!(refused.retryable && refused.message.contains("/dev/null is a regular file"), "{refused}");
    }
}
