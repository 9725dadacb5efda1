//! A check, and what is told of a value that does not fit, end within their steps
//! whatever both are.

use fastrand::Rng;
use serde_json::{Map, Value, json};
use wharf_core::{CheckFailure, Meter, SchemaError, schema::Stopped};

use super::{checked, compile, of_a};

fn is_stopped(what: &str, schema: Value, value: &Value) {
    let (outcome, _) = checked(&schema, value, 200_000);
    assert_eq!(outcome, Err(CheckFailure::Stopped(Stopped::Steps)), "{what}");
}

/// Rules whose check takes more than 200,000 steps: what it is, the schema and the value.
fn costly() -> Vec<(&'static str, Value, Value)> {
    let mut cases = Vec::new();
    let mut case = |what, schema, value: &Value| cases.push((what, schema, value.clone()));
    let long = "x".repeat(900);
    let texts: Vec<String> = (0..60).map(|at| format!("{long}{at}")).collect();
    let mixed: Vec<Value> = (0..11_000).map(|at| if at % 2 == 0 { json!(at) } else { json!([at]) }).collect();
    let items = |value: Value, count: usize| json!({"a": vec![value; count]});
    let names: Vec<String> = (0..500).map(|at| format!("name-{at:0>90}")).collect();
    let members: Map<String, Value> = (0..100_000).map(|at| (format!("m{at}"), json!(1))).collect();
    let members = json!({"a": members});
    case("enum", of_a(json!({"items": {"not": {"enum": mixed}}})), &items(json!(-1), 100));
    case("enum of texts", of_a(json!({"items": {"not": {"enum": texts}}})), &items(json!(format!("{long}99")), 10_000));
    case("const", of_a(json!({"items": {"const": long}})), &items(json!(long), 10_000));
    case("uniqueItems", of_a(json!({"uniqueItems": true})), &json!({"a": (0..50_000).collect::<Vec<_>>()}));
    case(
        "required",
        of_a(json!({"items": {"anyOf": [{"not": {"required": names}}]}})),
        &items(json!({(names[0].clone()): 1}), 100_000),
    );
    case(
        "dependentRequired",
        of_a(json!({"items": {"dependentRequired": {(names[0].clone()): names}}})),
        &json!({"a": vec![Value::Object(names.iter().map(|name| (name.clone(), json!(1))).collect()); 100]}),
    );
    case("contains", of_a(json!({"contains": {"const": 2}})), &items(json!(1), 100_000));
    case("additionalProperties", of_a(json!({"additionalProperties": {"type": "integer"}})), &members);
    case("propertyNames", of_a(json!({"propertyNames": {"maxLength": 9}})), &members);
    case("patternProperties", of_a(json!({"patternProperties": {"^m": true, "x$": true}})), &members);
    case(
        "unevaluatedProperties",
        of_a(json!({"anyOf": vec![json!({"properties": {"b": {}}}); 50], "unevaluatedProperties": true})),
        &members,
    );
    case("minLength", of_a(json!({"items": {"minLength": 600}})), &items(json!("é".repeat(600)), 10_000));
    let mut random = Rng::with_seed(1);
    let letters: String = std::iter::repeat_with(|| if random.bool() { 'a' } else { 'b' }).take(100_000).collect();
    case("a pattern", of_a(json!({"pattern": "[ab]*a[ab]{200}c"})), &json!({"a": letters}));
    case("a long text", of_a(json!({"pattern": "^[ab]*$"})), &json!({"a": "ab".repeat(1 << 21)}));
    case("multipleOf", of_a(json!({"items": {"multipleOf": 1e-308}})), &items(json!(1e308), 3_000));
    case("items", of_a(json!({"allOf": vec![json!({"items": true}); 20]})), &items(json!(0), 50_000));
    case("schemas that allow anything", of_a(json!({"items": {"allOf": vec![true; 4_000]}})), &items(json!(0), 1_000));
    let anything: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(true))).collect();
    case("dependentSchemas", of_a(json!({"items": {"dependentSchemas": anything}})), &items(json!({}), 1_000));
    let required: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(["b"]))).collect();
    case(
        "dependentRequired of absent names",
        of_a(json!({"items": {"dependentRequired": required}})),
        &items(json!({}), 1_000),
    );
    cases
}

#[test]
fn each_rule_takes_steps_for_what_it_looks_at() {
    for (what, schema, value) in costly() {
        is_stopped(what, schema, &value);
    }
}

#[test]
fn an_explanation_takes_the_steps_that_its_check_would_have_taken() {
    for (what, mut schema, value) in costly() {
        // The check ends at this at once. Its explanation tells that, and goes on to the rules that fit.
        schema["required"] = json!(["zz"]);
        let (outcome, steps) = checked(&schema, &value, 200_000);
        let told = "the whole value: \"zz\" is a required property (rule /required)\nand more".to_owned();
        assert_eq!(outcome, Err(CheckFailure::Violations(told)), "{what}");
        assert!(steps < 100, "{what}: {steps} steps for the check alone");
        // A check that is made again tells all of it or nothing, with the steps that it has in all.
        let compiled = compile(&schema).expect("compiles");
        let outcome = compiled.check_within(&value, &mut Meter::in_all(10_000));
        assert_eq!(outcome, Err(CheckFailure::Stopped(Stopped::Steps)), "{what}");
    }
}

