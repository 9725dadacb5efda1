//! SIGKILL of the host at random moments under load. `cargo xtask soak` runs
//! many more rounds.

use std::time::Duration;

use wharf_test_support::postgres::PostgresServer;
use wharf_tests::kills::{Kills, ManyKills, Survived, run, run_many};

fn seed() -> u64 {
    std::env::var("WHARF_SOAK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        since.map_or(1, |since| u64::from(since.subsec_nanos()))
    })
}

#[expect(clippy::print_stdout, reason = "the seed of a run that failed, and its figures")]
fn report(kills: Kills) -> Survived {
    println!("{} rounds, seed {}", kills.rounds, kills.seed);
    let survived = run(kills);
    println!(
        "{} changes acknowledged, all there; of the calls in flight {} had happened and {} had not; the first call was \
         answered {} ms after the start, {} ms at most",
        survived.acknowledged,
        survived.happened_unanswered,
        survived.lost_unanswered,
        survived.usual_restart().as_millis(),
        survived.slowest_restart().as_millis(),
    );
    survived
}

/// Kills of hosts of each of two clusters, which wait most of the time; `cargo xtask soak` makes many more.
const MANY: u32 = 30;

/// As many kills as `cargo xtask soak` asks for.
fn soak() -> Option<u32> {
    std::env::var("WHARF_SOAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok())
}

/// Thirty kills, or as many as `cargo xtask soak` asks for.
#[test]
fn kills_under_load_lose_nothing_acknowledged_and_leave_nothing_by_half() {
    let soak = soak();
    let rounds = soak.unwrap_or(30);
    let survived = report(Kills { rounds, seed: seed(), database: None });
    assert!(survived.acknowledged > u64::from(rounds) * 10, "{} changes prove little", survived.acknowledged);
    // Beside other tests, most of a restart is waiting for the machine.
    let bar = Duration::from_secs(if soak.is_some() { 1 } else { 10 });
    assert!(survived.usual_restart() < bar, "{:?}", survived.restarts);
    if soak.is_some() {
        let slowest = survived.slowest_restart();
        assert!(slowest < bar, "a restart took {slowest:?}, and {bar:?} is the bar");
    }
}

/// The same on a database, where a host with another data directory takes over each time.
#[test]
fn a_host_that_takes_over_from_a_killed_one_finds_all_that_it_acknowledged() {
    let Some(server) = PostgresServer::start() else { return };
    let rounds = soak().unwrap_or(20);
    let survived = report(Kills { rounds, seed: seed(), database: Some(server) });
    assert!(survived.acknowledged > u64::from(rounds) * 10, "{} changes prove little", survived.acknowledged);
}

/// Any of three hosts is killed while callers go to all of them.
#[test]
fn kills_of_hosts_of_a_cluster_lose_nothing_acknowledged_and_no_two_hosts_act_for_a_session() {
    kill_hosts(seed());
}

/// The same from another seed, beside the first.
#[test]
fn kills_of_hosts_of_another_cluster_lose_nothing_acknowledged_either() {
    kill_hosts(seed().wrapping_add(1));
}

#[expect(clippy::print_stdout, reason = "the seed of a run that failed, and its figures")]
fn kill_hosts(seed: u64) {
    let kills = ManyKills { rounds: soak().map_or(MANY, |rounds| rounds.div_ceil(2)), seed };
    println!("{} rounds, seed {}", kills.rounds, kills.seed);
    let Some(survived) = run_many(kills) else { return };
    let mut gone = survived.gone.clone();
    gone.sort();
    println!(
        "{} changes acknowledged, all there; files told as lost {} times; the first other host knew after {} ms, {} ms at \
         most",
        survived.acknowledged,
        survived.files_lost,
        gone[gone.len() / 2].as_millis(),
        gone.last().expect("one").as_millis(),
    );
    assert!(survived.acknowledged > u64::from(kills.rounds) * 10, "{} changes prove little", survived.acknowledged);
}
