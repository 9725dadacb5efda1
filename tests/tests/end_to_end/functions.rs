//! Components that were made for other hosts: each function that they export is a tool.

mod commands;
mod hostile;

use serde_json::{Map, Value, json};
use wharf::{Answer, Code, ToolService as _};
use wharf_tests::{Fixture, Setup, Upstream, component, viewer};

/// The guest that knows nothing of wharf, with further lines of its tables.
fn foreign(lines: &str) -> Setup {
    Setup::new().plugin("foreign", &component("guest-foreign"), &format!("functions = true\n{lines}"))
}

/// A value of every type.
fn everything() -> Value {
    json!({
        "truth": true,
        "s-eight": -128, "u-eight": 255, "s-sixteen": -32_768, "u-sixteen": 65_535,
        "s-thirty-two": i32::MIN, "u-thirty-two": u32::MAX, "s-sixty-four": i64::MIN, "u-sixty-four": u64::MAX,
        "single": 1.5, "double": -0.1, "letter": "é", "text": "a \"text\"\n", "bytes": "AAEC/w==",
        "points": [{"x": 1, "y": -2}, {"x": 3, "y": 4}], "pair": ["left", 7],
        "shape": {"polygon": [{"x": 0, "y": 0}]}, "color": "deep-blue", "access": ["read", "execute"],
        "maybe": "there", "perhaps": {"some": null}, "outcome": {"error": "no"}, "bare": "ok",
    })
}

async fn ask(fixture: &Fixture, tool: &str, arguments: Value) -> Answer {
    fixture.call(&format!("foreign__{tool}"), arguments).await.expect("answers")
}

fn text(answer: &Answer) -> &str {
    answer.content[0].as_text().expect("a text")
}

async fn structured(fixture: &Fixture, tool: &str, arguments: Value) -> Value {
    let answer = ask(fixture, tool, arguments).await;
    answer.structured.clone().unwrap_or_else(|| panic!("{}", text(&answer)))
}

#[tokio::test]
async fn each_function_is_a_tool_with_a_schema_of_its_own_types() {
    let fixture = foreign("").open().await;
    let tools = fixture.host.tools(viewer());
    let find = |name: &str| tools.iter().find(|tool| tool.name == format!("foreign__{name}")).cloned();
    let divide = find("shapes_divide").expect("a tool");
    let input = Value::Object(Map::clone(divide.input_schema.object()));
    let number = json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX});
    assert_eq!(input["properties"], json!({"dividend": number, "divisor": number}));
    assert_eq!((&input["required"], &input["additionalProperties"]), (&json!(["dividend", "divisor"]), &json!(false)));
    assert_eq!(divide.description, "Calls `divide` of `foreign:tools/shapes@1.0.0`.");
    for name in ["greet", "variable", "shapes_echo", "shapes_scale", "files_read", "web_get", "hostile_trap"] {
        assert!(find(name).is_some(), "{name} is no tool");
    }
    assert!(!tools.iter().any(|tool| tool.name.contains("counter")), "a resource is a tool");
    let left_out = fixture
        .host
        .installed()
        .iter()
        .find(|installed| installed.plugin.name().as_str() == "foreign")
        .map(|installed| installed.plugin.inspect().left_out)
        .expect("installed");
    let told = left_out.join("\n");
    assert!(told.contains("counters@1.0.0#look`: it takes or returns a resource"), "{told}");
    assert!(told.contains("[method]counter.next`: it belongs to a resource"), "{told}");
}

