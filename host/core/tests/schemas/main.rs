//! Checks of schemas from outside: what they find is what a well-known validator finds, and
//! they end within their steps whatever they are given.

mod patterns;
mod steps;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use wharf_core::{CheckFailure, Meter, Schema, SchemaBudget, SchemaError};

fn compile(schema: &Value) -> Result<Schema, SchemaError> {
    Schema::compile(&schema.as_object().expect("an object").clone().into(), &mut SchemaBudget::default())
}

/// What a check with so many steps says, and how many it took.
fn checked(schema: &Value, value: &Value, steps: u64) -> (Result<(), CheckFailure>, u64) {
    let schema = compile(schema).expect("compiles");
    std::thread::scope(|scope| {
        let check = || {
            let mut meter = Meter::on_own_stack(steps, &|| false);
            let outcome = schema.check_within(value, &mut meter);
            (outcome, steps - meter.left())
        };
        let thread = std::thread::Builder::new().stack_size(Meter::STACK_BYTES).spawn_scoped(scope, check);
        thread.expect("a thread").join().expect("no panic")
    })
}

/// A schema of an object whose property `a` is this.
fn of_a(schema: Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}})
}

fn chance(random: &mut Rng, one_in: usize) -> bool {
    random.usize(0..one_in) == 0
}

fn name(random: &mut Rng) -> &'static str {
    ["a", "b", "ab", "x1", "", "é"][random.usize(0..6)]
}

fn scalar(random: &mut Rng) -> Value {
    [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-3),
        json!(2.5),
        json!(0.3),
        json!(u64::MAX),
        // A double holds it exactly: what it is a multiple of is the same in decimals.
        json!(1e20),
        json!(""),
        json!("a"),
        json!("ab1"),
        json!("äöü"),
        json!("x y"),
    ][random.usize(0..16)]
    .clone()
}

fn value(random: &mut Rng, depth: usize) -> Value {
    match random.usize(0..4) {
        0 if depth > 0 => (0..random.usize(0..4)).map(|_| value(random, depth - 1)).collect(),
        1 | 2 if depth > 0 => {
            let members = (0..random.usize(0..4)).map(|_| (name(random).to_owned(), value(random, depth - 1)));
            Value::Object(members.collect())
        }
        _ => scalar(random),
    }
}

fn schemas(random: &mut Rng, depth: usize) -> Value {
    (0..random.usize(1..4)).map(|_| schema(random, depth)).collect()
}

fn named(random: &mut Rng, depth: usize) -> Value {
    Value::Object((0..random.usize(1..4)).map(|_| (name(random).to_owned(), schema(random, depth))).collect())
}

