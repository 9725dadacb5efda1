//! Clocks that the operator made coarse, as a guest reads them.

use serde_json::{Value, json};
use wharf_tests::{Fixture, Setup, found};

/// Of 20 ms.
const STEP_NANOSECONDS: u64 = 20_000_000;
const COARSE: &str = "clock_resolution_microseconds = 20000";

/// Every time that was read.
fn times(report: &Value, clock: &str) -> Vec<u64> {
    let times = report[clock].as_array().expect("a list of times").iter();
    times.map(|time| time.as_u64().expect("a time")).collect()
}

async fn watched(fixture: &Fixture) -> Value {
    found(fixture.call("hostile__ask_workspace", json!({"function": "create"})).await);
    found(fixture.call("hostile__watch_clocks", json!({"milliseconds": 300, "path": "/workspace/seen"})).await)
}

#[tokio::test]
async fn a_guest_sees_time_in_the_steps_that_the_operator_gave_it() {
    let fixture = Setup::new().workspace("access = \"write\"").hostile(COARSE).open().await;
    let report = watched(&fixture).await;
    assert_eq!(report["resolution"], STEP_NANOSECONDS);
    assert_eq!(report["wallResolution"], STEP_NANOSECONDS);
    for (clock, step) in [
        ("monotonic", STEP_NANOSECONDS),
        ("wall", STEP_NANOSECONDS),
        ("files", STEP_NANOSECONDS),
        ("remaining", STEP_NANOSECONDS / 1_000_000),
    ] {
        let times = times(&report, clock);
        assert!(times.iter().all(|time| time % step == 0), "{clock}: {report}");
        // It goes on all the same, and nobody sees more steps than there were.
        assert!((3..=40).contains(&times.len()), "{clock}: {report}");
    }
    // The time of day and the other clock step together.
    assert!(times(&report, "wall").len().abs_diff(times(&report, "monotonic").len()) <= 1, "{report}");
}

#[tokio::test]
async fn a_guest_of_which_nothing_is_said_has_the_clocks_of_the_system() {
    let fixture = Setup::new().workspace("access = \"write\"").open().await;
    let report = watched(&fixture).await;
    for clock in ["monotonic", "wall"] {
        assert!(times(&report, clock).iter().any(|time| time % STEP_NANOSECONDS != 0), "{clock}: {report}");
    }
    assert!(report["resolution"].as_u64().is_some_and(|resolution| resolution < STEP_NANOSECONDS), "{report}");
}

#[tokio::test]
async fn no_guest_counts_short_waits_to_tell_what_its_clock_does_not() {
    let setup = || Setup::new().limit("wall_time_milliseconds", 60_000);
    let fine = setup().open().await;
    let counted = |report: &Value| (report["waits"].as_u64(), report["instants"].as_u64());
    let report = found(fine.call("hostile__wait_shortly", json!({"microseconds": 100})).await);
    assert!(matches!(counted(&report), (Some(100..), Some(100..))), "{report}");
    let coarse = setup().hostile(COARSE).open().await;
    let report = found(coarse.call("hostile__wait_shortly", json!({"microseconds": 100})).await);
    // One wait for each of the 50 steps of a second.
    assert!(matches!(counted(&report), (Some(5..=51), Some(5..=51))), "{report}");
}
