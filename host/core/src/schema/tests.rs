use std::cell::Cell;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::{
    error::{MAX_VIOLATION_BYTES, shorten_value},
    *,
};

fn compile(schema: Value) -> Result<Schema, SchemaError> {
    Schema::compile(&schema.as_object().expect("an object").clone().into(), &mut SchemaBudget::default())
}

#[test]
fn a_violation_names_the_path_and_the_rule() {
    let schema = compile(json!({
        "type": "object", "properties": {"todo": {"type": "object", "properties": {"id": {"minimum": 1}}}},
    }))
    .expect("compiles");
    let told = schema.check(&json!({"todo": {"id": 0}})).expect_err("too small").to_string();
    assert!(told.contains("/todo/id") && told.contains("minimum"), "{told}");
    assert_eq!(schema.check(&json!({"todo": {"id": 1}})), Ok(()));
}

#[test]
fn a_violation_quotes_names_without_control_characters_and_no_more_of_them_than_it_may() {
    let schema = compile(json!({"type": "object", "additionalProperties": {"type": "null"}})).expect("compiles");
    let told = schema.check(&json!({"a\u{1b}[2J\u{7f}\u{202e}": 1})).expect_err("no null").to_string();
    assert!(told.starts_with("/a[2J: "), "{told:?}");
    let told = schema.check(&json!({"x".repeat(1 << 20): 1})).expect_err("no null").to_string();
    assert!(told.len() < 4 * MAX_VIOLATION_BYTES, "{} bytes", told.len());
    let strict = json!({"type": "object", "properties": {"text": {}}, "additionalProperties": false});
    let told = compile(strict).expect("compiles").check(&json!({"of\u{7f}": 1})).expect_err("unexpected").to_string();
    assert!(told.contains("'of' was unexpected"), "{told:?}");
}

#[test]
fn a_value_of_a_schema_is_written_no_further_than_it_is_shown() {
    /// Counts how often it is written.
    struct Item<'c>(&'c Cell<usize>);

    impl Serialize for Item<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.set(self.0.get() + 1);
            serializer.serialize_str("ab")
        }
    }

    let written = Cell::new(0);
    let long: Vec<Item> = std::iter::repeat_with(|| Item(&written)).take(100_000).collect();
    let shown = shorten_value(&long);
    assert!(shown.starts_with("[\"ab\",\"ab\",") && shown.ends_with('…'), "{shown}");
    assert!(written.get() < MAX_VIOLATION_BYTES, "{} items were written", written.get());
    let few: Vec<Item> = std::iter::repeat_with(|| Item(&written)).take(2).collect();
    assert_eq!(shorten_value(&few), "[\"ab\",\"ab\"]");
}

#[test]
fn a_property_that_starts_with_two_underscores_is_refused_at_any_depth() {
    for schema in [
        json!({"type": "object", "properties": {"__sessionId": {}}}),
        json!({"type": "object", "properties": {"a": {"items": {"properties": {"__x": {}}}}}}),
        json!({"type": "object", "$defs": {"a": {"properties": {"__x": {}}}}}),
        json!({"type": "object", "required": ["__x"]}),
    ] {
        assert!(matches!(compile(schema), Err(SchemaError::ReservedProperty(_))));
    }
    assert!(compile(json!({"type": "object", "properties": {"_a": {"const": {"properties": {"__x": 1}}}}})).is_ok());
}

#[test]
fn what_is_no_schema_of_an_object_is_refused() {
    assert_eq!(compile(json!({})).err(), Some(SchemaError::NotAnObject));
    assert_eq!(compile(json!({"type": "string"})).err(), Some(SchemaError::NotAnObject));
    let bad = compile(json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}));
    assert!(matches!(bad, Err(SchemaError::Invalid(_))));
}

#[test]
fn a_schema_names_nothing_outside_itself() {
    for reference in ["https://example.com/x", "file:///etc/passwd", "other.json", "#/nowhere", "#missing"] {
        let schema = compile(json!({"type": "object", "properties": {"a": {"$ref": reference}}}));
        assert!(matches!(schema, Err(SchemaError::ForeignReference(_))), "{reference}");
    }
}

#[test]
fn a_schema_that_multiplies_out_is_refused_before_it_is_used() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({}));
    let schema = compile(json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": definitions}));
    assert_eq!(schema.err(), Some(SchemaError::TooHeavy));
}

#[test]
fn a_recursive_schema_checks_trees_and_cannot_be_made_to_run_for_ever() {
    let tree = compile(json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "number"}},
    }))
    .expect("a tree");
    assert!(tree.check(&json!({"left": {"right": {"value": 1}}})).is_ok());
    assert!(tree.check(&json!({"left": {"right": {"value": "x"}}})).is_err());
    let mut deep = json!({"value": "x"});
    for _ in 0..100 {
        deep = json!({"left": deep});
    }
    assert!(tree.check(&deep).expect_err("too deep").to_string().contains("levels"));
    let twice = json!({"properties": {"a": {"$ref": "#"}}});
    let bomb = compile(json!({"type": "object", "anyOf": [twice, twice, twice]}));
    assert_eq!(bomb.err(), Some(SchemaError::TooHeavy));
}

#[test]
fn a_pattern_cannot_backtrack() {
    let schema = compile(json!({"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}})).expect("compiles");
    assert!(schema.check(&json!({"a": format!("{}!", "a".repeat(50_000))})).is_err());
    assert!(compile(json!({"type": "object", "properties": {"a": {"pattern": r"(a)\1"}}})).is_err());
}
