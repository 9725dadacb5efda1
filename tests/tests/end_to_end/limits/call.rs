//! Limits of one call.

use serde_json::json;
use wharf::Code;
use wharf_tests::{Crafted, CraftedTool, Data, Fixture, Setup, context, found, wharf};

use super::{Tested, answers, assert_ended_by, schema};

pub(super) const TESTED: Tested = &[
    ("cpu_time_milliseconds", computing_ends_at_its_limit_and_waiting_is_not_computing),
    ("wall_time_milliseconds", a_call_ends_at_its_deadline_computing_or_waiting),
    ("wall_time_ceiling_milliseconds", a_tool_declares_its_own_time_up_to_the_operators_ceiling),
    ("argument_bytes", arguments_of_one_byte_too_many_are_refused),
    ("check_steps", schema::a_check_of_too_many_steps_ends_the_call),
    ("answer_json_bytes", answers::an_answer_whose_structure_takes_too_much_memory_is_replaced),
    ("memory_bytes", memory_stops_growing_at_the_last_page_that_fits),
    ("memories", a_component_of_too_many_memories_is_not_run),
    ("tables", a_component_of_too_many_tables_is_not_run),
    ("table_elements", tables_stop_growing_at_the_last_element_that_fits),
    ("instances", a_component_of_too_many_instances_is_not_run),
    ("host_call_bytes", one_host_call_moves_no_byte_too_many),
    ("host_call_total_bytes", all_host_calls_together_move_no_byte_too_many),
    ("host_calls", one_host_call_too_many_ends_the_call),
    ("resource_handles", one_handle_too_many_is_refused_and_the_guest_goes_on),
    ("output_bytes", an_answer_of_one_byte_too_many_is_replaced),
    ("log_lines", lines_beyond_the_limit_are_dropped_and_counted),
    ("events", one_event_too_many_is_refused_and_the_guest_goes_on),
];

/// A host with one crafted plugin, `crafted__run`.
async fn with(setup: Setup, crafted: &Crafted) -> (Fixture, Data) {
    let files = Data::alone();
    let path = files.write("crafted.wasm", crafted.bytes());
    (setup.plugin("crafted", &path, "").open().await, files)
}

/// What `crafted__run` says.
async fn said(fixture: &Fixture) -> String {
    let answer = fixture.call("crafted__run", json!({})).await.expect("the guest answers");
    answer.content[0].as_text().expect("a text").to_owned()
}

#[tokio::test]
async fn computing_ends_at_its_limit_and_waiting_is_not_computing() {
    let fixture = Setup::new().limit("cpu_time_milliseconds", 300).limit("wall_time_milliseconds", 60_000).open().await;
    found(fixture.call("hostile__spin", json!({"milliseconds": 30})).await);
    found(fixture.call("hostile__sleep", json!({"milliseconds": 600})).await);
    let outcome = fixture.call("hostile__spin", json!({})).await;
    assert_ended_by("cpu_time_milliseconds", Code::Timeout, outcome);
    fixture.works().await;
}

#[tokio::test]
async fn a_call_ends_at_its_deadline_computing_or_waiting() {
    let fixture = Setup::new().limit("wall_time_milliseconds", 1_000).open().await;
    found(fixture.call("hostile__spin_iterations", json!({"iterations": 1_000})).await);
    for endless in ["hostile__spin", "hostile__sleep_forever"] {
        assert_ended_by("wall_time_milliseconds", Code::Timeout, fixture.call(endless, json!({})).await);
        fixture.works().await;
    }
}

#[tokio::test]
async fn a_wait_ends_before_the_deadline_and_the_guest_still_answers() {
    let fixture = Setup::new().limit("wall_time_milliseconds", 2_000).open().await;
    let report = found(fixture.call("hostile__remaining", json!({"milliseconds": 3_600_000})).await);
    let left = report["after"].as_u64().expect("a number");
    assert!((1..=1_000).contains(&left), "{report}");
}

