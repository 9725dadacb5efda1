//! Output and ends.

use std::time::{Duration, Instant};

use wharf_process::{
    Exit, KilledBy, LaunchError, ProcessError, Settings, Signal, Status, StreamName, output::OutputLimits,
};

use crate::support::{AMPLE, Room, lives, owner, settings, shell};
use crate::waiting::{exit, pattern};

#[tokio::test]
async fn failure_1_descendants_that_hold_the_pipe_do_not_hold_up_the_exit() {
    let room = Room::new();
    for command in ["sleep 1000 & echo $!", "setsid sleep 1000 & echo $!", "trap '' HUP; sleep 1000 & echo $!"] {
        let id = room.shell(command).await;
        let waited = exit(&room, id).await;
        assert_eq!(waited.exit, Some(Exit::Exited { code: 0 }), "{command}");
        assert!(waited.stdout.open, "{command}: the stream is reported as open");
        assert_eq!(waited.descendants, 1, "{command}");
        let printed = room.processes.tail(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a tail").text();
        let pid = printed.trim().parse().expect("a process id");
        assert!(lives(pid));
        // They can still be stopped, and the streams then close.
        let stopped = room.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
        assert_eq!((stopped.exit, stopped.descendants, lives(pid)), (Some(Exit::Exited { code: 0 }), 0, false));
    }
    room.close().await;
}

#[tokio::test]
async fn failure_1_a_process_that_closed_its_streams_still_runs() {
    let room = Room::new();
    let id = room.shell("exec >&- 2>&-; exec sleep 1000").await;
    let closed = wharf_process::Until { idle: Some(Duration::from_millis(200)), ..Default::default() };
    room.processes.wait(&owner("one"), id, &closed, AMPLE).await.expect("a wait");
    let snapshot = room.processes.snapshot(&owner("one"), id).expect("a process");
    assert_eq!((snapshot.status, snapshot.stdout.open), (Status::Running, false));
    room.close().await;
}

#[tokio::test]
async fn failure_2_a_process_that_prints_megabytes_ends_without_being_read() {
    let room = Room::new();
    let id = room.shell("head -c 8000000 /dev/zero; head -c 3000000 /dev/zero >&2").await;
    let ended = exit(&room, id).await;
    assert_eq!(ended.status, Status::Finished);
    assert_eq!((ended.stdout.bytes, ended.stderr.bytes), (8_000_000, 3_000_000));
    room.close().await;
}

#[tokio::test]
async fn failure_9_characters_that_come_in_halves_are_read_whole() {
    let room = Room::new();
    let mut request = shell(r"printf 'caf\303'; read line; printf '\251 \377\n'");
    request.input = true;
    let id = room.start(request).await;
    assert!(pattern(&room, id, "caf").await);
    let read = |cursor| room.processes.read(&owner("one"), id, StreamName::Stdout, cursor, 100).expect("a read");
    assert_eq!(read(0).text(), "caf");
    room.processes.write(&owner("one"), id, b"on\n", AMPLE).await.expect("written");
    exit(&room, id).await;
    assert_eq!(read(read(0).next().min(3)).text(), "é \u{fffd}\n");
    room.close().await;
}

#[tokio::test]
async fn failure_10_every_end_is_told_as_what_it_was() {
    let room = Room::new();
    let ends = [
        ("true", Exit::Exited { code: 0 }, Status::Finished),
        ("exit 7", Exit::Exited { code: 7 }, Status::Failed),
        ("kill -SEGV $$", Exit::Signaled { signal: 11 }, Status::Killed),
    ];
    for (command, expected, status) in ends {
        let id = room.shell(command).await;
        let ended = exit(&room, id).await;
        assert_eq!((ended.exit, ended.status), (Some(expected), status), "{command}");
        assert!(ended.finished.expect("a time") >= ended.started);
    }
    let id = room.shell("sleep 1000").await;
    room.processes.signal(&owner("one"), id, Signal::User1).expect("sent");
    assert_eq!(exit(&room, id).await.exit, Some(Exit::Signaled { signal: 10 }));
    assert!(matches!(room.processes.signal(&owner("one"), id, Signal::Hangup), Err(ProcessError::Ended)));
    room.close().await;
}

#[tokio::test]
async fn failure_10_a_time_limit_is_never_an_exit_with_code_0() {
    let room = Room::new();
    let polite = "trap 'exit 0' TERM; while :; do sleep 0.01; done";
    let lifetime = |request| wharf_process::SpawnRequest { lifetime: Some(Duration::from_millis(300)), ..request };
    let silence = |request| wharf_process::SpawnRequest { silence: Some(Duration::from_millis(300)), ..request };
    for request in [lifetime(shell(polite)), silence(shell(polite))] {
        let id = room.start(request).await;
        let ended = exit(&room, id).await;
        assert_eq!(ended.exit, Some(Exit::Killed { by: KilledBy::TimeLimit }));
        assert_eq!((ended.status, ended.descendants), (Status::Killed, 0));
    }
    room.close().await;
}

#[tokio::test]
async fn failure_10_a_flood_of_output_stops_at_the_quota() {
    let output = OutputLimits { kept_bytes: 1 << 20, total_bytes: 10_000_000 };
    let room = Room::with(Settings { output, ..settings() });
    let id = room.shell("trap '' TERM PIPE; yes & exec yes").await;
    let ended = exit(&room, id).await;
    assert_eq!(ended.exit, Some(Exit::Killed { by: KilledBy::Quota }));
    assert_eq!((ended.stdout.bytes, ended.descendants), (10_000_000, 0));
    assert!(ended.stdout.evicted_before >= 10_000_000 - (1 << 20));
    room.close().await;
}

#[tokio::test]
async fn failure_10_a_process_that_has_just_ended_is_known_until_it_is_swept() {
    let room = Room::new();
    let id = room.shell("echo kept").await;
    let finished = exit(&room, id).await.finished.expect("a time");
    let day = chrono::TimeDelta::days(1);
    assert_eq!(room.processes.sweep(finished + day - chrono::TimeDelta::seconds(1)).await.processes, 0);
    let polled = room.processes.poll(&owner("one"), id, 10, 1_000).expect("a tombstone");
    assert_eq!((polled.stdout.text().as_str(), polled.process.status), ("kept\n", Status::Finished));

    assert_eq!(room.processes.sweep(finished + day).await.processes, 1);
    assert!(matches!(room.processes.poll(&owner("one"), id, 10, 1_000), Err(ProcessError::NotFound)));
    let locks_only = crate::support::files_below(&room.directory.path().join("processes"));
    assert_eq!(locks_only, 2, "its files are gone");
    room.close().await;
}

#[tokio::test]
async fn failure_11_polling_is_answered_with_advice_and_waiting_is_not() {
    let room = Room::new();
    let id = room.shell("sleep 1000").await;
    let begun = Instant::now();
    let advised: Vec<_> = (1..=20)
        .filter(|_| room.processes.poll(&owner("one"), id, 1, 100).expect("a poll").guidance.is_some())
        .collect();
    assert!(begun.elapsed() < AMPLE, "else it is due again");
    assert_eq!(advised, [3]);
    let nothing = wharf_process::Until { exit: true, ..Default::default() };
    let totals = room.processes.poll_totals();
    room.processes.wait(&owner("one"), id, &nothing, Duration::from_millis(10)).await.expect("a wait");
    assert_eq!(room.processes.poll_totals(), totals, "a wait that blocked is no poll");
    room.processes.wait(&owner("one"), id, &nothing, Duration::ZERO).await.expect("a wait");
    assert_eq!(room.processes.poll_totals().polls, totals.polls + 1, "one that did not is");
    room.close().await;
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_error_and_listed_as_failed() {
    let room = Room::new();
    let request = wharf_process::SpawnRequest { program: "no-such-program".into(), ..shell("") };
    let error = room.processes.spawn(&owner("one"), request).await.expect_err("no program");
    assert!(matches!(error, ProcessError::Start { source: LaunchError::Failed { .. } }), "{error:?}");
    let listed = room.processes.list(&owner("one")).remove(0);
    assert_eq!((listed.status, listed.stdout.open), (Status::Failed, false));
    assert!(matches!(listed.exit, Some(Exit::NotStarted { reason }) if reason.contains("no-such-program")));
    room.close().await;
}

#[tokio::test]
async fn input_is_written_in_order_and_ends_when_it_is_closed() {
    let room = Room::new();
    let id = room.start(wharf_process::SpawnRequest { input: true, ..shell("exec wc -c") }).await;
    let much = vec![b'x'; 1_000_000];
    let written = room.processes.write(&owner("one"), id, &much, AMPLE).await.expect("written");
    assert_eq!(written, much.len());
    room.processes.close_input(&owner("one"), id).await.expect("closed");
    room.processes.close_input(&owner("one"), id).await.expect("closed before");
    exit(&room, id).await;
    let printed = room.processes.head(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a head").text();
    assert_eq!(printed.trim(), "1000000");
    let error = room.processes.write(&owner("one"), id, b"more", AMPLE).await.expect_err("closed");
    assert!(matches!(error, ProcessError::InputClosed));

    // One that does not read takes what the pipe holds, and no longer.
    let id = room.start(wharf_process::SpawnRequest { input: true, ..shell("exec sleep 1000") }).await;
    let soon = Duration::from_millis(50);
    let written = room.processes.write(&owner("one"), id, &much, soon).await.expect("some is written");
    assert!((1..much.len()).contains(&written), "{written}");
    room.close().await;
}
