//! Prepared sandboxes: which child gets one, that it is like any other, and that none is
//! left over.

use std::{fs, os::unix::fs::chown};

use crate::support::{self, kill, output_and_preparation, workspace::ContainedWorkspace};
use wharf_spawn::{Bind, Child, ChildLimits, Containment, Sandbox, SandboxMechanism, SpawnRequest, Spawner};
use wharf_test_support::{
    processes::{below, lives, parent},
    until,
};

/// The output of a child, and whether it took a prepared sandbox.
async fn said(place: &ContainedWorkspace, request: SpawnRequest) -> (String, bool) {
    output_and_preparation(&place.spawner, request).await
}

/// The process from which all supervisors of this child's spawner come.
fn root_of(child: &Child) -> u32 {
    let mut at = child.pid();
    while parent(at) != std::process::id() {
        at = parent(at);
    }
    at
}

#[tokio::test]
async fn the_second_child_of_a_description_finds_a_sandbox_ready() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        assert_eq!(said(&place, place.request("echo one")).await, ("one\n".into(), false), "{}", place.name());
        for number in 0..5 {
            // All parts of the request outside of the sandbox may differ.
            let limits = ChildLimits { open_files: Some(20 + number), ..ChildLimits::default() };
            let mut request = SpawnRequest {
                limits,
                working_directory: "/usr".into(),
                ..place.request("echo $SAYS; pwd; ulimit -n")
            };
            request.environment.push(("SAYS".into(), format!("number {number}").into()));
            let expected = format!("number {number}\n/usr\n{}\n", 20 + number);
            assert_eq!(said(&place, request).await, (expected, true), "{}", place.name());
        }
        // A program that is absent takes a sandbox, too.
        let request = SpawnRequest { program: "/no/such/program".into(), ..place.request("") };
        let error = place.spawner.spawn(request).await.expect_err("no such program");
        assert_eq!(error.to_string(), "cannot run /no/such/program");
        assert_eq!(said(&place, place.request("echo last")).await, ("last\n".into(), true));
    }
}

#[tokio::test]
async fn children_at_once_do_not_share_one() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        said(&place, place.request("true")).await;
        let script = "echo mine > /tmp/mine; ls /tmp";
        let (one, other) = tokio::join!(said(&place, place.request(script)), said(&place, place.request(script)));
        assert_eq!([&*one.0, &*other.0], ["mine\n"; 2], "{}", place.name());
        assert!(one.1 && other.1, "two waited, {}", place.name());
        // A child does not see files of the one before it.
        let script = "ls -A /dev/shm; ls /tmp/mine 2>/dev/null; echo looked";
        assert_eq!(said(&place, place.request(script)).await, ("looked\n".into(), true), "{}", place.name());
    }
}

#[tokio::test]
async fn a_child_of_another_session_gets_it_with_its_own_view_and_another_network_gets_none() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        let request = || place.request("true");
        let sandbox = |change: fn(&mut Sandbox)| {
            let Containment::Required(mut sandbox) = request().containment else { panic!("contained") };
            change(&mut sandbox);
            SpawnRequest { containment: Containment::Required(sandbox), working_directory: "/".into(), ..request() }
        };
        said(&place, request()).await;
        let readable = sandbox(|sandbox| sandbox.readable.push(Bind::same("/var/tmp")));
        let differ = [
            ("what is readable", readable),
            ("what is writable", sandbox(|sandbox| sandbox.writable.clear())),
            ("where it is shown", sandbox(|sandbox| sandbox.writable[0].target = "/elsewhere".into())),
        ];
        for (what, request) in differ {
            assert!(said(&place, request).await.1, "{what}, {}", place.name());
        }
        // What the child before saw is not there any more.
        let alone =
            sandbox(|sandbox| sandbox.writable = vec![Bind { source: "/var/tmp".into(), target: "/own".into() }]);
        let script = "ls -d /elsewhere /own 2>&1; ls /tmp; stat -c %u /tmp; id -u";
        let alone = SpawnRequest { arguments: vec!["-c".into(), script.into()], ..alone };
        let user = place.user.unwrap_or_else(|| rustix::process::getuid().as_raw());
        let expected = format!("ls: cannot access '/elsewhere': No such file or directory\n/own\n{user}\n{user}\n");
        assert_eq!(said(&place, alone).await, (expected, true), "{}", place.name());
        if place.user.is_some() {
            let request = SpawnRequest {
                user: Some(65533),
                working_directory: "/".into(),
                ..place.request("id -u; stat -c %u /tmp")
            };
            assert_eq!(said(&place, request).await, ("65533\n65533\n".into(), true), "{}", place.name());
        }
        let network = sandbox(|sandbox| sandbox.network = true);
        assert!(!said(&place, network).await.1, "another network, {}", place.name());
        assert!(said(&place, request()).await.1, "it still waits, {}", place.name());
    }
}