fn names(random: &mut Rng) -> Value {
    let mut names: Vec<_> = (0..random.usize(0..3)).map(|_| name(random)).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

/// One keyword and what it says.
fn keyword(random: &mut Rng, depth: usize) -> (&'static str, Value) {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    const PATTERNS: [&str; 8] = ["^a", "b$", "\\d", "^\\w+$", "ä|x", "^.{2}$", "[^a-z]", "\\bab\\B"];
    if depth > 0 && !chance(random, 3) {
        let inner = depth - 1;
        return match random.usize(0..19) {
            0 => ("allOf", schemas(random, inner)),
            1 => ("anyOf", schemas(random, inner)),
            2 => ("oneOf", schemas(random, inner)),
            3 => ("not", schema(random, inner)),
            4 => ("if", schema(random, inner)),
            5 => ("then", schema(random, inner)),
            6 => ("else", schema(random, inner)),
            7 => ("properties", named(random, inner)),
            8 => {
                let of = |random: &mut Rng| (PATTERNS[random.usize(0..8)].to_owned(), schema(random, inner));
                ("patternProperties", Value::Object((0..random.usize(1..3)).map(|_| of(random)).collect()))
            }
            9 => ("additionalProperties", schema(random, inner)),
            10 => ("propertyNames", schema(random, inner)),
            11 => ("prefixItems", schemas(random, inner)),
            12 => ("items", schema(random, inner)),
            13 => ("contains", schema(random, inner)),
            14 => ("dependentSchemas", named(random, inner)),
            15 => ("unevaluatedItems", schema(random, inner)),
            16 => ("unevaluatedProperties", schema(random, inner)),
            17 => ("$ref", json!("#/$defs/d")),
            _ => ("properties", named(random, inner)),
        };
    }
    match random.usize(0..20) {
        0 | 1 => ("type", json!(TYPES[random.usize(0..7)])),
        2 => ("type", json!(["object", TYPES[random.usize(0..5)]])),
        3 => ("const", value(random, 1)),
        4 => ("enum", (0..4).map(|_| value(random, 1)).collect()),
        5 => ("multipleOf", json!([0.1, 0.5, 1.0, 3.0][random.usize(0..4)])),
        6 => ("maximum", json!(random.i32(-2..4))),
        7 => ("exclusiveMaximum", json!(2.5)),
        8 => ("minimum", json!(0.5)),
        9 => ("exclusiveMinimum", json!(random.i32(-2..2))),
        10 => ("maxLength", json!(random.u32(0..4))),
        11 => ("minLength", json!(random.u32(0..4))),
        12 => ("pattern", json!(PATTERNS[random.usize(0..8)])),
        13 => ("maxItems", json!(random.u32(0..3))),
        14 => ("minItems", json!(random.u32(0..3))),
        15 => ("uniqueItems", json!(random.bool())),
        16 => ("maxProperties", json!(random.u32(0..3))),
        17 => ("minContains", json!(random.u32(0..3))),
        18 => ("required", names(random)),
        _ => ("dependentRequired", json!({name(random): names(random)})),
    }
}

fn schema(random: &mut Rng, depth: usize) -> Value {
    if chance(random, 12) {
        return json!(random.bool());
    }
    Value::Object(
        (0..random.usize(1..5)).map(|_| keyword(random, depth)).map(|(name, is)| (name.to_owned(), is)).collect(),
    )
}

#[test]
fn what_fits_is_what_fits_to_a_well_known_validator() {
    let (mut fitting, mut unfit) = (0, 0);
    for seed in 0..6_000 {
        let mut random = Rng::with_seed(seed);
        let mut root = Map::new();
        root.insert("type".to_owned(), json!("object"));
        root.insert("$defs".to_owned(), json!({"d": schema(&mut Rng::with_seed(seed + 1_000_000), 0)}));
        root.insert("properties".to_owned(), json!({"a": schema(&mut random, 3)}));
        for _ in 0..2 {
            let (name, says) = keyword(&mut random, 3);
            root.insert(name.to_owned(), says);
        }
        root.insert("type".to_owned(), json!("object"));
        let root = Value::Object(root);
        let theirs = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&root);
        let ours = match (compile(&root), &theirs) {
            (Ok(ours), Ok(_)) => ours,
            (Err(_), Err(_)) => continue,
            (ours, theirs) => panic!("{root}: {ours:?}, {theirs:?}"),
        };
        let theirs = theirs.expect("compiled");
        for _ in 0..6 {
            let value = json!({"a": value(&mut random, 3), name(&mut random): value(&mut random, 2)});
            let found = ours.check(&value);
            assert_eq!(found.is_ok(), theirs.is_valid(&value), "{root} and {value}: {found:?}");
            match found {
                Ok(()) => fitting += 1,
                Err(failure) => {
                    unfit += 1;
                    let told = failure.to_string();
                    assert!(
                        !told.is_empty() && told.lines().all(|line| line == "and more" || line.contains(" (rule /")),
                        "{root} and {value}: {told}"
                    );
                }
            }
        }
    }
    assert!(fitting > 3_000 && unfit > 3_000, "{fitting} and {unfit}");
}
