//! Looks at clocks, for an attack that measures what it cannot read.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wasip2::clocks::{
    monotonic_clock::{self, subscribe_duration, subscribe_instant},
    wall_clock::{self, Datetime},
};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::caller;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, number, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "watch_clocks",
        "Reads every clock for so long, and says which times it saw.",
        &[("milliseconds", "integer"), ("path?", "string")],
        watch,
    ),
    Attack::new("wait_shortly", "Waits so often for so long, and counts.", &[("microseconds", "integer")], shortly),
];

fn nanoseconds(time: Datetime) -> u64 {
    time.seconds * 1_000_000_000 + u64::from(time.nanoseconds)
}

/// When a file was changed, by the system's own clock.
fn changed(path: &str) -> Option<u64> {
    std::fs::write(path, "x").ok()?;
    let changed = std::fs::metadata(path).ok()?.modified().ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

fn watch(arguments: &Value) -> Result<Answer, Error> {
    let [mut monotonic, mut wall, mut remaining, mut files] = [const { BTreeSet::<u64>::new() }; 4];
    let until = monotonic_clock::now() + number(arguments, "milliseconds") * 1_000_000;
    let path = arguments.get("path").map(|_| text(arguments, "path"));
    while monotonic_clock::now() < until && monotonic.len() < 1_000 {
        monotonic.insert(monotonic_clock::now());
        wall.insert(nanoseconds(wall_clock::now()));
        remaining.insert(caller::remaining());
        files.extend(path.and_then(changed));
    }
    report(&json!({
        "monotonic": monotonic, "wall": wall, "remaining": remaining, "files": files,
        "resolution": monotonic_clock::resolution(), "wallResolution": nanoseconds(wall_clock::resolution()),
    }))
}

/// How many waits a second has: a guest that counts them has a clock, too.
fn shortly(arguments: &Value) -> Result<Answer, Error> {
    let wait = number(arguments, "microseconds") * 1_000;
    let until = monotonic_clock::now() + 1_000_000_000;
    let (mut waits, mut instants) = (0_u64, 0_u64);
    while monotonic_clock::now() < until {
        subscribe_duration(wait).block();
        waits += 1;
    }
    let until = until + 1_000_000_000;
    while monotonic_clock::now() < until {
        subscribe_instant(monotonic_clock::now() + wait).block();
        instants += 1;
    }
    report(&json!({ "waits": waits, "instants": instants }))
}