#[tokio::test]
async fn a_tool_declares_its_own_time_up_to_the_operators_ceiling() {
    // Answers once the whole time of a call that declares none has passed.
    let long = Crafted {
        tools: vec![CraftedTool::new("run").meta(r#"{"timeoutMilliseconds": 1500}"#)],
        ..Crafted::calling(
            "(local.set $start (call $remaining))
             (loop $on (br_if $on (i64.lt_u (i64.sub (local.get $start) (call $remaining)) (i64.const 300))))
             i32.const 1",
        )
    };
    let endless = Crafted { call: "(loop $on (br $on)) i32.const 1".into(), ..long.clone() };
    let limits = || Setup::new().limit("wall_time_milliseconds", 200).limit("host_calls", 100_000_000);
    let files = Data::alone();
    let (long, endless) = (files.write("long.wasm", long.bytes()), files.write("endless.wasm", endless.bytes()));
    for (ceiling, told) in [(600_000, "within 1500 ms"), (700, "within 700 ms")] {
        let setup = limits().limit("wall_time_ceiling_milliseconds", ceiling);
        let fixture = setup.plugin("long", &long, "").plugin("endless", &endless, "").open_in(Data::new()).await;
        let answer = fixture.call("long__run", json!({})).await.expect("300 ms are within what it declares");
        assert_eq!(answer.content[0].as_text(), Some("yes"));
        let error = fixture.call("endless__run", json!({})).await.expect_err("never ends");
        assert!(error.code == Code::Timeout && error.message.contains(told), "{error}");
    }
    // Below what the tool needs, the ceiling stops it.
    let setup = limits().limit("wall_time_ceiling_milliseconds", 100).plugin("long", &long, "");
    let outcome = setup.open_in(Data::new()).await.call("long__run", json!({})).await;
    assert_ended_by("wall_time_ceiling_milliseconds", Code::Timeout, outcome);
}

#[tokio::test]
async fn arguments_of_one_byte_too_many_are_refused() {
    let fixture = Setup::new().limit("argument_bytes", 1_000).open().await;
    let arguments = |bytes: usize| json!({"text": "x".repeat(bytes - r#"{"text":""}"#.len())});
    fixture.call("echo__echo", arguments(1_000)).await.expect("what is allowed");
    assert_ended_by("argument_bytes", Code::Limit, fixture.call("echo__echo", arguments(1_001)).await);
    fixture.works().await;
}

#[tokio::test]
async fn memory_stops_growing_at_the_last_page_that_fits() {
    let pages = Crafted::default().initial_pages();
    let grows_by = |first: u32, second: u32| Crafted {
        module: "(memory $second 1)".into(),
        ..Crafted::calling(&format!(
            "(i32.and (i32.ne (memory.grow (i32.const {first})) (i32.const -1))
                      (i32.ne (memory.grow $second (i32.const {second})) (i32.const -1)))"
        ))
    };
    // Both memories and what they grow by share the limit.
    let limited = || Setup::new().limit("memory_bytes", 65_536 * u64::from(pages + 1 + 100));
    for (first, second, says) in
        [(100, 0, "yes"), (101, 0, "no"), (0, 100, "yes"), (40, 60, "yes"), (40, 61, "no"), (60_000, 60_000, "no")]
    {
        let (fixture, _files) = with(limited(), &grows_by(first, second)).await;
        assert_eq!(said(&fixture).await, says, "{first} and {second} more pages");
    }
    let fixture = Setup::new().limit("memory_bytes", 8 << 20).open().await;
    let all = found(fixture.call("hostile__allocate", json!({"bytes": 4 << 20})).await);
    assert_eq!(all["got"], 4 << 20);
    let part = found(fixture.call("hostile__allocate", json!({"bytes": 16 << 20})).await);
    assert!(part["got"].as_u64().expect("a number") < 8 << 20, "{part}");
    fixture.works().await;
}

/// A component at the limit runs; one beyond it loads, since its metadata is
/// read under the defaults, and its call is refused.
async fn at_the_limit_and_beyond(limit: &str, value: u64, fitting: &Crafted, beyond: &Crafted) {
    let (fits, of_fits) = write(fitting);
    let lines = format!("[plugin.fits.limits]\n{limit} = {value}");
    let (exceeds, of_exceeds) = write(beyond);
    let more = format!("[plugin.exceeds.limits]\n{limit} = {value}");
    let fixture = Setup::new().plugin("fits", &of_fits, &lines).plugin("exceeds", &of_exceeds, &more).open().await;
    let answer = fixture.call("fits__run", json!({})).await.expect("what is allowed");
    assert_eq!(answer.content[0].as_text(), Some("yes"));
    assert_ended_by(limit, Code::Limit, fixture.call("exceeds__run", json!({})).await);
    fixture.works().await;
    drop((fits, exceeds));
}

fn write(crafted: &Crafted) -> (Data, std::path::PathBuf) {
    let files = Data::alone();
    let path = files.write("crafted.wasm", crafted.bytes());
    (files, path)
}

#[tokio::test]
async fn a_component_of_too_many_memories_is_not_run() {
    let of = |more: usize| Crafted { module: "(memory 1)".repeat(more), ..Crafted::default() };
    at_the_limit_and_beyond("memories", 3, &of(2), &of(3)).await;
}

#[tokio::test]
async fn a_component_of_too_many_tables_is_not_run() {
    let of = |tables: usize| Crafted { module: "(table 1 funcref)".repeat(tables), ..Crafted::default() };
    at_the_limit_and_beyond("tables", 3, &of(3), &of(4)).await;
}

#[tokio::test]
async fn a_component_of_too_many_instances_is_not_run() {
    // The main module is one of them.
    let of = |more: usize| Crafted {
        component: format!("(core module $empty) {}", "(core instance (instantiate $empty))".repeat(more)),
        ..Crafted::default()
    };
    at_the_limit_and_beyond("instances", 5, &of(4), &of(5)).await;
}

#[tokio::test]
async fn tables_stop_growing_at_the_last_element_that_fits() {
    for (more, says) in [(90, "yes"), (91, "no"), (99_000, "no")] {
        let crafted = Crafted {
            module: "(table $first 10 funcref) (table $second 100 funcref)".into(),
            ..Crafted::calling(&format!(
                "(i32.ne (table.grow $first (ref.null func) (i32.const {more})) (i32.const -1))"
            ))
        };
        let (fixture, _files) = with(Setup::new().limit("table_elements", 200), &crafted).await;
        assert_eq!(said(&fixture).await, says, "{more} more elements");
        fixture.works().await;
    }
}

#[tokio::test]
async fn a_table_may_be_larger_than_by_default_where_the_operator_allows_it() {
    // As it begins, and as it grows.
    for (first, more, says) in [(150_000, 50_000, "yes"), (100, 199_900, "yes"), (100, 199_901, "no")] {
        let crafted = Crafted {
            module: format!("(table $first {first} funcref)"),
            ..Crafted::calling(&format!(
                "(i32.ne (table.grow $first (ref.null func) (i32.const {more})) (i32.const -1))"
            ))
        };
        let (fixture, _files) = with(Setup::new().limit("table_elements", 200_000), &crafted).await;
        assert_eq!(said(&fixture).await, says, "{first} and {more} more elements");
        fixture.works().await;
    }
}

#[tokio::test]
async fn one_host_call_moves_no_byte_too_many() {
    let fixture = Setup::new().limit("host_call_bytes", 10_000).state("").open().await;
    // The word `info` crosses the wall with the line.
    found(fixture.call("hostile__log_bytes", json!({"bytes": 9_996})).await);
    assert_ended_by("host_call_bytes", Code::Limit, fixture.call("hostile__log_bytes", json!({"bytes": 9_997})).await);
    // Far beyond, the runtime refuses to copy it at all.
    let outcome = fixture.call("hostile__log_bytes", json!({"bytes": 20 << 20})).await;
    assert_ended_by("host_call_bytes", Code::Limit, outcome);
    // A read that is too large answers `limit`, and the guest goes on.
    found(fixture.call("hostile__state_write", json!({"count": 10, "bytes": 2_000})).await);
    let read = found(fixture.call("hostile__state_read", json!({"count": 4})).await);
    assert_eq!(read["found"], 4);
    let error = fixture.call("hostile__state_read", json!({"count": 10})).await.expect_err("20,000 bytes");
    assert_eq!(error.code, Code::Limit, "{error}");
    fixture.works().await;
}

#[tokio::test]
async fn all_host_calls_together_move_no_byte_too_many() {
    let fixture = Setup::new().limit("host_call_total_bytes", 20_000).open().await;
    let written = found(fixture.call("hostile__stdout_bytes", json!({"bytes": 20_000})).await);
    assert_eq!(written["failed"], json!(null));
    let outcome = fixture.call("hostile__stdout_bytes", json!({"bytes": 20_001})).await;
    assert_ended_by("host_call_total_bytes", Code::Limit, outcome);
    assert_ended_by(
        "host_call_total_bytes",
        Code::Limit,
        fixture.call("hostile__log_lines", json!({"count": 5_000})).await,
    );
    fixture.works().await;
}

#[tokio::test]
async fn one_host_call_too_many_ends_the_call() {
    let calls = |count: u32| {
        Crafted::calling(&format!(
            "(loop $on (drop (call $remaining)) (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br_if $on (i32.lt_u (local.get $i) (i32.const {count}))))
             i32.const 1"
        ))
    };
    at_the_limit_and_beyond("host_calls", 100, &calls(100), &calls(101)).await;
    // Calls of WASI count as well.
    let fixture = Setup::new().limit("host_calls", 1_000).open().await;
    assert_ended_by("host_calls", Code::Limit, fixture.call("hostile__stdout_lines", json!({"count": 5_000})).await);
    fixture.works().await;
}

#[tokio::test]
async fn one_handle_too_many_is_refused_and_the_guest_goes_on() {
    let fixture = Setup::new().limit("resource_handles", 20).state("").open().await;
    let beyond = found(fixture.call("hostile__open_buckets", json!({"count": 1_000})).await);
    let opened = beyond["opened"].as_u64().expect("a number");
    // Standard streams take some of the handles, and nothing else does.
    assert!((15..=20).contains(&opened), "{beyond}");
    assert_eq!(beyond["refused"]["code"], "limit");
    assert!(beyond["refused"]["message"].to_string().contains("resource_handles"), "{beyond}");
    let at = found(fixture.call("hostile__open_buckets", json!({"count": opened})).await);
    assert_eq!(at, json!({"opened": opened}));
    let one_more = found(fixture.call("hostile__open_buckets", json!({"count": opened + 1})).await);
    assert_eq!(one_more["refused"]["code"], "limit");
    fixture.works().await;
}

#[tokio::test]
async fn an_answer_of_one_byte_too_many_is_replaced() {
    let fixture = Setup::new().limit("output_bytes", 5_000).open().await;
    let bytes = |bytes: usize| json!({"bytes": bytes - "text/plain".len()});
    fixture.call("hostile__output", bytes(5_000)).await.expect("what is allowed");
    assert_ended_by("output_bytes", Code::Limit, fixture.call("hostile__output", bytes(5_001)).await);
    fixture.call("hostile__output_structured", json!({"bytes": 5_000})).await.expect("what is allowed");
    let structured = fixture.call("hostile__output_structured", json!({"bytes": 5_001})).await;
    assert_ended_by("output_bytes", Code::Limit, structured);
    // Far beyond, the runtime refuses to copy it at all.
    assert_ended_by("output_bytes", Code::Limit, fixture.call("hostile__output", json!({"bytes": 30 << 20})).await);
    fixture.works().await;
}

#[test]
fn lines_beyond_the_limit_are_dropped_and_counted() {
    let data = Data::new();
    let config = data.write("wharf.toml", Setup::new().limit("log_lines", 5).text());
    let logged = |count: u32| {
        let arguments = json!({"count": count}).to_string();
        let run = wharf(["call", "hostile__log_lines", &arguments]).config(&config).data(data.path());
        let run = run.env("WHARF_LOG", "wharf::plugin=info").run();
        assert_eq!(run.code, Some(0), "{run:?}");
        let lines = |what: &str| run.err.lines().filter(|line| line.contains(what)).count();
        (lines(" line "), lines("dropped (limit `log_lines`)"))
    };
    assert_eq!(logged(5), (5, 0));
    assert_eq!(logged(6), (5, 1));
    assert_eq!(logged(5_000), (5, 1));
}

#[tokio::test]
async fn one_event_too_many_is_refused_and_the_guest_goes_on() {
    let fixture = Setup::new().limit("events", 5).events().open().await;
    for tool in ["hostile__progress", "hostile__message"] {
        assert_eq!(found(fixture.call(tool, json!({"count": 5})).await), json!({"sent": 5}));
        let beyond = found(fixture.call_in(&context("local", "other"), tool, json!({"count": 6})).await);
        assert_eq!((&beyond["sent"], &beyond["refused"]["code"]), (&json!(5), &json!("limit")));
        assert!(beyond["refused"]["message"].to_string().contains("events"), "{beyond}");
    }
    fixture.works().await;
}
