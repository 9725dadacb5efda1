//! What went wrong in other systems, by its number in the list of such
//! failures. Those about terminals have no place here.

use std::{
    fs,
    time::{Duration, Instant},
};

use wharf_process::{
    ChildLimits, Containment, Exit, KilledBy, ProcessError, ProcessSettings, Signal, SpawnRequest, Status, StreamName,
    WaitCondition, output::OutputLimits,
};
use wharf_spawn::Sandbox;
use wharf_test_support::{AMPLE, processes::lives, until};

use crate::support::{TestRegistry, files_below, owner, settings, shell, spawner};
use crate::waiting::pattern;

fn numbers(text: &str) -> Vec<u32> {
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

#[tokio::test]
async fn failure_1_descendants_that_hold_the_pipe_do_not_hold_up_the_exit() {
    let registry = TestRegistry::new().await;
    for command in ["sleep 1000 & echo $!", "setsid sleep 1000 & echo $!", "trap '' HUP; sleep 1000 & echo $!"] {
        let id = registry.shell(command).await;
        let ended = registry.exit(id).await;
        assert_eq!(ended.exit, Some(Exit::Exited { code: 0 }), "{command}");
        let polled = registry.processes.poll(&owner("one"), id, 10, 1_000).await.expect("a poll");
        assert!(polled.process.stdout.open, "{command}: the stream is reported as open");
        assert_eq!(polled.process.descendants, Some(1), "{command}");
        let pid = numbers(&polled.stdout.text())[0];
        assert!(lives(pid));
        // They can still be stopped, and the streams then close.
        let stopped = registry.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
        assert_eq!((stopped.exit, stopped.descendants, lives(pid)), (ended.exit, Some(0), false), "{command}");
        registry.until(id, |snapshot| !snapshot.stdout.open && !snapshot.stderr.open).await;
    }
    registry.close().await;
}

#[tokio::test]
async fn failure_1_descendants_are_counted_until_the_last_has_ended() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell("exec 3<&0; cat <&3 >&2 & exit 4") }).await;
    // Its input was closed with its end, which ends what it left behind.
    let ended = registry.exit(id).await;
    assert_eq!(ended.exit, Some(Exit::Exited { code: 4 }));
    registry.until(id, |snapshot| snapshot.descendants == Some(0) && !snapshot.stderr.open).await;

    let id = registry.shell("sleep 1000 & sleep 1000 & echo $!; exec sleep 1000").await;
    assert!(pattern(&registry, id, r"^\d+$").await);
    let running = registry.processes.snapshot(&owner("one"), id).await.expect("a process");
    assert_eq!((running.status, running.descendants), (Status::Running, None));
    registry.close().await;
}

#[tokio::test]
async fn failure_1_a_process_that_closed_its_streams_still_runs() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("exec >&- 2>&-; exec sleep 1000").await;
    let closed = registry.until(id, |snapshot| !snapshot.stdout.open && !snapshot.stderr.open).await;
    assert_eq!((closed.status, closed.exit), (Status::Running, None));
    registry.close().await;
}

#[tokio::test]
async fn failure_2_a_process_that_prints_megabytes_ends_without_being_read() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("head -c 8000000 /dev/zero; head -c 3000000 /dev/zero >&2").await;
    let ended = registry.exit(id).await;
    assert_eq!(ended.status, Status::Finished);
    assert_eq!((ended.stdout.bytes, ended.stderr.bytes), (8_000_000, 3_000_000));
    registry.close().await;
}

