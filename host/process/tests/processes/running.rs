//! Starts and input.

use std::{sync::mpsc, task::Poll, time::Duration};

use tokio::{runtime, task::spawn_blocking};
use wharf_process::{Exit, ProcessError, SpawnRequest, Status, StreamName};
use wharf_spawn::SpawnError;
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, files_below, owner, shell};

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_error_and_listed_as_failed() {
    let registry = TestRegistry::new().await;
    let request = SpawnRequest { program: "/bin/no-such-program".into(), ..shell("") };
    let error = registry.processes.spawn(&owner("one"), request, 1).await.expect_err("no program");
    assert!(matches!(error, ProcessError::Start { source: SpawnError::Program { .. } }), "{error:?}");
    let listed = registry.processes.list(&owner("one")).await.remove(0);
    assert_eq!((listed.status, listed.stdout.open), (Status::Failed, false));
    assert!(
        matches!(listed.exit, Some(Exit::NotStarted { reason }) if reason.contains("cannot run /bin/no-such-program: "))
    );
    registry.close().await;
}

#[tokio::test]
async fn input_is_written_in_order_and_ends_when_it_is_closed() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell("exec wc -c") }).await;
    let much = vec![b'x'; 1_000_000];
    let written = registry.processes.write(&owner("one"), id, &much, AMPLE).await.expect("written");
    assert_eq!(written, much.len());
    registry.processes.close_input(&owner("one"), id).await.expect("closed");
    registry.processes.close_input(&owner("one"), id).await.expect("closed before");
    registry.exit(id).await;
    let printed = registry.processes.head(&owner("one"), id, StreamName::Stdout, 1, 100).expect("a head").text();
    assert_eq!(printed.trim(), "1000000");
    let error = registry.processes.write(&owner("one"), id, b"more", AMPLE).await.expect_err("closed");
    assert!(matches!(error, ProcessError::InputClosed));

    // One that does not read takes what the pipe holds, and no longer.
    let id = registry.start(SpawnRequest { input: true, ..shell("exec sleep 1000") }).await;
    let soon = Duration::from_millis(50);
    let written = registry.processes.write(&owner("one"), id, &much, soon).await.expect("some is written");
    assert!((1..much.len()).contains(&written), "{written}");
    registry.close().await;
}

#[tokio::test]
async fn a_write_that_nobody_reads_ends_with_the_process_and_holds_up_no_stop() {
    let registry = TestRegistry::new().await;
    let command = "exec 3<&0; sleep 1000 <&3 & read line; exit 5";
    let id = registry.start(SpawnRequest { input: true, ..shell(command) }).await;
    let much = [b"on\n".as_slice(), &vec![b'x'; 1_000_000]].concat();
    let begun = std::time::Instant::now();
    let written = registry.processes.write(&owner("one"), id, &much, AMPLE).await.expect("some is written");
    assert!(begun.elapsed() < AMPLE && (1..much.len()).contains(&written), "{written}");
    assert_eq!(registry.exit(id).await.exit, Some(Exit::Exited { code: 5 }));
    let stopped = registry.processes.stop(&owner("one"), id, AMPLE).await.expect("a stop");
    assert_eq!(stopped.descendants, Some(0));
    registry.close().await;
}

#[test]
fn a_start_that_is_given_up_before_it_has_a_place_leaves_nothing() {
    // One thread makes files, one start after the other.
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    runtime.expect("a runtime").block_on(async {
        let registry = TestRegistry::new().await;
        let owner = owner("one");
        let (release, released) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || released.recv());
        let mut start = Box::pin(registry.processes.spawn(&owner, shell("exec sleep 1000"), 1));
        let pending = std::future::poll_fn(|context| Poll::Ready(start.as_mut().poll(context).is_pending())).await;
        assert!(pending, "its files are made by the thread that is busy");
        drop(start);
        release.send(()).expect("it waits");
        busy.await.expect("it ends").expect("was released");
        // This is behind the files of the start.
        spawn_blocking(|| ()).await.expect("the thread goes on");
        assert_eq!(files_below(&registry.directory.path().join("processes")), 2, "nothing but the locks is left");
        assert!(registry.processes.list(&owner).await.is_empty());
        registry.close().await;
    });
}
