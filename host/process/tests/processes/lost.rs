//! A host that is killed, and the next one: the host is a child that runs this
//! same file.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use wharf_process::{Exit, KilledBy, Processes, Status, StreamName};
use wharf_test_support::{
    AMPLE, let_time_pass,
    processes::{lives, until_dead},
};

use crate::support::{TestRegistry, owner, settings, shell, spawner};
use crate::waiting::pattern;

const DIRECTORY: &str = "WHARF_TEST_DIRECTORY";

#[tokio::test]
async fn what_a_killed_host_ran_is_listed_as_lost_with_its_output_and_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut host = Command::new(env::current_exe().expect("itself"))
        .args(["--exact", "lost::host_that_is_killed", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a host");
    let spawner = spawner();
    let mut lines = BufReader::new(host.stdout.take().expect("piped")).lines();
    let ready = lines.find_map(|line| line.expect("a line").split_once("runs as ").map(|(_, pid)| pid.to_owned()));
    let pid: u32 = ready.expect("a process").parse().expect("a process id");

    // While its host lives, nobody takes it away.
    let open = || Processes::open(directory.path(), spawner.clone(), settings()).expect("opened");
    let (processes, lost) = open();
    assert!(lost.is_empty() && processes.list(&owner("one")).await.is_empty() && lives(pid));
    drop(processes);

    host.kill().expect("a kill");
    host.wait().expect("its end");
    // Leftovers that belong to no process.
    let home = homes(directory.path()).into_iter().find(|home| fs::read_dir(home).expect("a listing").count() > 1);
    let home = home.expect("the home of the host");
    fs::create_dir(home.join("torn")).expect("a directory");
    fs::write(home.join("torn").join("record.json"), b"{\"id\":").expect("a torn record");

    let (processes, lost) = open();
    let (whose, snapshot) = lost.into_iter().next().expect("one was running");
    assert_eq!((whose, snapshot.status), (owner("one"), Status::Killed));
    assert_eq!(snapshot.exit, Some(Exit::Killed { by: KilledBy::HostLost }));
    assert_eq!(snapshot.pid, Some(pid));
    assert!(snapshot.finished.is_some());
    let tail = processes.tail(&owner("one"), snapshot.id, StreamName::Stdout, 5, 100).expect("a tail");
    assert_eq!(tail.text(), "before the kill\n");
    let listed: Vec<_> = processes.list(&owner("one")).await.iter().map(|listed| listed.exit.clone()).collect();
    let expected = [Exit::Exited { code: 3 }, Exit::Killed { by: KilledBy::HostLost }];
    assert_eq!(listed, expected.map(Some));
    until_dead(pid);
    let left: Vec<_> = homes(directory.path()).iter().flat_map(|home| fs::read_dir(home).expect("a listing")).collect();
    assert_eq!(left.len(), 3, "two processes and a lock: {left:?}");

    // The host after that finds nothing lost, and the same tombstones.
    drop(processes);
    let (processes, lost) = open();
    assert!(lost.is_empty());
    assert_eq!(processes.list(&owner("one")).await.len(), 2);
}

#[tokio::test]
async fn a_process_that_was_half_removed_does_not_keep_the_next_host_from_its_work() {
    let registry = TestRegistry::new().await;
    let (half, whole) = (registry.shell("true").await, registry.shell("true").await);
    for id in [half, whole] {
        registry.exit(id).await;
        registry.processes.stop(&owner("one"), id, AMPLE).await.expect("nothing is left to stop");
    }
    let root = registry.directory.path().join("processes");
    let home = homes(&root).remove(0);
    fs::remove_file(home.join(half.to_string()).join("stdout")).expect("a file");
    drop(registry.processes);
    let (processes, lost) = Processes::open(&root, spawner(), settings()).expect("opened");
    let listed: Vec<_> = processes.list(&owner("one")).await.iter().map(|listed| listed.id).collect();
    assert_eq!((listed, lost.len()), (vec![whole], 0));
    assert!(!homes(&root).iter().any(|home| home.join(half.to_string()).exists()));
}

#[tokio::test]
async fn what_cannot_be_taken_over_for_now_is_kept_for_the_next_host() {
    let registry = TestRegistry::new().await;
    let (unwritable, unreadable) = (registry.shell("echo one").await, registry.shell("echo two").await);
    for id in [unwritable, unreadable] {
        registry.exit(id).await;
        registry.processes.stop(&owner("one"), id, AMPLE).await.expect("nothing is left to stop");
    }
    let root = registry.directory.path().join("processes");
    let home = homes(&root).remove(0);
    // As where the disk is full, and where no file can be opened.
    fs::create_dir(home.join(unwritable.to_string()).join("record.json.new")).expect("in the way");
    let record = home.join(unreadable.to_string()).join("record.json");
    let aside = registry.directory.path().join("aside");
    fs::rename(&record, &aside).expect("moved");
    fs::create_dir(&record).expect("in the way");
    drop(registry.processes);
    let (processes, _) = Processes::open(&root, spawner(), settings()).expect("opened");
    let ids = async |processes: &Processes| {
        let listed = processes.list(&owner("one")).await;
        listed.iter().map(|listed| listed.id).collect::<std::collections::HashSet<_>>()
    };
    assert_eq!(ids(&processes).await, [unwritable].into());
    let tail = processes.tail(&owner("one"), unwritable, StreamName::Stdout, 5, 100).expect("a tail");
    assert_eq!(tail.text(), "one\n");
    fs::remove_dir(&record).expect("out of the way");
    fs::rename(&aside, &record).expect("moved back");
    drop(processes);
    let (processes, _) = Processes::open(&root, spawner(), settings()).expect("opened");
    assert_eq!(ids(&processes).await, [unwritable, unreadable].into());
}

/// Does nothing when the tests themselves are run.
#[tokio::test]
async fn host_that_is_killed() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let (processes, _) = Processes::open(Path::new(&directory), spawner(), settings()).expect("a directory");
    let registry =
        TestRegistry { processes: Arc::new(processes), directory: tempfile::tempdir().expect("a directory") };
    let id = registry.shell("exit 3").await;
    registry.exit(id).await;
    let id = registry.start(shell("echo before the kill; exec sleep 1000")).await;
    assert!(pattern(&registry, id, "before the kill").await);
    let pid = registry.processes.snapshot(&owner("one"), id).await.expect("a process").pid.expect("it runs");
    writeln!(std::io::stdout().lock(), "runs as {pid}").expect("a reader");
    let_time_pass(AMPLE, "it is killed meanwhile").await;
}

fn homes(root: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(root).expect("a listing").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.is_dir()).collect()
}