#[tokio::test]
async fn a_workspace_that_was_made_again_is_the_new_one() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        let workspace = place.root().join("workspace");
        fs::write(workspace.join("file"), "old").expect("a file");
        assert_eq!(place.run("cat file").await, "old");
        // Changes inside of the workspace are visible.
        fs::write(workspace.join("file"), "changed").expect("a file");
        assert_eq!(said(&place, place.request("cat file")).await, ("changed".into(), true));
        // Keeps the inode, which the new directory could get otherwise if the old one were
        // removed before the sandbox shows it.
        let _kept = fs::File::open(&workspace).expect("a directory");
        fs::remove_dir_all(&workspace).expect("removed");
        fs::create_dir(&workspace).expect("a directory");
        chown(&workspace, place.user, place.user).expect("an owner");
        fs::write(workspace.join("file"), "new").expect("a file");
        assert_eq!(said(&place, place.request("cat file")).await, ("new".into(), true), "{}", place.name());
    }
}

/// The prepared sandboxes below a root: all processes but the tree of this child.
async fn waiting_below(root: u32, child: &Child) -> Vec<u32> {
    let supervisor = {
        let mut at = child.pid();
        while parent(at) != root {
            at = parent(at);
        }
        at
    };
    let mut found = Vec::new();
    until("sandboxes wait", || {
        let of_child = below(supervisor);
        found = below(root);
        found.retain(|pid| *pid != supervisor && !of_child.contains(pid));
        found.len() == 2
    })
    .await;
    found
}

#[tokio::test]
async fn one_that_was_killed_is_replaced() {
    for mut place in ContainedWorkspace::all_in_namespaces().await {
        place.spawner = Spawner::with(SandboxMechanism::Namespaces);
        let child = place.start("exec sleep 1000").await;
        let root = root_of(&child);
        let waiting = waiting_below(root, &child).await;
        waiting.iter().for_each(|pid| kill(*pid));
        until("it is gone", || !waiting.iter().any(|pid| lives(*pid))).await;
        assert_eq!(said(&place, place.request("echo again")).await, ("again\n".into(), false), "{}", place.name());
        // And a sandbox that ends after it received the launch.
        let waiting = waiting_below(root, &child).await;
        let stop = rustix::process::Signal::STOP;
        waiting.iter().for_each(|pid| support::signal(*pid, stop));
        let killer = async {
            tokio::task::yield_now().await;
            waiting.iter().for_each(|pid| kill(*pid));
        };
        let (said, ()) = tokio::join!(said(&place, place.request("echo again")), killer);
        assert_eq!(said, ("again\n".into(), false), "{}", place.name());
    }
}

#[tokio::test]
async fn none_is_left_when_the_last_spawner_is_gone() {
    for mut place in ContainedWorkspace::all_in_namespaces().await {
        place.spawner = Spawner::with(SandboxMechanism::Namespaces);
        let child = place.start("exec sleep 1000").await;
        let root = root_of(&child);
        let waiting = waiting_below(root, &child).await;
        let clone = place.spawner.clone();
        drop(place);
        assert!(waiting.iter().all(|pid| lives(*pid)), "another has it");
        drop(clone);
        until("it is gone", || !waiting.iter().any(|pid| lives(*pid))).await;
        drop(child);
        until("the root is gone", || !lives(root)).await;
    }
}

#[tokio::test]
async fn none_lives_on_after_its_host() {
    for (number, _) in ContainedWorkspace::all_in_namespaces().await.iter().enumerate() {
        support::nothing_outlives(|| support::play_host_number("prepared::host", number), 2).await;
    }
}

/// Plays a host that is to be killed; does nothing when the tests run.
#[tokio::test]
async fn host() {
    if !support::is_host() {
        return;
    }
    let place =
        ContainedWorkspace::all_in_namespaces().await.into_iter().nth(support::host_number()).expect("containment");
    let child = place.start("exec sleep 1000").await;
    for pid in waiting_below(root_of(&child), &child).await {
        support::say(pid);
    }
    let _ = child.wait().await;
}
