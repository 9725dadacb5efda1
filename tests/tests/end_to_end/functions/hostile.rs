//! Components whose functions, types or results are made to harm the host.

use serde_json::{Value, json};
use wharf::{Code, Error};
use wharf_tests::{Data, Fixture, Setup};

use super::{ask, foreign, structured};

/// A component with the function `run`, which returns what lies at address 16. `body` comes before.
fn returning(kind: &str, data: &str, body: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (core module $module
                (memory (export "memory") 2)
                (data (i32.const 16) "{data}")
                (func (export "run") (result i32) {body} i32.const 16))
            (core instance $instance (instantiate $module))
            (func $run (result {kind}) (canon lift (core func $instance "run") (memory (core memory $instance "memory"))))
            (export "run" (func $run)))"#
    );
    wat::parse_str(text).expect("a component")
}

async fn open(component: &[u8]) -> Fixture {
    let files = Data::alone();
    let path = files.write("foreign.wasm", component);
    Setup::new().plugin("foreign", &path, "functions = true").open_in(Data::new()).await
}

/// What its function ends with; the host serves others as before.
async fn failure(component: &[u8]) -> Error {
    let fixture = open(component).await;
    let error = fixture.call("foreign__run", json!({})).await.expect_err("it is no value");
    fixture.works().await;
    error
}

/// Why it is no plugin.
async fn refusal(component: &[u8]) -> String {
    let fixture = open(component).await;
    fixture.works().await;
    fixture.host.rejected()[0].reason.clone()
}

#[tokio::test]
async fn results_that_are_no_values_of_their_types_end_the_call_alone() {
    // Where the text lies, and its length.
    let text = |at: &str, length: &str| format!(r"\{at}\00\00\00\{length}\00\00\00\ff\fe");
    for (what, kind, data) in [
        ("a text that is not UTF-8", "string", text("18", "02")),
        ("a text past the end of memory", "string", r"\00\00\00\7f\10\00\00\00".to_owned()),
        ("a list that is longer than memory", "(list u8)", r"\10\00\00\00\ff\ff\ff\7f".to_owned()),
        ("a list of so many texts", "(list string)", r"\10\00\00\00\ff\ff\ff\1f".to_owned()),
        ("a list that is not aligned", "(list u32)", r"\11\00\00\00\01\00\00\00".to_owned()),
        ("a case that there is not", "(option u64)", r"\07".to_owned()),
        ("another", "(result u64 (error u64))", r"\02".to_owned()),
    ] {
        let error = failure(&returning(kind, &data, "")).await;
        assert!(matches!(error.code, Code::Internal | Code::Limit), "{what}: {error}");
        assert!(error.message.len() < 500, "{what}: {error}");
    }
}

#[tokio::test]
async fn a_small_memory_cannot_become_a_large_result() {
    // 8,000 texts that are all the same 60,000 bytes.
    let body = "(local $at i32)
        (i32.store (i32.const 16) (i32.const 1024))
        (i32.store (i32.const 20) (i32.const 8000))
        (local.set $at (i32.const 1024))
        (loop $next
            (i32.store (local.get $at) (i32.const 65536))
            (i32.store offset=4 (local.get $at) (i32.const 60000))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br_if $next (i32.lt_u (local.get $at) (i32.const 65024))))";
    let error = failure(&returning("(list string)", "", body)).await;
    assert_eq!(error.code, Code::Limit, "{error}");
}

