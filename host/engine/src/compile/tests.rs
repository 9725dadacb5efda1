//! What compiled code has in it.

use super::*;

/// The code of a module, with or without a mitigation that is on as wasmtime has it.
#[expect(unsafe_code, reason = "a setting of the compiler that a host never changes")]
fn code(target: CompileTarget, module: &str, without: Option<&str>) -> Vec<u8> {
    let mut config = target.settings();
    if let Some(setting) = without {
        // SAFETY: the code is looked at and never runs.
        unsafe { config.cranelift_flag_set(setting, "false") };
    }
    let engine = Engine::new(&config).expect("settings that go together");
    let module = wat::parse_str(module).expect("a module");
    wasmtime::Module::new(&engine, module).expect("compiles").text().to_vec()
}

#[test]
fn compiled_code_masks_what_a_mispredicted_branch_would_read() {
    // Each has a bound that a branch checks: of a table, and of a memory that moves when it grows.
    let through_a_table = r#"(module (type $f (func (result i32))) (table 10 100 funcref)
        (func (param i32) (result i32) local.get 0 call_indirect (type $f)))"#;
    let of_a_memory = "(module (memory 1) (func (param i32) (result i32) local.get 0 i32.load))";
    for (setting, module, small_memories) in [
        ("enable_table_access_spectre_mitigation", through_a_table, false),
        ("enable_heap_access_spectre_mitigation", of_a_memory, true),
    ] {
        let target = CompileTarget { stack_bytes: 1 << 20, small_memories };
        let compiled = code(target, module, None);
        assert_eq!(compiled, code(target, module, None), "the same module is the same code");
        assert_ne!(compiled, code(target, module, Some(setting)), "{setting} is off");
    }
}