#[tokio::test]
async fn a_value_of_every_type_goes_in_and_comes_back() {
    let fixture = foreign("").open().await;
    let value = everything();
    let answer = ask(&fixture, "shapes_echo", json!({"value": value})).await;
    assert_eq!(answer.structured, Some(value.clone()));
    assert_eq!(serde_json::from_str::<Value>(text(&answer)).expect("JSON"), value);
    for (member, other) in [
        ("shape", json!("empty")),
        ("shape", json!({"circle": 2.5})),
        ("shape", json!({"named": "empty"})),
        ("maybe", Value::Null),
        ("perhaps", Value::Null),
        ("perhaps", json!({"some": 3})),
        ("outcome", json!({"ok": 3})),
        ("bare", json!("error")),
        ("bytes", json!("")),
        ("access", json!([])),
        ("points", json!([])),
    ] {
        let mut value = value.clone();
        value[member] = other;
        assert_eq!(structured(&fixture, "shapes_echo", json!({"value": value})).await, value);
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_the_function_runs() {
    let fixture = foreign("").open().await;
    for (member, wrong) in [
        ("u-eight", json!(256)),
        ("s-eight", json!(1.5)),
        ("u-sixty-four", json!(-1)),
        ("letter", json!("ab")),
        ("letter", json!("")),
        ("bytes", json!("no base64!")),
        ("color", json!("purple")),
        ("access", json!(["read", "read"])),
        ("access", json!(["own"])),
        ("shape", json!({"circle": 1, "named": "x"})),
        ("shape", json!("circle")),
        ("shape", json!({"square": 1})),
        ("pair", json!(["left"])),
        ("pair", json!(["left", 7, 8])),
        ("perhaps", json!({"none": 1})),
        ("text", Value::Null),
        ("truth", json!("yes")),
    ] {
        let mut value = everything();
        value[member] = wrong.clone();
        let refused = fixture.call("foreign__shapes_echo", json!({"value": value})).await;
        let error = refused.expect_err(&format!("{member} takes {wrong}"));
        assert_eq!(error.code, Code::Invalid, "{member}: {error}");
    }
    let mut value = everything();
    value.as_object_mut().expect("an object").remove("maybe");
    assert!(structured(&fixture, "shapes_echo", json!({"value": value})).await["maybe"].is_null());
    // JSON has one kind of number.
    assert_eq!(structured(&fixture, "shapes_divide", json!({"dividend": 6.0, "divisor": 3})).await["result"], 2);
}

#[tokio::test]
async fn what_a_function_returns_is_the_answer_and_its_error_is_a_failed_call() {
    let fixture = foreign("").open().await;
    let greeted = ask(&fixture, "greet", json!({"name": "Ada"})).await;
    assert_eq!((text(&greeted), greeted.structured.as_ref()), ("Hello, Ada.", None));
    let divided = ask(&fixture, "shapes_divide", json!({"dividend": 7, "divisor": 2})).await;
    assert_eq!((text(&divided), divided.structured.as_ref()), ("3", Some(&json!({"result": 3}))));
    let failed = ask(&fixture, "shapes_divide", json!({"dividend": 7, "divisor": 0})).await;
    assert!(failed.is_error);
    assert_eq!((text(&failed), failed.structured.as_ref()), ("7 cannot be divided by 0", None));
    let scaled = structured(&fixture, "shapes_scale", json!({"points": [{"x": 1, "y": 2}]})).await;
    assert_eq!(scaled, json!({"result": [{"x": 2, "y": 4}]}));
    let described = ask(&fixture, "shapes_describe", json!({"shape": {"circle": 2}})).await;
    assert_eq!(text(&described), "a circle of radius 2");
    let nothing = ask(&fixture, "shapes_nothing", json!({})).await;
    assert_eq!((text(&nothing), nothing.structured.as_ref()), ("Done; the function returns nothing.", None));
    let unbounded = structured(&fixture, "shapes_unbounded", json!({})).await;
    assert_eq!(unbounded, json!({"result": ["NaN", "Infinity", "-Infinity"]}));
}

#[tokio::test]
async fn its_settings_are_its_environment_and_nothing_of_the_hosts_is() {
    let lines = "[plugin.foreign.settings]\nAPI_URL = \"https://example.com\"\nRETRIES = 3\nlist = [1]";
    let fixture = foreign(lines).open().await;
    for (name, value) in [
        ("API_URL", json!("https://example.com")),
        ("RETRIES", json!("3")),
        ("list", Value::Null),
        ("PATH", Value::Null),
    ] {
        let answer = structured(&fixture, "variable", json!({"name": name})).await;
        assert_eq!(answer, json!({"result": value}), "{name}");
    }
    // A plugin of the contract is told its settings by it, and has no environment.
    let fixture = Setup::new().open().await;
    fixture.works().await;
}

#[tokio::test]
async fn files_and_requests_need_the_grants_of_any_plugin() {
    let upstream = Upstream::echo();
    let (authority, note) = (upstream.authority(), json!({"path": "note.txt", "text": "remember"}));
    let fixture = foreign("").open().await;
    assert!(ask(&fixture, "files_write", note.clone()).await.is_error);
    assert!(ask(&fixture, "web_get", json!({"host": authority, "path": "/"})).await.is_error);
    assert!(upstream.asked().is_empty());

    let lines = format!(
        "[plugin.foreign.grants.workspace]\nreason = \"a test\"\naccess = \"write\"\n[plugin.foreign.grants.http]\nreason = \
         \"a test\"\nrequests = [\"GET http://{authority}/*\"]\nprivate_addresses = true"
    );
    let fixture = foreign(&lines).open().await;
    let told = |answer: &Answer| format!("{}: {}", answer.is_error, text(answer));
    let written = ask(&fixture, "files_write", note).await;
    assert_eq!(told(&written), "false: Done; the function returns nothing.");
    assert_eq!(told(&ask(&fixture, "files_read", json!({"path": "note.txt"})).await), "false: remember");
    // Its root is the workspace, which has its name in the contract, too.
    for path in ["/note.txt", "/workspace/note.txt"] {
        assert_eq!(told(&ask(&fixture, "files_read", json!({"path": path})).await), "false: remember", "{path}");
    }
    let outside = ask(&fixture, "files_read", json!({"path": "/etc/passwd"})).await;
    assert!(outside.is_error, "{}", text(&outside));
    let got = ask(&fixture, "web_get", json!({"host": authority, "path": "/there"})).await;
    assert!(text(&got).starts_with("200 "), "{}", told(&got));
    assert_eq!(upstream.asked().len(), 1);
}