#[tokio::test]
async fn types_without_a_form_in_json_or_without_bounds_make_no_tool() {
    let nested = (0..60).fold("u8".to_owned(), |within, _| format!("(list {within})"));
    let told = refusal(&returning(&nested, "", "")).await;
    assert!(told.contains("deep"), "{told}");
    // A few bytes of types that name each other twice come to thousands.
    let pairs = (1..12).fold("(type $t0 (tuple u8 u8))".to_owned(), |pairs, level| {
        format!("{pairs} (type $t{level} (tuple $t{0} $t{0}))", level - 1)
    });
    let text = format!(
        r#"(component {pairs}
            (core module $module (memory (export "memory") 1) (func (export "run") (result i32) i32.const 16))
            (core instance $instance (instantiate $module))
            (func $run (result $t11) (canon lift (core func $instance "run") (memory (core memory $instance "memory"))))
            (export "run" (func $run)))"#
    );
    let told = refusal(&wat::parse_str(text).expect("a component")).await;
    assert!(told.contains("more than 2048 types"), "{told}");
    let resource = r#"(component
        (type $handle (resource (rep i32)))
        (export $exported "handle" (type $handle))
        (core module $module (func (export "run") (result i32) i32.const 0))
        (core instance $instance (instantiate $module))
        (func $run (result (own $exported)) (canon lift (core func $instance "run")))
        (export "run" (func $run)))"#;
    let told = refusal(&wat::parse_str(resource).expect("a component")).await;
    assert!(told.contains("`run`: it takes or returns a resource, which has no form in JSON"), "{told}");
}

#[tokio::test]
async fn more_functions_than_a_plugin_may_have_tools_are_refused() {
    let exports: String = (0..257).map(|number| format!(r#"(export "f{number}" (func $run))"#)).collect();
    let text = format!(
        r#"(component
            (core module $module (func (export "run")))
            (core instance $instance (instantiate $module))
            (func $run (canon lift (core func $instance "run")))
            {exports})"#
    );
    let told = refusal(&wat::parse_str(text).expect("a component")).await;
    assert!(told.contains("more than 256"), "{told}");
}

#[tokio::test]
async fn a_function_that_traps_loops_or_takes_memory_is_stopped_as_any_tool() {
    let setup = foreign("[plugin.foreign.limits]\ncpu_time_milliseconds = 200\nmemory_bytes = 33554432");
    let fixture = setup.open().await;
    let ended = async |tool: &str, arguments: Value| {
        let error = fixture.call(&format!("foreign__hostile_{tool}"), arguments).await.expect_err(tool);
        // The next call has an instance of its own.
        assert_eq!(super::text(&ask(&fixture, "greet", json!({"name": "Ada"})).await), "Hello, Ada.");
        error
    };
    let trapped = ended("trap", json!({})).await;
    assert!(trapped.code == Code::Internal && trapped.message.contains("panicked"), "{trapped}");
    let looping = ended("spin", json!({})).await;
    assert!(looping.code == Code::Timeout || looping.code == Code::Limit, "{looping}");
    let hungry = ended("allocate", json!({"megabytes": 64})).await;
    assert!(matches!(hungry.code, Code::Limit | Code::Internal), "{hungry}");
    let endless = ended("bytes", json!({"count": 8_000_000})).await;
    assert!(endless.code == Code::Limit && endless.message.contains("output_bytes"), "{endless}");
    let endless = ended("texts", json!({"count": 500_000})).await;
    assert!(endless.code == Code::Limit && endless.message.contains("output_bytes"), "{endless}");
    let bytes = structured(&fixture, "hostile_bytes", json!({"count": 200_000})).await;
    assert_eq!(bytes["result"].as_str().map(str::len), Some(266_668));
}

#[tokio::test]
async fn arguments_cannot_take_more_memory_than_the_limit_allows() {
    let fixture = foreign("[plugin.foreign.limits]\noutput_bytes = 10000").open().await;
    let points = |count: usize| json!({"points": vec![json!({"x": 1, "y": 1}); count]});
    assert_eq!(
        ask(&fixture, "shapes_scale", points(100)).await.structured.map(|s| s["result"][99]["x"].clone()),
        Some(json!(2))
    );
    let error = fixture.call("foreign__shapes_scale", points(5_000)).await.expect_err("too many");
    assert!(error.code == Code::Limit && error.message.contains("160000 bytes"), "{error}");
}
