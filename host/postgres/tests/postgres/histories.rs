//! Histories of reads and of compare-and-swap on several hosts, some of whose connections are cut:
//! the revisions form one chain, every read lies on it, and both agree with the order in time.

mod chain;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

use parking_lot::Mutex;
use tokio::task::JoinSet;
use wharf_postgres::PostgresStore;
use wharf_state::{StateChange, StateError, StateStore as _};
use wharf_test_support::{postgres::PostgresServer, soon, until_async};

use self::chain::{Observation, Seen};
use super::{fresh, open, policy, put, raw, session};

const HOSTS: usize = 3;
const TASKS: usize = 4;
/// Acknowledged writes of the whole history.
const WRITES: u64 = 300;
/// How often all connections are cut.
const CUTS: u64 = 10;

/// A history that is being made. Its time is a counter: no two moments are the same.
#[derive(Default)]
struct History {
    moments: AtomicU64,
    values: AtomicU64,
    written: AtomicU64,
    is_over: AtomicBool,
    seen: Mutex<Vec<Observation>>,
}

impl History {
    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, SeqCst)
    }

    fn saw(&self, began: u64, seen: Seen) {
        // Nobody knows when a write ends of which nobody knows whether it was made.
        let ended = if matches!(seen, Seen::MayHaveWritten { .. }) { u64::MAX } else { self.moment() };
        self.seen.lock().push(Observation { began, ended, seen });
    }

    /// Reads, and writes another value where that one still is.
    async fn step(&self, store: &PostgresStore) {
        let scope = session("history");
        let began = self.moment();
        let read = store.get_many(&scope, &policy(), &["key".into()], 100).await;
        // A read that fails tells nothing.
        let Ok(read) = read.map(|mut found| found.remove(0)) else { return };
        let (over, revision) = read
            .map_or((0, 0), |entry| (u64::from_le_bytes(entry.value.try_into().expect("eight bytes")), entry.revision));
        self.saw(began, Seen::Read { value: over });

        let value = self.values.fetch_add(1, SeqCst) + 1;
        let change = StateChange { if_revision: Some(revision), ..put("key", &value.to_le_bytes()) };
        let began = self.moment();
        match store.apply(&scope, &policy(), vec![change], soon()).await {
            Ok(_) => {
                self.saw(began, Seen::Wrote { over, value });
                self.written.fetch_add(1, SeqCst);
            }
            Err(StateError::Conflict { .. }) => {}
            Err(_) => self.saw(began, Seen::MayHaveWritten { over, value }),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revisions_form_one_chain_that_agrees_with_time_though_connections_are_cut() {
    let Some(server) = PostgresServer::start() else { return };
    let connection = fresh(&server).await;
    let (history, mut tasks) = (Arc::new(History::default()), JoinSet::new());
    for _ in 0..HOSTS {
        let store = Arc::new(open(&connection).await);
        for _ in 0..TASKS {
            let (history, store) = (Arc::clone(&history), Arc::clone(&store));
            tasks.spawn(async move {
                while !history.is_over.load(SeqCst) {
                    history.step(&store).await;
                }
            });
        }
    }
    let cutter = raw(&connection).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for number in 1..=CUTS {
        let until = number * WRITES / (CUTS + 1);
        until_async("hosts have written", async || history.written.load(SeqCst) >= until).await;
        cutter.batch_execute(cut).await.expect("cut");
    }
    until_async("hosts have written", async || history.written.load(SeqCst) >= WRITES).await;
    history.is_over.store(true, SeqCst);
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a task of a host");
    }
    let seen = history.seen.lock();
    chain::explain(&seen).unwrap_or_else(|problem| panic!("{problem}: {seen:#?}"));
}
