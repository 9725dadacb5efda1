//! Code of one component is not taken for that of another.

use super::*;

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("a component")
}

/// A component whose module has these memories and tables, and exports a function of this type.
fn exporting(module: &str, name: &str, signature: &str) -> Vec<u8> {
    component(&format!(
        r#"(component
            (core module $m {module} (func (export "f") (param i32) (result i32) local.get 0))
            (core instance $i (instantiate $m))
            (func (export "{name}") {signature} (canon lift (core func $i "f"))))"#
    ))
}

const SIGNATURE: &str = r#"(param "a" u32) (result u32)"#;

fn passes(code: &[u8], component: &[u8]) -> Result<(), String> {
    CompiledProbe::compile(code).expect("compiles").passes_for(component).map_err(|error| error.to_string())
}

#[test]
fn the_code_of_a_component_passes_for_it() {
    let shared_types = r#"(component
        (import "wharf:probe/types" (instance $types
            (export "r" (type $r (sub resource)))
            (type $pair (tuple u8 string)) (export "pair" (type $p (eq $pair)))
            (type $rec (record (field "a" (list $p)) (field "b" (option char)))) (export "rec" (type $rec2 (eq $rec)))
            (type $v (variant (case "x" $rec2) (case "y"))) (export "v" (type (eq $v)))
            (type $f (flags "p" "q")) (export "f" (type $flags (eq $f)))
            (type $n (enum "one" "two")) (export "e" (type (eq $n)))
            (export "take" (func (param "r" (borrow $r)) (result (result string (error $flags)))))
            (export "give" (func (result (own $r))))))
        (alias export $types "r" (type $r))
        (alias export $types "e" (type $e))
        (import "more" (func (param "r" (borrow $r)) (param "e" $e)))
        (export "again" (type $r))
        (export "kind" (type $e)))"#;
    for component in [
        exporting("", "f", SIGNATURE),
        exporting("(memory 3) (memory 1) (table 5 funcref)", "f", SIGNATURE),
        component(shared_types),
        component("(component)"),
        // Within each other, more than once, by way of aliases and exports.
        component(
            r#"(component $outer
                (core module $m (memory 2) (table 7 externref))
                (component $inner
                    (core module $n (memory 1))
                    (alias outer $outer 0 (core module $of-outer))
                    (core instance (instantiate $n))
                    (core instance (instantiate $of-outer))
                    (export "m" (core module $n)))
                (component $twice
                    (alias outer $outer $inner (component $again))
                    (instance (instantiate $again))
                    (instance (instantiate $again)))
                (instance (instantiate $inner))
                (instance (instantiate $twice))
                (core instance (instantiate $m)))"#,
        ),
    ] {
        assert_eq!(passes(&component, &component), Ok(()));
    }
}

#[test]
fn the_code_of_another_component_is_refused() {
    let right = exporting("(memory 3) (table 5 funcref)", "f", SIGNATURE);
    let told = |other: &[u8]| passes(other, &right).expect_err("another");
    let name = told(&exporting("(memory 3) (table 5 funcref)", "g", SIGNATURE));
    assert!(name.contains("its export `f` is another"), "{name}");
    let parameter = told(&exporting("(memory 3) (table 5 funcref)", "f", r#"(param "b" u32) (result u32)"#));
    assert!(parameter.contains("its export `f` is another"), "{parameter}");
    let kind = told(&exporting("(memory 3) (table 5 funcref)", "f", r#"(param "a" u32) (result s32)"#));
    assert!(kind.contains("its export `f` is another"), "{kind}");
    let memories = told(&exporting("(memory 3) (memory 1) (table 5 funcref)", "f", SIGNATURE));
    assert!(
        memories.contains(
            "has 2 memories (up to 3 pages) and 1 tables (up to 5 elements), and one of the component 1 memories"
        ),
        "{memories}"
    );
    for module in ["(memory 4) (table 5 funcref)", "(memory 3)", "(memory 3) (table 6 funcref)", ""] {
        told(&exporting(module, "f", SIGNATURE));
    }
    let fewer = told(&component("(component)"));
    assert!(fewer.contains("it has 0 imports and 0 exports, and the component 0 and 1"), "{fewer}");
    let importing = component(r#"(component (import "x" (func)) (import "y" (func)))"#);
    let swapped = component(r#"(component (import "x" (func)) (import "z" (func)))"#);
    let import = passes(&swapped, &importing).expect_err("another");
    assert!(import.contains("its import `y` is another"), "{import}");
}

#[test]
fn one_resource_in_the_place_of_two_is_another_type() {
    let taking = |first: &str, second: &str| {
        component(&format!(
            r#"(component
                (import "p" (type $p (sub resource)))
                (import "q" (type $q (sub resource)))
                (import "f" (func (param "first" (borrow {first})) (param "second" (own {second})))))"#
        ))
    };
    let right = taking("$p", "$q");
    assert_eq!(passes(&right, &right), Ok(()));
    passes(&taking("$p", "$p"), &right).expect_err("the same twice");
    passes(&taking("$q", "$p"), &right).expect_err("the other way round");
}

#[test]
fn types_that_unfold_without_end_are_refused_in_time() {
    let mut text = String::from("(component (type $t0 (tuple u8 u8))");
    for level in 1..19 {
        text.push_str(&format!("(type $t{level} (tuple $t{} $t{}))", level - 1, level - 1));
    }
    text.push_str("(import \"f\" (func (param \"a\" $t18))))");
    // What the parser still accepts is compared.
    let component = component(&text);
    if let Ok(code) = CompiledProbe::compile(&component) {
        assert!(code.passes_for(&component).is_ok());
    }
}
