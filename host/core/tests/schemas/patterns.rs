//! What schemas may take to be compiled.

use serde_json::{Map, Value, json};
use wharf_core::{HostLimits, Schema, SchemaBudget, SchemaError, SchemaLimits};

#[test]
fn patterns_have_a_size_each_a_size_together_and_a_number() {
    let pattern = |text: &str| (text.to_owned(), json!({"pattern": text}));
    let compiled = |limits: HostLimits, patterns: &[&str]| {
        let properties: Map<String, Value> = patterns.iter().map(|text| pattern(text)).collect();
        let schema = json!({"type": "object", "properties": properties});
        let mut budget = SchemaBudget::new(SchemaLimits::new(&limits));
        Schema::compile(&schema.as_object().expect("an object").clone().into(), &mut budget).map(|_| ())
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
    let twice = twice.as_object().expect("an object").clone().into();
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
fn patterns_take_no_longer_to_compile_than_those_of_one_plugin_may() {
    let compiled = |patterns: &[String]| {
        let properties: Map<String, Value> =
            patterns.iter().map(|text| (text.clone(), json!({"pattern": text}))).collect();
        let schema = json!({"type": "object", "properties": properties});
        Schema::compile(&schema.as_object().expect("an object").clone().into(), &mut SchemaBudget::default())
            .map(|_| ())
    };
    let ages = (0..30).map(|at| format!("{}{at}", "\\p{Age=16.0}{0}".repeat(130)));
    for (what, patterns) in [
        ("wide classes without an escape", vec![format!("(?i){}", "[!-\u{10fffd}]{0}".repeat(150))]),
        ("wide classes with one", vec![format!("(?i){}", "[\\W]{0}".repeat(250))]),
        ("escapes that become long", vec!["\\s".repeat(1_024)]),
        ("tables of ages, which are slow together", ages.collect()),
    ] {
        assert_eq!(compiled(&patterns), Err(SchemaError::LongPatterns), "{what}");
    }
    // As many as a plugin may have, of those that schemas have.
    let usual = [r"^[a-z0-9-]{1,63}$", r"^\d{4}-\d{2}-\d{2}$", r"^[^\s@]+@[^\s@]+\.[a-z]+$", "^(https?)://[^/]+/"];
    let many: Vec<String> = (0..1_024).map(|at| format!("{}|{at}", usual[at % usual.len()])).collect();
    assert_eq!(compiled(&many), Ok(()));
}

#[test]
fn schemas_of_one_plugin_share_their_parts() {
    let schema = json!({"type": "object", "enum": [1, 2, 3]}).as_object().expect("an object").clone().into();
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
