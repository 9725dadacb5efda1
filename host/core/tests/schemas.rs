//! Checks of schemas from outside: what they find is what a well-known validator finds, and
//! they end within their steps whatever they are given.

use std::sync::Arc;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use wharf_core::{CheckFailure, HostLimits, Meter, Schema, SchemaBudget, SchemaError, SchemaLimits, schema::Stopped};

fn compile(schema: &Value) -> Result<Schema, SchemaError> {
    Schema::compile(&Arc::new(schema.as_object().expect("an object").clone()), &mut SchemaBudget::default())
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

fn is_stopped(what: &str, schema: Value, value: &Value) {
    let (outcome, _) = checked(&schema, value, 200_000);
    assert_eq!(outcome, Err(CheckFailure::Stopped(Stopped::Steps)), "{what}");
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

#[test]
fn each_rule_takes_steps_for_what_it_looks_at() {
    let long = "x".repeat(900);
    let texts: Vec<String> = (0..60).map(|at| format!("{long}{at}")).collect();
    let mixed: Vec<Value> = (0..11_000).map(|at| if at % 2 == 0 { json!(at) } else { json!([at]) }).collect();
    let items = |value: Value, count: usize| json!({"a": vec![value; count]});
    let names: Vec<String> = (0..500).map(|at| format!("name-{at:0>90}")).collect();
    let members: Map<String, Value> = (0..100_000).map(|at| (format!("m{at}"), json!(1))).collect();
    let members = json!({"a": members});
    is_stopped("enum", of_a(json!({"items": {"not": {"enum": mixed}}})), &items(json!(-1), 100));
    is_stopped(
        "enum of texts",
        of_a(json!({"items": {"not": {"enum": texts}}})),
        &items(json!(format!("{long}99")), 10_000),
    );
    is_stopped("const", of_a(json!({"items": {"const": long}})), &items(json!(long), 10_000));
    is_stopped("uniqueItems", of_a(json!({"uniqueItems": true})), &json!({"a": (0..50_000).collect::<Vec<_>>()}));
    is_stopped(
        "required",
        of_a(json!({"items": {"anyOf": [{"not": {"required": names}}]}})),
        &items(json!({(names[0].clone()): 1}), 100_000),
    );
    is_stopped(
        "dependentRequired",
        of_a(json!({"items": {"dependentRequired": {(names[0].clone()): names}}})),
        &json!({"a": vec![Value::Object(names.iter().map(|name| (name.clone(), json!(1))).collect()); 100]}),
    );
    is_stopped("contains", of_a(json!({"contains": {"const": 2}})), &items(json!(1), 100_000));
    is_stopped("additionalProperties", of_a(json!({"additionalProperties": {"type": "integer"}})), &members);
    is_stopped("propertyNames", of_a(json!({"propertyNames": {"maxLength": 9}})), &members);
    is_stopped("patternProperties", of_a(json!({"patternProperties": {"^m": true, "x$": true}})), &members);
    is_stopped(
        "unevaluatedProperties",
        of_a(json!({"anyOf": vec![json!({"properties": {"b": {}}}); 50], "unevaluatedProperties": true})),
        &members,
    );
    is_stopped("minLength", of_a(json!({"items": {"minLength": 600}})), &items(json!("é".repeat(600)), 10_000));
    let mut random = Rng::with_seed(1);
    let letters: String = std::iter::repeat_with(|| if random.bool() { 'a' } else { 'b' }).take(100_000).collect();
    is_stopped("a pattern", of_a(json!({"pattern": "[ab]*a[ab]{200}c"})), &json!({"a": letters}));
    is_stopped("a long text", of_a(json!({"pattern": "^[ab]*$"})), &json!({"a": "ab".repeat(1 << 21)}));
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
}

#[test]
fn patterns_have_a_size_each_a_size_together_and_a_number() {
    let pattern = |text: &str| (text.to_owned(), json!({"pattern": text}));
    let compiled = |limits: HostLimits, patterns: &[&str]| {
        let properties: Map<String, Value> = patterns.iter().map(|text| pattern(text)).collect();
        let schema = json!({"type": "object", "properties": properties});
        let mut budget = SchemaBudget::new(SchemaLimits::new(&limits));
        Schema::compile(&Arc::new(schema.as_object().expect("an object").clone()), &mut budget).map(|_| ())
    };
    let default = HostLimits::default;
    let large = "\\p{L}{150}x";
    assert_eq!(
        compiled(default(), &[large]),
        Err(SchemaError::LargePattern { limit: ("schema_pattern_bytes", 512 << 10) })
    );
    assert_eq!(
        compiled(default(), &["(?:(?:a{1,100}){1,100}){1,100}"]),
        Err(SchemaError::LargePattern { limit: ("schema_pattern_bytes", 512 << 10) })
    );
    let many: Vec<String> = (0..60).map(|at| format!("\\p{{L}}{{20}}x{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        compiled(default(), &many),
        Err(SchemaError::LargePatterns { limit: ("schema_pattern_total_bytes", 4 << 20) })
    );
    assert_eq!(compiled(default(), &many[..3]), Ok(()));
    let few = HostLimits { schema_patterns: 2, ..default() };
    assert_eq!(compiled(few.clone(), &["a", "b"]), Ok(()));
    assert_eq!(compiled(few, &["a", "b", "c"]), Err(SchemaError::TooManyPatterns { limit: ("schema_patterns", 2) }));
    // Each schema has automata of its own, so a pattern counts once in each.
    let twice = json!({"type": "object", "properties": {"x": {"pattern": "a"}, "y": {"pattern": "a"}}});
    let twice = Arc::new(twice.as_object().expect("an object").clone());
    let two = SchemaLimits::new(&HostLimits { schema_patterns: 2, ..default() });
    let mut budget = SchemaBudget::new(two);
    for _ in 0..2 {
        Schema::compile(&twice, &mut budget).expect("one pattern of this schema");
    }
    let third = Schema::compile(&twice, &mut budget).map(|_| ());
    assert_eq!(third, Err(SchemaError::TooManyPatterns { limit: ("schema_patterns", 2) }));
    let long = "a".repeat(2_049);
    assert_eq!(
        (compiled(default(), &[&long[1..]]), compiled(default(), &[&long])),
        (Ok(()), Err(SchemaError::LongPattern))
    );
    let escapes: Vec<String> = (0..4).map(|at| format!("{}{at}", "\\d".repeat(1_000))).collect();
    let escapes: Vec<&str> = escapes.iter().map(String::as_str).collect();
    assert_eq!(compiled(default(), &escapes), Err(SchemaError::LongPatterns));
}

#[test]
fn schemas_of_one_plugin_share_their_parts() {
    let schema = Arc::new(json!({"type": "object", "enum": [1, 2, 3]}).as_object().expect("an object").clone());
    let limits = SchemaLimits::new(&HostLimits { schema_parts: 12, ..HostLimits::default() });
    let mut budget = SchemaBudget::new(limits);
    for _ in 0..2 {
        Schema::compile(&schema, &mut budget).expect("6 parts");
    }
    assert_eq!(
        Schema::compile(&schema, &mut budget).err(),
        Some(SchemaError::TooManyParts { limit: ("schema_parts", 12) })
    );
    Schema::compile(&schema, &mut SchemaBudget::new(limits)).expect("another plugin has parts of its own");
}
