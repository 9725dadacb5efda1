//! What is listed, and what is refused before it is.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use wharf::{AppTool, Code, RegisterError, TenantId, ToolService, service::ToolProblem};
use wharf_tests::{Fixture, Setup, object, viewer};

use super::{anything, reporting, saying};

fn names(fixture: &Fixture) -> Vec<String> {
    fixture.host.tools(viewer()).iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn tools_of_the_app_stand_in_the_one_list_in_its_order() {
    let fixture = Setup::new().open().await;
    let before = names(&fixture);
    let zeta = AppTool::new("zeta", "Does \u{1b}[31mlittle.", anything(), |_| async { Ok(super::says("zeta")) })
        .with_output_schema(anything())
        .with_meta(object(json!({"title": "Zeta", "annotations": {"readOnlyHint": true}, "dev.wharf/x": 1})))
        .with_time_limit(Duration::from_micros(1_500));
    assert_eq!(fixture.host.register_tool(zeta).as_deref(), Ok("app__zeta"));
    assert_eq!(fixture.host.register_tool(saying("alpha", "a")).as_deref(), Ok("app__alpha"));
    let now = names(&fixture);
    assert!(now.is_sorted() && now.len() == before.len() + 2, "{now:?}");
    assert_eq!(now[..2], ["app__alpha", "app__zeta"]);
    let listed = fixture.host.tools(viewer())[1].clone();
    assert_eq!(listed.description, "Does [31mlittle.");
    assert_eq!(
        Value::Object(listed.meta),
        json!({"title": "Zeta", "annotations": {"readOnlyHint": true}, "timeoutMilliseconds": 2}),
        "what would speak for the host is left out, and a time is rounded up"
    );
    fixture.works().await;
    assert!(fixture.host.unregister_tool("app__alpha") && fixture.host.unregister_tool("app__zeta"));
    assert_eq!(names(&fixture), before);
}

#[tokio::test]
async fn a_tool_that_is_refused_changes_nothing() {
    let fixture = Setup::new().open().await;
    fixture.host.register_tool(saying("taken", "first")).expect("a free name");
    let (before, changes) =
        (fixture.host.tools(viewer()), fixture.host.changes(&TenantId::local()).expect("tools come and go"));
    let with = |schema: Value| AppTool::new("t", "For tests.", schema, |_| async { Ok(super::says("")) });
    let doubling: serde_json::Map<String, Value> = (0..40)
        .map(|level| {
            let reference = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            (format!("d{level}"), json!({"allOf": [reference, reference]}))
        })
        .chain([("d40".to_owned(), json!({}))])
        .collect();
    let cases: Vec<(&str, AppTool)> = vec![
        ("has a tool `app__taken` already", saying("taken", "second")),
        ("its name must be", saying("", "")),
        ("its name must be", saying("a__b", "")),
        ("its name must be", saying("ä", "")),
        ("its name must be", saying(&"x".repeat(65), "")),
        ("its description", AppTool::new("t", "", anything(), |_| async { Ok(super::says("")) })),
        ("its description", AppTool::new("t", "d".repeat(8_193), anything(), |_| async { Ok(super::says("")) })),
        ("input schema is no JSON object", with(json!(true))),
        ("input schema is refused", with(json!({"type": "array"}))),
        ("__sessionId", with(json!({"type": "object", "properties": {"__sessionId": {}}}))),
        ("multiplies", with(json!({"type": "object", "$ref": "#/$defs/d0", "$defs": doubling}))),
        ("example.com", with(json!({"type": "object", "$ref": "https://example.com/schema"}))),
        ("more than 65536 bytes", with(json!({"type": "object", "description": "x".repeat(65_536)}))),
        ("output schema is refused", reporting("t").with_output_schema(json!({}))),
        ("`meta` has more than", reporting("t").with_meta(object(json!({"x": "x".repeat(65_536)})))),
        ("above 0", reporting("t").with_meta(object(json!({"timeoutMilliseconds": "soon"})))),
        ("above 0", reporting("t").with_time_limit(Duration::ZERO)),
    ];
    for (word, tool) in cases {
        let refused = fixture.host.register_tool(tool).expect_err(word).to_string();
        assert!(refused.contains(word), "{word}: {refused}");
    }
    let illegal = fixture.host.register_tool(saying("a b", "")).expect_err("illegal");
    assert!(matches!(illegal, RegisterError::Invalid(invalid) if invalid.problem == ToolProblem::Name));
    assert!(Arc::ptr_eq(&before, &fixture.host.tools(viewer())));
    assert!(!fixture.host.unregister_tool("app__other") && !fixture.host.unregister_tool("echo__echo"));
    assert!(!changes.has_changed().expect("the host is there"), "nobody is told of what did not happen");
    let kept = fixture.call("app__taken", json!({})).await.expect("the first is there");
    assert_eq!(kept.content[0].as_text(), Some("first"));
}

#[tokio::test]
async fn the_app_has_as_many_tools_as_a_plugin_may() {
    let fixture = Setup::new().open().await;
    for index in 0..256 {
        fixture.host.register_tool(saying(&format!("t{index}"), "x")).expect("one of 256");
    }
    assert_eq!(fixture.host.register_tool(saying("more", "x")), Err(RegisterError::TooMany));
    assert!(fixture.host.unregister_tool("app__t7"));
    fixture.host.register_tool(saying("more", "x")).expect("there is room again");
    fixture.call("app__t255", json!({})).await.expect("answers");
    let error = fixture.call("app__t7", json!({})).await.expect_err("removed");
    assert!(error.code == Code::NotFound && error.message.contains("app__"), "{error}");
}

#[tokio::test]
async fn a_plugin_that_code_calls_as_the_app_is_rejected() {
    let mut configuration = Setup::new().configuration();
    let echo = configuration.plugins[&"echo".parse().expect("legal")].clone();
    configuration.plugins.insert("app".parse().expect("legal"), echo);
    let data = wharf_tests::Data::new();
    let host = wharf::Host::open(configuration, data.path()).await.expect("opens");
    let rejected = host.rejected();
    assert!(rejected.len() == 1 && rejected[0].reason.contains("choose another name"), "{rejected:?}");
    host.register_tool(saying("echo", "native")).expect("the name is the app's");
}