#[tokio::test]
async fn failure_4_no_session_and_no_double_fork_escapes_a_stop() {
    let registry = TestRegistry::new().await;
    let stubborn = "trap '' TERM INT HUP
        setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' &
        (setsid setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' & )
        echo up; while :; do sleep 1; done";
    let id = registry.shell(stubborn).await;
    assert!(pattern(&registry, id, r"up").await);
    until("both say who they are", || numbers(&registry.tail(id)).len() >= 2).await;
    let pids = numbers(&registry.tail(id));
    assert!(pids.iter().all(|pid| lives(*pid)));
    let stopped = registry.processes.stop(&owner("one"), id, Duration::from_millis(50)).await.expect("a stop");
    assert_eq!((stopped.exit, stopped.descendants), (Some(Exit::Killed { by: KilledBy::User }), Some(0)));
    assert!(!pids.iter().any(|pid| lives(*pid)) && !lives(stopped.pid.expect("it ran")));
    registry.close().await;
}

#[tokio::test]
async fn failure_9_characters_that_come_in_halves_are_read_whole() {
    let registry = TestRegistry::new().await;
    let id = registry
        .start(SpawnRequest { input: true, ..shell(r"printf 'caf\303'; read line; printf '\251 \377\n'") })
        .await;
    assert!(pattern(&registry, id, "caf").await);
    let read = |cursor| registry.processes.read(&owner("one"), id, StreamName::Stdout, cursor, 100).expect("a read");
    assert_eq!(read(0).text(), "caf");
    registry.processes.write(&owner("one"), id, b"on\n", AMPLE).await.expect("written");
    registry.exit(id).await;
    assert_eq!(read(3).text(), "é \u{fffd}\n");
    registry.close().await;
}

#[tokio::test]
async fn failure_9_zero_bytes_are_kept_read_found_and_written() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell(r"printf 'a\000b\n'; exec cat") }).await;
    registry.processes.write(&owner("one"), id, b"\0c\0\n", AMPLE).await.expect("written");
    registry.processes.close_input(&owner("one"), id).await.expect("closed");
    registry.exit(id).await;
    let piece = registry.processes.read(&owner("one"), id, StreamName::Stdout, 0, 100).expect("a read");
    assert_eq!(piece.bytes, b"a\0b\n\0c\0\n");
    assert_eq!(
        registry.processes.tail(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a tail").bytes,
        b"\0c\0\n"
    );
    assert!(pattern(&registry, id, r"^\x00c\x00$").await);
    registry.close().await;
}

#[tokio::test]
async fn failure_10_every_end_is_told_as_what_it_was() {
    let registry = TestRegistry::new().await;
    let ends = [
        ("true", Exit::Exited { code: 0 }, Status::Finished),
        ("exit 7", Exit::Exited { code: 7 }, Status::Failed),
        ("kill -SEGV $$", Exit::Signaled { signal: 11 }, Status::Killed),
    ];
    for (command, expected, status) in ends {
        let id = registry.shell(command).await;
        let ended = registry.exit(id).await;
        assert_eq!((ended.exit, ended.status, ended.reason), (Some(expected), status, None), "{command}");
        assert!(ended.finished.expect("a time") >= ended.started);
    }
    let id = registry.shell("exec sleep 1000").await;
    registry.processes.signal(&owner("one"), id, Signal::User1).await.expect("sent");
    assert_eq!(registry.exit(id).await.exit, Some(Exit::Signaled { signal: 10 }));
    let late = registry.processes.signal(&owner("one"), id, Signal::Hangup).await;
    assert!(matches!(late, Err(ProcessError::Ended)), "{late:?}");
    registry.close().await;
}

#[tokio::test]
async fn failure_10_a_time_limit_is_never_an_exit_with_code_0() {
    let registry = TestRegistry::new().await;
    let polite = "trap 'exit 0' TERM; while :; do sleep 0.01; done";
    let limit = Some(Duration::from_millis(300));
    let long = SpawnRequest { lifetime: limit, ..shell(polite) };
    let silent = SpawnRequest { silence: limit, ..shell(polite) };
    let reasons = ["it ran for longer than 0.3 s", "it printed nothing for longer than 0.3 s"];
    for (request, reason) in [long, silent].into_iter().zip(reasons) {
        let id = registry.start(request).await;
        let ended = registry.exit(id).await;
        assert_eq!(ended.exit, Some(Exit::Killed { by: KilledBy::TimeLimit }));
        assert_eq!((ended.status, ended.reason.as_deref()), (Status::Killed, Some(reason)));
        registry.until(id, |snapshot| snapshot.descendants == Some(0)).await;
    }
    registry.close().await;
}

