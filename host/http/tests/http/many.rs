//! A thousand readers at once, some of which lose their connections.

use std::{sync::Arc, time::Duration};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::{sync::Semaphore, time::timeout};
use wharf_core::{HttpLimits, StreamLimits};

use crate::{
    client::Client,
    support::{say, start_with},
};

const READERS: usize = 1_000;
const EVENTS: u64 = 200;

/// Both ends of every connection are in this process.
const DESCRIPTORS: u64 = 3_000;

/// Reads a stream to its end; where it drops, once at each of these events.
async fn read(client: Client, path: String, drops_behind: Vec<u64>, connected: Arc<Semaphore>) -> Vec<u64> {
    let (mut seen, mut drops) = (Vec::new(), drops_behind.into_iter().peekable());
    let mut events = client.follow(&path).await;
    connected.add_permits(1);
    loop {
        let sent = events.next().await.expect("an end that says so");
        match sent.kind.as_str() {
            "message" => seen.push(sent.id.expect("numbered")),
            "end" => return seen,
            other => panic!("{other}: {}", sent.data),
        }
        if drops.next_if(|at| seen.last() == Some(at)).is_some() {
            let last = seen.last().map(u64::to_string).unwrap_or_default();
            events = client.with("last-event-id", last).follow(&path).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
async fn a_thousand_readers_of_whom_a_tenth_drop_and_resume_lose_nothing_and_see_nothing_twice() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("readable");
    if hard < DESCRIPTORS {
        eprintln!("not tested: this process may open {hard} files, and {DESCRIPTORS} are needed");
        return;
    }
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(DESCRIPTORS), hard).expect("allowed");
    // A connection that was dropped has its place until the server has seen it.
    let limits = HttpLimits {
        readers: 1_500,
        readers_per_tenant: 1_500,
        connections: 1_500,
        connections_per_tenant: 1_500,
        requests_per_second: 10_000,
        ..HttpLimits::default()
    };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let writer = served.stream();
    let path = format!("/v1/streams/{}/events", writer.id());
    let connected = Arc::new(Semaphore::new(0));
    let readers: Vec<_> = (0..READERS)
        .map(|reader| {
            // Each tenth one drops three times, each at other events.
            let first = reader as u64 % 50 + 1;
            let drops = if reader % 10 == 0 { vec![first, first + 60, first + 61] } else { Vec::new() };
            tokio::spawn(read(served.client.clone(), path.clone(), drops, Arc::clone(&connected)))
        })
        .collect();
    let all = u32::try_from(READERS).expect("few");
    drop(timeout(Duration::from_secs(120), connected.acquire_many(all)).await.expect("all connect").expect("open"));
    for number in 1..=EVENTS {
        assert_eq!(say(&writer, &number.to_string()), number);
        tokio::task::yield_now().await;
    }
    writer.close();
    for reader in readers {
        assert_eq!(reader.await.expect("no panic"), (1..=EVENTS).collect::<Vec<_>>());
    }
}
