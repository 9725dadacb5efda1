//! Attempts to reach processes: the host, its supervisors, other children.

use std::time::Duration;

use crate::support::{
    self, WatchedTree,
    workspace::{ContainedWorkspace, attempt, proven},
};
use wharf_spawn::{ChildExit, ChildLimits, ChildOutput, ProcessLimitScope, SpawnRequest};
use wharf_test_support::{in_time, until_async};

#[tokio::test]
async fn the_host_and_siblings_are_out_of_reach() {
    for mut place in ContainedWorkspace::all().await {
        let sibling = place.start("exec sleep 1000").await;
        place.sibling = sibling.pid();
        let of = |who: &str, file: &str| format!("head -c 1 /proc/{who}/{file} | grep -qa . && echo ESCAPED");
        let call = |arguments: &str| format!("perl -e 'print syscall({arguments}) == -1 ? \"no\" : \"ESCAPED\"'");
        place
            .withstands(&[
                proven("environment of the host", of("$HOST", "environ")),
                proven("environment of a sibling", of("$SIBLING", "environ")),
                proven("commands of the host", of("$HOST", "cmdline")),
                proven("memory map of the host", of("$HOST", "maps")),
                proven("memory of the host", "(exec 5< /proc/$HOST/mem) && echo ESCAPED"),
                proven("root of the host", "ls /proc/$HOST/root/etc && echo ESCAPED"),
                proven("directory of the host", "ls /proc/$HOST/cwd/ && echo ESCAPED"),
                proven("descriptors of the host", "ls /proc/$HOST/fd/ && echo ESCAPED"),
                attempt(
                    "descriptors of the supervisor",
                    "for file in /proc/$PPID/fd/* /proc/1/fd/*; do (: < $file) && echo ESCAPED; done",
                ),
                proven("a signal to the host", "kill -0 $HOST && echo ESCAPED"),
                proven("a signal to a sibling", "kill -0 $SIBLING && echo ESCAPED"),
                attempt(
                    "a signal to the supervisor",
                    "if [ $PPID != 1 ]; then kill -0 $PPID && echo ESCAPED; fi; kill -KILL 1; kill -STOP 1",
                ),
            ])
            .await;
        if cfg!(target_arch = "x86_64") {
            place
                .withstands(&[
                    proven("tracing a sibling", call("101, 0x4206, $ENV{SIBLING}+0, 0, 0")),
                    proven("limits of the host", call("302, $ENV{HOST}+0, 7, 0, 0")),
                    proven("priority of a sibling", call("141, 0, $ENV{SIBLING}+0, 0")),
                    attempt("a descriptor of the host", "perl -e '$p = syscall(434, $ENV{HOST}+0, 0); print $p >= 0 && syscall(438, $p, 1, 0) >= 0 ? \"ESCAPED\" : \"no\"'"),
                ])
                .await;
        }
        assert!(sibling.ended().is_none(), "{}", place.name());
        let child = place.start("kill -STOP 1; kill -KILL 1; exit 6").await;
        assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: 6 }, "{}", place.name());
    }
}

#[tokio::test]
async fn nothing_of_the_host_is_inherited() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all().await.iter().flat_map(|place| [place; 2]) {
        let request = SpawnRequest {
            program: "/usr/bin/env".into(),
            arguments: vec![],
            environment: vec![("ONE".into(), "1".into())],
            ..place.request("")
        };
        assert_eq!(support::output(&place.spawner, request).await, "ONE=1\n");
        // A control socket would be a descriptor beside the three streams.
        let said = place.run("for n in 3 4 5 6 7 8 9; do (: <&$n) 2>/dev/null && echo ESCAPED; done; echo tried").await;
        assert_eq!(said, "tried\n", "{}", place.name());
    }
}

#[tokio::test]
async fn a_daemon_ends_with_its_tree() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all().await.iter().flat_map(|place| [place; 2]) {
        let child = place.start("trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & wait; sleep 1000' &) ; exec sleep 1000").await;
        let watched = WatchedTree::tree_of(&child).await;
        child.kill_tree(Duration::from_millis(50)).await.expect("its end");
        watched.end().await;
    }
}

/// Counts successful forks, up to a bound of its own in case the limit fails.
const FORKS: &str = "perl -e '$n = 0; for (1..60) { $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } $n++ } print \"$n\\n\"; kill KILL, $_ for (); exit 0'";

#[tokio::test]
async fn a_tree_gets_no_more_processes_than_it_may() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all_alone().await.iter().flat_map(|place| [place; 2]) {
        let Some(limit) = place.process_limit().await else { continue };
        let limits = ChildLimits { processes: Some(30), ..ChildLimits::default() };
        let request = SpawnRequest { limits, stdout: ChildOutput::Pipe, ..place.request(&format!("exec {FORKS}")) };
        let mut child = place.spawner.spawn(request).await.expect("a child");
        let mut line = String::new();
        let mut stdout = tokio::io::BufReader::new(child.take_stdout().expect("a pipe"));
        tokio::io::AsyncBufReadExt::read_line(&mut stdout, &mut line).await.expect("a line");
        let forks: u32 = line.trim().parse().expect("a number");
        // Where others of the same user are counted, too, they may end meanwhile.
        let most = if limit == ProcessLimitScope::User { 59 } else { 30 };
        assert!((1..=most).contains(&forks), "{}: {forks}", place.name());
        child.kill_tree(Duration::ZERO).await.expect("its end");
    }
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_stopped() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all_alone().await.iter().flat_map(|place| [place; 2]) {
        let Some(limit) = place.process_limit().await else { continue };
        let limits = ChildLimits { processes: Some(30), cpu_seconds: Some(5), ..ChildLimits::default() };
        // Bounded otherwise, too: no more than six generations.
        let bomb = "perl -e 'for (1..6) { fork } sleep 1000'";
        let child = place.spawner.spawn(SpawnRequest { limits, ..place.request(bomb) }).await.expect("a child");
        // Where others of the same user are counted, too, they may have taken all
        // but a few places.
        let (least, bound) = if limit == ProcessLimitScope::User { (0, 62) } else { (15, 30) };
        let grown = format!("there are {least} in {}", place.name());
        until_async(grown, async || child.descendants().await.expect("a count") >= least).await;
        assert!(child.descendants().await.expect("a count") <= bound, "{}", place.name());
        in_time("its end", child.kill_tree(Duration::ZERO)).await.expect("how");
        assert_eq!(child.descendants().await.expect("a count"), 0);
    }
}
