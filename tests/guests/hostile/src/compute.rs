//! Attacks on time: computing, waiting, and not coming back.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::caller;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, number, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "spin",
        "Computes for so long, or for ever without the argument.",
        &[("milliseconds?", "integer")],
        spin,
    ),
    Attack::new("spin_iterations", "Computes so many steps.", &[("iterations", "integer")], spin_iterations),
    Attack::new("sleep", "Waits once for so long.", &[("milliseconds", "integer")], sleep),
    Attack::new("sleep_forever", "Waits, and then waits again.", &[], sleep_forever),
    Attack::new("recurse", "Calls itself so deep.", &[("depth", "integer")], recurse),
    Attack::new("panic", "Panics with a message.", &[("message", "string")], panic),
    Attack::new("trap", "Runs into an instruction that traps.", &[], trap),
    Attack::new("out_of_bounds", "Reads memory that it does not have.", &[], out_of_bounds),
    Attack::new("exit", "Ends the program with a code.", &[("code", "integer")], exit),
    Attack::new(
        "remaining",
        "Says how much time is left before and after a wait.",
        &[("milliseconds", "integer")],
        left,
    ),
];

fn spin(arguments: &Value) -> Result<Answer, Error> {
    if arguments.get("milliseconds").is_none() {
        // No host call in here: only the host's own interruption ends it.
        let mut state = 1_u64;
        loop {
            state = black_box(step(state));
        }
    }
    let wanted = Duration::from_millis(number(arguments, "milliseconds"));
    let (start, mut state) = (Instant::now(), 1_u64);
    while start.elapsed() < wanted {
        for _ in 0..10_000 {
            state = black_box(step(state));
        }
    }
    report(&json!({ "state": state }))
}

fn spin_iterations(arguments: &Value) -> Result<Answer, Error> {
    let state = (0..number(arguments, "iterations")).fold(1, |state, _| black_box(step(state)));
    report(&json!({ "state": state }))
}

fn step(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

fn sleep(arguments: &Value) -> Result<Answer, Error> {
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(number(arguments, "milliseconds")));
    report(&json!({ "slept": elapsed_milliseconds(start) }))
}

fn sleep_forever(_arguments: &Value) -> Result<Answer, Error> {
    loop {
        std::thread::sleep(Duration::from_secs(3_600));
    }
}

fn recurse(arguments: &Value) -> Result<Answer, Error> {
    report(&json!({ "depth": deeper(number(arguments, "depth")) }))
}

fn deeper(depth: u64) -> u64 {
    if black_box(depth) == 0 { 0 } else { black_box(deeper(depth - 1)) + 1 }
}

fn panic(arguments: &Value) -> Result<Answer, Error> {
    panic!("{}", text(arguments, "message"))
}

fn trap(_arguments: &Value) -> Result<Answer, Error> {
    std::process::abort()
}

#[expect(unsafe_code, reason = "safe Rust never leaves its memory")]
fn out_of_bounds(_arguments: &Value) -> Result<Answer, Error> {
    let beyond = black_box(std::ptr::without_provenance::<u8>(usize::MAX));
    // SAFETY: there is none. On Wasm, where alone this runs, the read traps:
    // the last address of the address space is no plugin's.
    report(&json!({ "read": unsafe { beyond.read_volatile() } }))
}

fn exit(arguments: &Value) -> Result<Answer, Error> {
    std::process::exit(i32::try_from(number(arguments, "code")).unwrap_or(1))
}

fn left(arguments: &Value) -> Result<Answer, Error> {
    let before = caller::remaining();
    std::thread::sleep(Duration::from_millis(number(arguments, "milliseconds")));
    report(&json!({ "before": before, "after": caller::remaining() }))
}

fn elapsed_milliseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
