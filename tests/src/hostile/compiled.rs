//! Whether compiled code is taken for the code of a component.

use std::sync::LazyLock;

use wharf_engine::CompiledProbe;

use super::assert_told;

/// The component that hostile code takes the place of, or the other way round.
static KNOWN: LazyLock<CompiledProbe> = LazyLock::new(|| {
    let known = wat::parse_str(
        r#"(component
            (import "wharf:probe/types" (instance (export "r" (type (sub resource))) (export "f" (func))))
            (core module $m (memory 1) (table 3 funcref) (func (export "f") (result i32) i32.const 1))
            (core instance $i (instantiate $m))
            (func (export "run") (result u32) (canon lift (core func $i "f"))))"#,
    );
    CompiledProbe::compile(&known.expect("a component")).expect("compiles")
});

/// A component, as bytes or as text. Its own code passes for it, and what does not is told in
/// words.
pub fn compiled(bytes: &[u8]) {
    let component = match bytes.starts_with(b"\0asm") {
        true => bytes.to_owned(),
        false => match str::from_utf8(bytes).map(wat::parse_str) {
            Ok(Ok(component)) => component,
            _ => return,
        },
    };
    if let Err(error) = KNOWN.passes_for(&component) {
        assert_told(&error.to_string());
    }
    if let Ok(code) = CompiledProbe::compile(&component) {
        let passed = code.passes_for(&component).map_err(|error| error.to_string());
        assert_eq!(passed, Ok(()), "a component's own code is refused");
    }
}