#[tokio::test]
async fn failure_10_the_time_limit_holds_for_what_was_left_in_the_background() {
    let registry = TestRegistry::new().await;
    let lifetime = Some(Duration::from_millis(500));
    let id = registry.start(SpawnRequest { lifetime, ..shell("setsid sleep 1000 & echo $!") }).await;
    let ended = registry.exit(id).await;
    assert_eq!(ended.exit, Some(Exit::Exited { code: 0 }));
    let left = registry.until(id, |snapshot| snapshot.descendants == Some(0)).await;
    assert_eq!(left.exit, ended.exit, "its own end stays what it was");
    assert!(!lives(numbers(&registry.tail(id))[0]));
    registry.close().await;
}

#[tokio::test]
async fn failure_10_a_command_that_goes_to_the_background_is_not_silently_completed() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("(sleep 1000; echo done) & exit 0").await;
    let waited = registry
        .processes
        .wait(&owner("one"), id, &WaitCondition { exit: true, ..WaitCondition::default() }, AMPLE)
        .await;
    let waited = waited.expect("a wait").process;
    assert_eq!(waited.status, Status::Finished);
    // The subshell and its `sleep`.
    let left = registry.until(id, |snapshot| snapshot.descendants == Some(2)).await;
    assert!(left.stdout.open, "what it prints is still taken");
    let totals = registry.processes.counts();
    assert_eq!((totals.running, totals.left_behind, totals.ended), (0, 1, 0));
    registry.close().await;
}

#[tokio::test]
async fn failure_10_a_flood_of_output_stops_at_the_quota() {
    let output = OutputLimits { kept_bytes: 1 << 20, total_bytes: 10_000_000 };
    let registry = TestRegistry::with(ProcessSettings { output, ..settings() }).await;
    let id = registry.shell("trap '' TERM PIPE; yes & exec yes").await;
    let ended = registry.exit(id).await;
    assert_eq!(ended.exit, Some(Exit::Killed { by: KilledBy::Quota }));
    assert_eq!(ended.reason.as_deref(), Some("it printed more than 10000000 bytes"));
    assert_eq!(ended.stdout.bytes, 10_000_000);
    assert!(ended.stdout.evicted_before >= 10_000_000 - (1 << 20));
    registry.until(id, |snapshot| snapshot.descendants == Some(0)).await;
    let on_disk = blocks(&registry.directory.path().join("processes"));
    assert!(on_disk <= (1 << 20) + (64 << 10), "{on_disk} bytes on disk");
    registry.close().await;
}

#[tokio::test]
async fn failure_10_a_flood_of_what_was_left_in_the_background_stops_there_too() {
    let output = OutputLimits { kept_bytes: 1 << 20, total_bytes: 200_000 };
    let registry = TestRegistry::with(ProcessSettings { output, ..settings() }).await;
    // It goes on though nobody takes it any more.
    let id =
        registry.shell("(trap '' PIPE; while :; do echo a line that is printed again and again; done) & exit 0").await;
    registry.exit(id).await;
    let ended = registry.until(id, |snapshot| snapshot.descendants == Some(0)).await;
    assert_eq!(ended.stdout.bytes, 200_000);
    registry.close().await;
}

/// What the files of output below take on disk.
fn blocks(directory: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = fs::read_dir(directory).expect("a listing").map(|entry| entry.expect("an entry").path());
    let size = |path: std::path::PathBuf| match path.file_name().and_then(|name| name.to_str()) {
        _ if path.is_dir() => blocks(&path),
        Some("stdout" | "stderr") => fs::metadata(&path).expect("a file").blocks() * 512,
        _ => 0,
    };
    entries.map(size).sum()
}

