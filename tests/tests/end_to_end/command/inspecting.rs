//! What `wharf inspect` says of how a component begins, and of what it was made.

use std::time::Instant;

use serde_json::json;
use wharf_tests::{AMPLE, Crafted, Data, wharf};

use super::parsed;

#[test]
fn inspect_says_how_instances_begin_and_which_languages_are_in_it() {
    let files = Data::alone();
    let mut crafted = Crafted { pages: 40, ..Crafted::default() };
    crafted.module.push_str("(@custom \"producers\" \"\\01\\0cprocessed-by\\01\\05rustc\\101.88.0 (6b00bc3)\")");
    let path = files.write("crafted.wasm", crafted.bytes());
    let name = path.to_str().expect("a path");
    let inspected = parsed(&wharf(["inspect", "--json", name]).run());
    let start = &inspected["start"];
    assert_eq!((&start["starts"], &start["failure"]), (&json!(10), &json!(null)), "{start}");
    assert!(start["slowest_milliseconds"].as_f64().is_some_and(|time| time > 0.0 && time < 5_000.0), "{start}");
    assert_eq!(start["memory_bytes"], json!(40 * 65_536), "{start}");
    let rust = json!([{"name": "Rust", "version": "1.88.0", "mark": "processed by rustc 1.88.0"}]);
    assert_eq!(inspected["runtimes"], rust);
    let run = wharf(["inspect", name]).run();
    assert!(run.out.contains("ms, the slowest of 10; 2560 KiB of memory in each instance"), "{run:?}");
    assert!(run.out.contains("  runtimes     Rust 1.88.0 (processed by rustc 1.88.0)\n"), "{run:?}");
}

#[test]
fn a_component_that_loops_at_its_start_is_reported_and_not_waited_for() {
    let files = Data::alone();
    let module = "(func $spin (loop $again (br $again))) (start $spin)".to_owned();
    let crafted = Crafted { module, ..Crafted::default() };
    let path = files.write("looping.wasm", crafted.bytes());
    let begun = Instant::now();
    let run = wharf(["inspect", path.to_str().expect("a path")]).run();
    assert!(begun.elapsed() < AMPLE, "{:?}", begun.elapsed());
    assert_eq!(run.code, Some(3), "{run:?}");
    // Which of the two ends it first is a matter of the machine's load.
    let limits = ["cpu_time_milliseconds", "wall_time_milliseconds"];
    assert!(run.err.contains("could not list its tools"), "{run:?}");
    assert!(limits.iter().any(|limit| run.err.contains(limit)), "{run:?}");
}

#[test]
fn what_is_elsewhere_is_no_file_to_inspect() {
    for name in ["oci://ghcr.io/me/greeter:1", "ghcr.io/me/greeter:1", "https://example.com/greeter.wasm"] {
        let run = wharf(["inspect", name]).run();
        assert!(run.code == Some(2) && run.err.contains("`wharf plugin add`"), "{name}: {run:?}");
    }
    let run = wharf(["inspect", "nothing.wasm"]).run();
    assert!(run.err.contains("cannot read nothing.wasm") && !run.err.contains("plugin add"), "{run:?}");
}

#[test]
fn what_inspect_tells_to_type_is_one_word_to_a_shell_whatever_the_file_is_called() {
    let files = Data::alone();
    for name in ["A b.wasm", "it's.wasm"] {
        let path = files.write(name, wharf_tests::bytes("guest-echo"));
        let run = wharf(["inspect", path.to_str().expect("a path")]).run();
        let (_, told) = run.out.rsplit_once("`wharf grant ").unwrap_or_else(|| panic!("{run:?}"));
        let (word, _) = told.rsplit_once("` says").expect("a word");
        let said = std::process::Command::new("sh").args(["-c", &format!("printf '%s|' {word}")]).output().expect("sh");
        assert_eq!(String::from_utf8_lossy(&said.stdout), format!("{}|", path.display()), "{word}");
    }
}
