//! Schemas and answers of components that need no grant, made to keep the host busy: a
//! check ends within its limits, whatever both are, and others are served meanwhile.

use serde_json::{Map, Value, json};
use wharf::{Answer, Code, Error};
use wharf_tests::{Crafted, CraftedTool, Data, Setup};

/// Calls a component that promises this schema and answers with this structure. Other
/// plugins work meanwhile.
async fn outcome(schema: &Value, structured: &Value) -> Result<Answer, Error> {
    let files = Data::alone();
    let tool = CraftedTool { output_schema: Some(schema.to_string().into()), ..CraftedTool::new("run") };
    let crafted = Crafted { structured: Some(structured.to_string().into()), ..Crafted::of([tool]) };
    let path = files.write("promising.wasm", crafted.bytes());
    // Time is no matter here, on a busy machine least of all.
    let setup = Setup::new().limit("check_steps", 2_000_000).limit("cpu_time_milliseconds", 600_000);
    let setup = setup.limit("answer_json_bytes", 256 << 20);
    let fixture = setup.limit("wall_time_milliseconds", 600_000).plugin("promising", &path, "").open().await;
    let (outcome, ()) = tokio::join!(fixture.call("promising__run", json!({})), fixture.works());
    outcome
}

async fn ends(what: &str, schema: Value, structured: Value) {
    let error = outcome(&schema, &structured).await.expect_err(what);
    let bounded = error.code == Code::Limit && error.message.contains("check_steps");
    let told = error.code == Code::Internal && error.message.contains("does not fit its output schema");
    assert!(bounded || told, "{what}: {error}");
    assert!(error.message.len() < 8 << 10, "{what}: {} bytes", error.message.len());
}

#[tokio::test]
async fn long_enums_of_mixed_values_end_within_the_steps_of_a_check() {
    let values: Vec<Value> = (0..8_000).map(|at| if at % 2 == 0 { json!(at) } else { json!([at]) }).collect();
    let schema = json!({"type": "object", "properties": {"a": {"items": {"not": {"enum": values}}}}});
    ends("an enum", schema, json!({"a": vec![-1; 300_000]})).await;
}

#[tokio::test]
async fn recursion_behind_definitions_and_dynamic_references_ends_within_the_steps_of_a_check() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"a": deep});
    }
    let three = vec![json!({"$ref": "#/$defs/b"}); 3];
    let schema = json!({"type": "object", "$ref": "#/$defs/a",
        "$defs": {"a": {"allOf": three}, "b": {"additionalProperties": {"$ref": "#/$defs/a"}}}});
    ends("one definition", schema, deep.clone()).await;
    let twice =
        [json!({"additionalProperties": {"$dynamicRef": "#n"}}), json!({"additionalProperties": {"$ref": "#"}})];
    let schema = json!({"type": "object", "$dynamicAnchor": "n", "allOf": twice});
    let error = outcome(&schema, &deep).await.expect_err("it nests too deeply");
    assert!(error.message.contains("levels"), "{error}");
}

#[tokio::test]
async fn unevaluated_members_end_within_the_steps_of_a_check() {
    let branches = vec![json!({"properties": {"a": {}}}); 300];
    let schema = json!({"type": "object", "anyOf": branches, "unevaluatedProperties": false});
    let members: Map<String, Value> = (0..80_000).map(|at| (format!("m{at}"), json!(1))).collect();
    ends("unevaluated members", schema, Value::Object(members)).await;
}

#[tokio::test]
async fn violations_that_multiply_are_cut_while_they_arise() {
    let names: Vec<String> = (0..500).map(|at| format!("name-{at:0>20}")).collect();
    let many = |item: Value| json!({"a": vec![item; 100_000]});
    for (what, items) in [
        ("required names", json!({"required": names})),
        ("dependent names", json!({"dependentRequired": {"a": names}})),
        ("levels", json!({"allOf": [{"required": names}, {"allOf": [{"required": names}]}]})),
        ("wrong types", json!({"type": "string"})),
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"items": items}}});
        let error = outcome(&schema, &many(json!({"a": 1}))).await.expect_err(what);
        assert!(error.message.contains("/a/0: ") && error.message.contains("and more"), "{what}: {error}");
        assert!(error.message.lines().count() <= 8 && error.message.len() < 8 << 10, "{what}: {error}");
    }
}

#[tokio::test]
async fn a_pattern_that_thrashes_ends_within_the_steps_of_a_check() {
    let mut random = 1_u64;
    let letters = std::iter::repeat_with(|| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if random >> 33 & 1 == 0 { 'a' } else { 'b' }
    });
    let text: String = letters.take(1_000_000).collect();
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "[ab]*a[ab]{200}c"}}});
    ends("a pattern", schema, json!({"a": text})).await;
}

#[tokio::test]
async fn an_answer_whose_check_takes_longer_than_its_call_may_ends_with_the_call() {
    let files = Data::alone();
    let branches = vec![json!({"properties": {"a": {}}}); 300];
    let schema = json!({"type": "object", "anyOf": branches, "unevaluatedProperties": true});
    let members: Map<String, Value> = (0..80_000).map(|at| (format!("m{at}"), json!(1))).collect();
    let tool = CraftedTool { output_schema: Some(schema.to_string().into()), ..CraftedTool::new("run") };
    let crafted = Crafted { structured: Some(Value::Object(members).to_string().into()), ..Crafted::of([tool]) };
    let path = files.write("promising.wasm", crafted.bytes());
    let setup = Setup::new().limit("check_steps", 1_000_000_000).limit("cpu_time_milliseconds", 300);
    let fixture = setup.plugin("promising", &path, "").open().await;
    let error = fixture.call("promising__run", json!({})).await.expect_err("too long");
    assert!(error.code == Code::Timeout && error.message.contains("cpu_time_milliseconds"), "{error}");
    fixture.works().await;
}