#[tokio::test]
async fn failure_10_no_orphans_are_left_of_a_session() {
    let registry = TestRegistry::new().await;
    let mut pids = Vec::new();
    for _ in 0..5 {
        let id =
            registry.shell("trap '' TERM HUP; yes > /dev/null & setsid yes > /dev/null & jobs -p; echo up; wait").await;
        assert!(pattern(&registry, id, "up").await);
        pids.extend(numbers(&registry.tail(id)));
    }
    assert!(pids.len() >= 10 && pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    let (tenant, session) = (owner("one").tenant, owner("one").session);
    assert_eq!(registry.processes.end_session(&tenant, &session, KilledBy::Quota).await, 5);
    assert!(!pids.iter().any(|pid| lives(*pid)));
    registry.close().await;
}

#[tokio::test]
async fn failure_10_a_process_that_has_just_ended_is_known_until_it_is_swept() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("echo kept").await;
    let finished = registry.exit(id).await.finished.expect("a time");
    let day = chrono::TimeDelta::days(1);
    assert_eq!(registry.processes.sweep(finished + day - chrono::TimeDelta::seconds(1)).await.processes, 0);
    let polled = registry.processes.poll(&owner("one"), id, 10, 1_000).await.expect("a tombstone");
    assert_eq!((polled.stdout.text().as_str(), polled.process.status), ("kept\n", Status::Finished));

    assert_eq!(registry.processes.sweep(finished + day).await.processes, 1);
    let late = registry.processes.poll(&owner("one"), id, 10, 1_000).await;
    assert!(matches!(late, Err(ProcessError::NotFound)), "{late:?}");
    assert_eq!(files_below(&registry.directory.path().join("processes")), 2, "its files are gone, the locks are there");
    registry.close().await;
}

#[tokio::test]
async fn failure_11_polling_is_answered_with_advice_and_waiting_is_not() {
    let registry = TestRegistry::new().await;
    let id = registry.shell("exec sleep 1000").await;
    let begun = Instant::now();
    let mut advised = Vec::new();
    for number in 1..=20 {
        let polled = registry.processes.poll(&owner("one"), id, 1, 100).await.expect("a poll");
        advised.extend(polled.guidance.map(|_| number));
    }
    assert!(begun.elapsed() < AMPLE, "else it is due again");
    assert_eq!(advised, [5]);
    let exit = WaitCondition { exit: true, ..WaitCondition::default() };
    let totals = registry.processes.poll_totals();
    registry.processes.wait(&owner("one"), id, &exit, Duration::from_millis(10)).await.expect("a wait");
    assert_eq!(registry.processes.poll_totals(), totals, "a wait that blocked is no poll");
    registry.processes.wait(&owner("one"), id, &exit, Duration::ZERO).await.expect("a wait");
    assert_eq!(registry.processes.poll_totals().polls, totals.polls + 1, "one that did not is");
    registry.close().await;
}

#[tokio::test]
async fn failure_12_what_is_contained_is_followed_and_stopped_with_its_whole_tree() {
    if spawner().capabilities().await.expect("probed").containment.is_err() {
        // That it is refused then is tested where children are started.
        return;
    }
    let registry = TestRegistry::new().await;
    let contained = |command: &str| {
        let request = shell(command);
        SpawnRequest { containment: Containment::Required(Sandbox::default()), ..request }
    };
    let id = registry.start(contained("echo inside; exit 9")).await;
    let ended = registry.exit(id).await;
    assert_eq!((ended.exit, registry.tail(id).as_str()), (Some(Exit::Exited { code: 9 }), "inside\n"));

    // The leader is told apart from what it leaves in its namespace.
    let id = registry.start(contained("trap '' TERM; setsid sleep 1000 & echo up; exit 0")).await;
    let ended = registry.exit(id).await;
    assert_eq!((ended.exit, ended.descendants, ended.stdout.open), (Some(Exit::Exited { code: 0 }), Some(1), true));
    let stopped = registry.processes.stop(&owner("one"), id, Duration::from_millis(50)).await.expect("a stop");
    assert_eq!(stopped.descendants, Some(0));
    registry.close().await;
}

#[tokio::test]
async fn failure_12_limits_reach_the_child() {
    let registry = TestRegistry::new().await;
    let limits = ChildLimits { cpu_seconds: Some(1), open_files: Some(17), ..ChildLimits::default() };
    let id = registry.start(SpawnRequest { limits, ..shell("ulimit -n; while :; do :; done") }).await;
    assert_eq!(registry.exit(id).await.exit, Some(Exit::Signaled { signal: 24 }));
    assert_eq!(registry.tail(id), "17\n");
    registry.close().await;
}
