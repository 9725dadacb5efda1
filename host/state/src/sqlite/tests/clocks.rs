//! Expiry with wrong clocks and machines that were off.

use std::fs::File;

use super::*;
use crate::{Inventory as _, ManualClock, SqliteInventory, clock::Uptime};

const DAY: Duration = Duration::from_secs(24 * 3_600);
const YEARS: Duration = Duration::from_secs(5 * 365 * 24 * 3_600);
const IDLE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The time at which these tests begin.
const START: Duration = Duration::from_secs(1_790_000_000);

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + START
}

fn clock_at(time: SystemTime) -> Arc<ManualClock> {
    Arc::new(ManualClock::starting_at(time))
}

fn open_at(directory: &Path, clock: &Arc<ManualClock>) -> SqliteStore {
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    SqliteStore::open(directory, SqliteOptions { clock, ..SqliteOptions::default() }).expect("a store")
}

fn for_a_month() -> ScopePolicy {
    ScopePolicy { idle_expiry: Some(IDLE), ..policy() }
}

/// Writes eight todos, each in a session of its own.
async fn write_all(store: &SqliteStore) {
    for session in 0..8 {
        let scope = scope("local", &session.to_string());
        store.apply(&scope, &for_a_month(), put("todo", b"write it down"), soon()).await.expect("a put");
    }
}

/// The number of todos that are left after a sweep.
async fn left(store: &SqliteStore) -> usize {
    store.sweep(store.host_time().passed()).await.expect("a sweep");
    let mut left = 0;
    for session in 0..8 {
        // `usage` is no use, which would lengthen its life.
        left += usize::from(store.usage(&scope("local", &session.to_string())).await.expect("usage").entries > 0);
    }
    left
}

#[tokio::test]
async fn a_clock_that_jumps_while_a_host_runs_ends_nothing() {
    let (directory, clock) = (temporary(), clock_at(start()));
    let store = open_at(directory.path(), &clock);
    write_all(&store).await;
    for wrong in [start() + YEARS, SystemTime::UNIX_EPOCH, start() + YEARS] {
        clock.set(wrong);
        assert_eq!(left(&store).await, 8, "{wrong:?}");
        assert!(store.host_time().doubt().is_some());
    }
    clock.set(start() + DAY);
    clock.advance(IDLE - DAY);
    assert_eq!((left(&store).await, store.host_time().doubt()), (8, None));
    clock.advance(DAY);
    assert_eq!(left(&store).await, 0, "a month has really passed");
}

#[tokio::test]
async fn what_is_written_under_a_clock_that_is_wrong_outlives_its_correction() {
    for wrong in [start() + YEARS, SystemTime::UNIX_EPOCH + DAY] {
        for reboots in [false, true] {
            let (directory, clock) = (temporary(), clock_at(wrong));
            write_all(&open_at(directory.path(), &clock)).await;
            if reboots {
                clock.reboot_after(Duration::ZERO);
            }
            clock.set(start());
            let store = open_at(directory.path(), &clock);
            assert_eq!(left(&store).await, 8, "{wrong:?}, {reboots}");
            clock.advance(DAY);
            assert_eq!(left(&store).await, 8, "{wrong:?}, {reboots}");
            let read = value(&store, &scope("local", "0"), "todo").await;
            assert!(read.is_some());
        }
    }
}

#[tokio::test]
async fn a_clock_that_jumps_between_two_hosts_ends_nothing_until_time_has_passed() {
    for reboots in [false, true] {
        let (directory, clock) = (temporary(), clock_at(start()));
        write_all(&open_at(directory.path(), &clock)).await;
        if reboots {
            clock.reboot_after(YEARS);
        } else {
            clock.set(start() + YEARS);
        }
        for _ in 0..3 {
            let store = open_at(directory.path(), &clock);
            assert_eq!(left(&store).await, 8, "reboots: {reboots}");
            assert!(store.host_time().doubt().is_some());
            clock.advance(DAY);
        }
        clock.advance(IDLE);
        let store = open_at(directory.path(), &clock);
        assert_eq!(left(&store).await, 0, "reboots: {reboots}");
    }
}

#[tokio::test]
async fn a_machine_that_was_off_for_days_has_spent_them() {
    let (directory, clock) = (temporary(), clock_at(start()));
    write_all(&open_at(directory.path(), &clock)).await;
    for _ in 0..9 {
        clock.reboot_after(3 * DAY);
        let store = open_at(directory.path(), &clock);
        assert_eq!((left(&store).await, store.host_time().doubt()), (8, None));
    }
    clock.reboot_after(3 * DAY);
    assert_eq!(left(&open_at(directory.path(), &clock)).await, 0);
}

#[tokio::test]
async fn the_operator_confirms_a_clock_and_what_was_used_since_stays() {
    let (directory, clock) = (temporary(), clock_at(start()));
    write_all(&open_at(directory.path(), &clock)).await;
    clock.reboot_after(YEARS);
    let store = open_at(directory.path(), &clock);
    store.apply(&scope("local", "0"), &for_a_month(), put("todo", b"again"), soon()).await.expect("a put");
    assert_eq!(left(&store).await, 8);
    let inventory =
        SqliteInventory::open(directory.path()).expect("opened").with_clock(Arc::clone(&clock) as Arc<dyn Clock>);
    let doubt = inventory.clock_doubt().expect("read").expect("a doubt");
    assert_eq!((doubt.wall, doubt.counted), (start() + YEARS, start()));
    assert_eq!(inventory.confirm_clock().expect("confirmed"), Some(doubt));
    assert_eq!(inventory.clock_doubt().expect("read"), None);
    // A running host learns of it at its next sweep.
    store.sweep(store.host_time().passed()).await.expect("a sweep");
    assert_eq!((left(&store).await, store.host_time().doubt()), (1, None));
}

#[tokio::test]
async fn a_store_of_hosts_that_counted_no_time_is_as_old_as_its_last_change() {
    let directory = temporary();
    write_all(&open(directory.path())).await;
    raw(directory.path()).execute_batch("DELETE FROM clock").expect("deleted");
    for file in std::fs::read_dir(directory.path()).expect("a listing") {
        let file = File::options().write(true).open(file.expect("a file").path()).expect("opened");
        file.set_modified(SystemTime::now() - YEARS).expect("changed");
    }
    let store = open(directory.path());
    assert!(store.host_time().doubt().is_some());
    assert_eq!(left(&store).await, 8);
}

/// A clock of a machine without an uptime.
#[derive(Debug)]
struct ClockWithoutUptime(Arc<ManualClock>);

impl Clock for ClockWithoutUptime {
    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn uptime(&self) -> Option<Uptime> {
        None
    }
}

#[tokio::test]
async fn without_the_word_of_the_machine_a_pause_counts_up_to_a_week() {
    let (directory, clock) = (temporary(), clock_at(start()));
    let open = || {
        let clock = Arc::new(ClockWithoutUptime(Arc::clone(&clock))) as Arc<dyn Clock>;
        SqliteStore::open(directory.path(), SqliteOptions { clock, ..SqliteOptions::default() }).expect("a store")
    };
    write_all(&open()).await;
    clock.advance(3 * DAY);
    let store = open();
    assert_eq!((store.host_time().passed(), store.host_time().doubt()), (start() + 3 * DAY, None));
    clock.set(start() + YEARS);
    assert_eq!(left(&store).await, 8);
    drop(store);
    let store = open();
    assert_eq!(left(&store).await, 8);
    assert!(store.host_time().doubt().is_some());
}