#[test]
fn a_schema_that_recurs_behind_one_definition_ends_within_its_steps() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"a": deep});
    }
    let three = vec![json!({"$ref": "#/$defs/b"}); 3];
    let schema = json!({"type": "object", "$ref": "#/$defs/a",
        "$defs": {"a": {"allOf": three}, "b": {"additionalProperties": {"$ref": "#/$defs/a"}}}});
    is_stopped("a definition", schema, &deep);
}

#[test]
fn a_check_ends_before_it_has_no_stack_left() {
    let definitions =
        (0..60).map(|at| (format!("d{at}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", at + 1)}]})));
    let last = ("d60".to_owned(), json!({"additionalProperties": {"$ref": "#"}}));
    let definitions: Map<_, _> = definitions.chain([last]).collect();
    let schema = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions});
    let mut deep = json!({});
    for _ in 0..120 {
        deep = json!({"a": deep});
    }
    assert_eq!(checked(&schema, &deep, 1_000_000).0, Err(CheckFailure::Stopped(Stopped::Depth)));
    assert_eq!(checked(&schema, &json!({"a": {"a": {}}}), 1_000_000).0, Ok(()));
    // A value that does not fit is explained on the same stack.
    let wrong = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": {
        "d0": {"properties": {"b": {"type": "null"}}, "additionalProperties": {"$ref": "#/$defs/d0"}}}});
    let mut deep = json!({"b": 1});
    for _ in 0..120 {
        deep = json!({"a": deep});
    }
    let (outcome, _) = checked(&wrong, &deep, 1_000_000);
    assert!(matches!(&outcome, Err(CheckFailure::Violations(told)) if told.contains("/a/b: ")), "{outcome:?}");
}

#[test]
fn a_schema_that_applies_itself_to_the_same_value_is_refused() {
    for schema in [
        json!({"type": "object", "allOf": [{"$ref": "#"}]}),
        json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"not": {"$dynamicRef": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
    ] {
        assert_eq!(compile(&schema).err(), Some(SchemaError::Endless), "{schema}");
    }
    let chain = |length: usize| {
        let definitions = (0..length).map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})));
        let last = (format!("d{length}"), json!({"minProperties": 1}));
        json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions.chain([last]).collect::<Map<_, _>>()})
    };
    assert!(checked(&chain(100), &json!({"a": 1}), 10_000).0.is_ok());
    for length in [130, 1_500] {
        assert_eq!(compile(&chain(length)).err(), Some(SchemaError::TooDeep), "{length}");
    }
    let data = json!({"type": "object", "enum": [{"type": "string"}], "properties": {"a": {"$ref": "#/enum/0"}}});
    assert!(matches!(compile(&data), Err(SchemaError::ForeignReference(_))), "data is no schema");
}

#[test]
fn violations_are_cut_while_they_arise() {
    let wrong = json!({"a": vec![1; 100_000]});
    let (outcome, steps) = checked(&of_a(json!({"items": {"type": "string"}})), &wrong, 1_000_000);
    let Err(CheckFailure::Violations(told)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(told.lines().count(), 6, "{told}");
    assert!(told.starts_with("/a/0: the value is not of type \"string\" (rule /properties/a/items/type)"), "{told}");
    assert!(told.ends_with("\nand more") && steps < 100, "{steps} steps: {told}");
    // Also where the last step was taken by the check itself.
    let fitting_but_last: Vec<Value> = (0..1_000).map(|at| json!({"b": at})).chain([json!({})]).collect();
    let (outcome, steps) =
        checked(&of_a(json!({"items": {"required": ["b"]}})), &json!({"a": fitting_but_last}), 1_000_000);
    assert!(
        matches!(&outcome, Err(CheckFailure::Violations(told)) if told.starts_with("/a/1000: \"b\" is")),
        "{outcome:?}"
    );
    let (outcome, _) = checked(&of_a(json!({"items": {"required": ["b"]}})), &json!({"a": fitting_but_last}), steps);
    assert!(
        matches!(&outcome, Err(CheckFailure::Violations(told)) if told.starts_with("/a/1000: \"b\" is")),
        "{outcome:?}"
    );
}

#[test]
fn a_check_ends_when_nobody_wants_it_any_more() {
    let schema = compile(&of_a(json!({"items": {"type": "integer"}}))).expect("compiles");
    let value = json!({"a": vec![1; 100_000]});
    let outcome = schema.check_within(&value, &mut Meter::on_own_stack(u64::MAX, &|| true));
    assert_eq!(outcome, Err(CheckFailure::Stopped(Stopped::Interrupted)));
    assert_eq!(schema.check_within(&value, &mut Meter::on_own_stack(u64::MAX, &|| false)), Ok(()));
    // What is told of a value that does not fit ends, too: with what is known by then.
    let schema = compile(&json!({"type": "object", "required": ["zz"], "properties": {"a": {"items": true}}}));
    let outcome = schema.expect("compiles").check_within(&value, &mut Meter::on_own_stack(u64::MAX, &|| true));
    let told = "the whole value: \"zz\" is a required property (rule /required)\nand more".to_owned();
    assert_eq!(outcome, Err(CheckFailure::Violations(told)));
}
