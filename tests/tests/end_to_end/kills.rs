//! SIGKILL of the host at random moments under load. `cargo xtask soak` runs
//! many more rounds.

use std::time::Duration;

use wharf_tests::kills::{Kills, Survived, run};

fn seed() -> u64 {
    std::env::var("WHARF_SOAK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        since.map_or(1, |since| u64::from(since.subsec_nanos()))
    })
}

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

#[test]
fn thirty_kills_under_load_lose_nothing_acknowledged_and_leave_nothing_by_half() {
    let survived = report(Kills { rounds: 30, seed: seed() });
    assert!(survived.acknowledged > 300, "{} changes prove little", survived.acknowledged);
    // Most of it is waiting for the machine, which other tests use at once.
    assert!(survived.usual_restart() < Duration::from_secs(10), "{:?}", survived.restarts);
}

/// Run by `cargo xtask soak`.
#[test]
#[ignore = "many rounds: cargo xtask soak"]
fn soak() {
    let rounds = std::env::var("WHARF_SOAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    let survived = report(Kills { rounds, seed: seed() });
    let slowest = survived.slowest_restart();
    assert!(slowest < Duration::from_secs(1), "a restart took {slowest:?}, and 1 s is the bar");
}
