//! Files that are loaded as plugins but are no plugin, or none that may run: they
//! are refused with a reason, and the other plugins are served.

use serde_json::json;
use wharf_tests::{Crafted, CraftedTool, Data, Setup, bytes, context, wharf};

/// Why this file is no plugin, according to a host that serves others beside it
/// and to `wharf inspect`, which must agree.
async fn refused(what: &str, component: impl AsRef<[u8]>) -> String {
    let files = Data::alone();
    let path = files.write("bad.wasm", component);
    let fixture = Setup::new().plugin("bad", &path, "").open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    assert_eq!(rejected.len(), 1, "{what} is loaded");
    assert_eq!(rejected[0].name.as_str(), "bad");
    assert!(!fixture.host.tool_names().await.iter().any(|tool| tool.starts_with("bad__")), "{what} has tools");
    fixture.works().await;
    let reason = rejected[0].reason.clone();
    assert!(reason.len() < 2_000, "{what}: {} bytes", reason.len());
    assert!(!reason.chars().any(|character| character.is_control() && character != '\n'), "{what}: {reason:?}");
    let inspected = wharf(["inspect", path.to_str().expect("a path")]).run();
    assert_eq!((inspected.code, inspected.out.as_str()), (Some(3), ""), "{what}: {inspected:?}");
    assert!(inspected.err.contains(&reason), "{what}: {reason:?} and {:?}", inspected.err);
    reason
}

async fn refused_for(what: &str, component: impl AsRef<[u8]>, word: &str) {
    let reason = refused(what, component).await;
    assert!(reason.contains(word), "{what} is refused for another reason: {reason}");
}

#[tokio::test]
async fn a_crafted_component_is_a_plugin_like_any_other() {
    let files = Data::alone();
    let path = files.write("crafted.wasm", Crafted::default().bytes());
    let fixture = Setup::new().plugin("crafted", &path, "").open().await;
    let answer = fixture.call("crafted__run", json!({})).await.expect("answers");
    assert_eq!(answer.content[0].as_text(), Some("yes"));
    let inspected = wharf(["inspect", path.to_str().expect("a path")]).run();
    assert_eq!(inspected.code, Some(0), "{inspected:?}");
    assert!(inspected.out.contains("run") && inspected.out.contains("asks for no grant"), "{inspected:?}");
}

#[tokio::test]
async fn a_truncated_component_is_refused() {
    for whole in [bytes("guest-echo"), Crafted::default().bytes()] {
        let length = whole.len();
        // A cut behind the preamble leaves an empty component.
        for cut in [4, 7, 9, 10, 100, length / 4, length / 2, length - 1_000, length - 100, length - 1] {
            refused_for(&format!("a component cut to {cut} bytes"), &whole[..cut], "truncated").await;
        }
    }
}

#[tokio::test]
async fn what_is_no_component_is_told_apart() {
    refused_for("nothing", "", "no Wasm component").await;
    refused_for("one byte", "\0", "no Wasm component").await;
    refused_for("a text", "export function run() {}\n".repeat(100), "no Wasm component").await;
    refused_for("a Wasm text", Crafted::default().text(), "no Wasm component").await;
    refused_for("an ELF file", [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 500]].concat(), "no Wasm component").await;
    refused_for("a core module", wat::parse_str("(module)").expect("a module"), "core Wasm module").await;
    refused_for("another version", b"\0asm\xff\0\x01\0\0\0\0\0", "damaged").await;
    refused_for("noise", [b"\0asm\x0d\0\x01\0".as_slice(), &[0xa5; 2_000]].concat(), "damaged").await;
}

#[tokio::test]
async fn a_flipped_bit_never_harms_the_host() {
    let whole = Crafted::default().bytes();
    let files = Data::alone();
    let mut setup = Setup::new().limit("wall_time_milliseconds", 2_000);
    for position in (8..whole.len()).step_by(41) {
        let mut flipped = whole.clone();
        flipped[position] ^= 0x04;
        let path = files.write(&format!("{position}.wasm"), &flipped);
        setup = setup.plugin(&format!("flipped-{position}"), &path, "");
    }
    let fixture = setup.open_in(Data::new()).await;
    assert!(!fixture.host.rejected().is_empty());
    // Where it is still a component, it is one that may run, with any answer.
    for tool in fixture.host.tool_names().await.iter().filter(|tool| tool.starts_with("flipped-")) {
        drop(fixture.call(tool, json!({})).await);
        fixture.works().await;
    }
}

#[tokio::test]
async fn a_component_of_another_world_is_refused() {
    let component = |text: &str| wat::parse_str(text).expect("a component");
    let told = refused("an empty component", component("(component)")).await;
    assert!(told.contains("does not export wharf:plugin/tools") && told.contains("it exports nothing"), "{told}");
    let later = Crafted::default().text().replace("wharf:plugin/tools@0.1.0", "wharf:plugin/tools@0.2.0");
    refused_for("a later world", component(&later), "does not export wharf:plugin/tools").await;
    // What exports no tools is refused before anybody looks at its imports.
    let importing = |import: &str| {
        component(&format!(
            r#"(component {import} (component $c) (instance $i (instantiate $c))
                (export "wharf:plugin/tools@0.1.0" (instance $i)))"#
        ))
    };
    let shell = r#"(import "wharf:plugin/shell@0.1.0" (instance (export "run" (func))))"#;
    refused_for("an import that is not offered", importing(shell), "wharf:plugin/shell").await;
    let function = r#"(import "wharf:plugin/caller@0.1.0" (instance (export "tenant" (func (result string)))))"#;
    refused_for("a function that is not offered", importing(function), "tenant").await;
    let kind = r#"(import "wharf:plugin/caller@0.1.0" (instance (export "session" (func (result u64)))))"#;
    refused_for("a function of another type", importing(kind), "session").await;
    refused_for("an empty `tools`", importing(""), "does not export wharf:plugin/tools").await;
}

#[tokio::test]
async fn a_list_of_tools_that_is_garbage_is_refused() {
    let listing = |instructions: &str| Crafted { list: Some(instructions.into()), ..Crafted::default() };
    // Past the end of memory, misaligned, and a list that claims to be huge.
    for at in ["-1", "3", "0x7ffffff0"] {
        refused(&format!("a list at {at}"), listing(&format!("i32.const {at}")).bytes()).await;
    }
    let huge = listing(
        "(i32.store (i32.const 900) (i32.const 1024)) (i32.store (i32.const 904) (i32.const 0x7fffffff)) i32.const 900",
    );
    refused("a list of 2,147,483,647 tools", huge.bytes()).await;
    let zeros = listing(
        "(i32.store (i32.const 900) (i32.const 524288)) (i32.store (i32.const 904) (i32.const 10000)) i32.const 900",
    );
    refused("a list of 10,000 empty tools", zeros.bytes()).await;
    refused_for("a trap", listing("unreachable").bytes(), "could not list its tools").await;
    refused_for(
        "no tool at all is fine, an endless recursion is not",
        Crafted {
            module: "(func $deep (result i32) (i32.add (call $deep) (i32.const 1)))".into(),
            ..listing("call $deep")
        }
        .bytes(),
        "stack",
    )
    .await;
}

#[tokio::test]
async fn a_list_of_tools_that_never_comes_ends() {
    // So much computing is allowed, and on a busy machine the time for it ends first.
    let endless = Crafted { list: Some("(loop $on (br $on)) i32.const 0".into()), ..Crafted::default() };
    let files = Data::alone();
    let path = files.write("endless.wasm", endless.bytes());
    let fixture = Setup::new().plugin("endless", &path, "").open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    assert!(rejected.len() == 1 && rejected[0].reason.contains("_time_milliseconds"), "{rejected:?}");
    fixture.works().await;
}

#[tokio::test]
async fn texts_that_are_no_utf8_are_refused() {
    let spoilt: [fn(&mut CraftedTool); 5] = [
        |tool| tool.name = vec![0xff, 0xfe],
        |tool| tool.description = vec![0xc0, 0x80],
        |tool| tool.input_schema = vec![b'{', 0xf5, b'}'],
        |tool| tool.output_schema = Some(vec![0xed, 0xa0, 0x80]),
        |tool| tool.meta = Some(vec![0x80]),
    ];
    for spoil in spoilt {
        let mut tool = CraftedTool::new("run");
        spoil(&mut tool);
        refused("a text that is no UTF-8", Crafted::of([tool]).bytes()).await;
    }
}

#[tokio::test]
async fn names_of_tools_are_checked() {
    let named = |names: &[&str]| Crafted::of(names.iter().map(|name| CraftedTool::new(name))).bytes();
    refused_for("two tools of one name", named(&["a", "b", "a"]), "two tools have this name").await;
    let long = "x".repeat(65);
    for illegal in
        ["", "a b", "a/b", "ä", "a.b", "a__b", "__a", "a\0", "\u{1b}[2J", "a\nb", &long, &"x".repeat(100_000)]
    {
        refused_for(illegal, named(&["fine", illegal]), "its name must be").await;
    }
    let files = Data::alone();
    let path = files.write("named.wasm", named(&["a", "A", "a-b", "a_b", "_a", "0", &"x".repeat(64)]));
    let fixture = Setup::new().plugin("named", &path, "").open().await;
    fixture.call("named___a", json!({})).await.expect("a legal name");
    fixture.call(&format!("named__{}", "x".repeat(64)), json!({})).await.expect("a legal name");
}

#[tokio::test]
async fn tools_descriptions_and_metas_have_their_bounds() {
    let many = |count: usize| Crafted::of((0..count).map(|index| CraftedTool::new(&format!("t{index}"))));
    refused_for("257 tools", many(257).bytes(), "256").await;
    let described =
        |bytes: usize| Crafted::of([CraftedTool { description: vec![b'd'; bytes], ..CraftedTool::new("t") }]);
    for length in [0, 8_193, 200_000] {
        refused_for("a description", described(length).bytes(), "description").await;
    }
    let meta = |meta: &str| Crafted::of([CraftedTool::new("t").meta(meta)]).bytes();
    for bad in ["", "1", "[]", "{", "null", &format!("{{\"a\":\"{}\"}}", "x".repeat(65_536)), &"[".repeat(60_000)] {
        refused_for("a meta", meta(bad), "meta").await;
    }
    for bad in ["0", "-5", "1.5", "\"soon\"", "1e999", "null", "18446744073709551616"] {
        refused_for(bad, meta(&format!("{{\"timeoutMilliseconds\":{bad}}}")), "t").await;
    }
    // Each meta is within its bounds, and ten take what an answer may.
    let multiplying = format!("{{\"a\":[{}]}}", [r#"{"":0}"#].repeat(9_000).join(","));
    let bomb = (0..10).map(|index| CraftedTool::new(&format!("t{index}")).meta(&multiplying));
    refused_for("metas that multiply", Crafted::of(bomb).bytes(), "bytes of memory").await;
    let files = Data::alone();
    let all = files.write("many.wasm", many(256).bytes());
    let long = files.write("described.wasm", described(8_192).bytes());
    let none = files.write("none.wasm", many(0).bytes());
    let setup = Setup::new().plugin("many", &all, "").plugin("described", &long, "").plugin("none", &none, "");
    let fixture = setup.open().await;
    fixture.call("many__t255", json!({})).await.expect("the last of 256");
}

#[tokio::test]
async fn schemas_that_the_host_would_have_to_trust_are_refused() {
    let with = |schema: &str| Crafted::of([CraftedTool::new("t").schema(schema)]).bytes();
    for (schema, word) in [
        ("", "no JSON object"),
        ("[]", "no JSON object"),
        ("true", "no JSON object"),
        ("{}", "`type`"),
        (r#"{"type":"array"}"#, "`type`"),
        (r#"{"type":"object","properties":{"a":{"type":"nonsense"}}}"#, "no valid JSON Schema"),
        (r#"{"type":"object","required":"a"}"#, "JSON Schema"),
        (r#"{"type":"object","properties":[]}"#, "`properties`"),
        (r#"{"type":"object","properties":{"__sessionId":{"type":"string"}}}"#, "__sessionId"),
        (r#"{"type":"object","properties":{"a":{"type":"array","items":{"properties":{"__x":{}}}}}}"#, "__x"),
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"__x":{}}}}}"##,
            "__x",
        ),
        (r#"{"type":"object","patternProperties":{"^a":{"properties":{"__x":{}}}}}"#, "__x"),
        (r#"{"type":"object","required":["__x"]}"#, "__x"),
        (r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/schema"}}}"#, "example.com"),
        (r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#, "/etc/passwd"),
        (r#"{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}"#, "2020-12"),
        (r#"{"type":"object","properties":{"a":{"pattern":"(a)\\1"}}}"#, "JSON Schema"),
    ] {
        refused_for(schema, with(schema), word).await;
    }
    let output = CraftedTool { output_schema: Some(b"{}".to_vec()), ..CraftedTool::new("t") };
    refused_for("an output schema", Crafted::of([output]).bytes(), "output schema").await;
}

#[tokio::test]
async fn schema_bombs_are_refused() {
    let with = |schema: String| Crafted::of([CraftedTool::new("t").schema(&schema)]).bytes();
    let (open, close) = (r#"{"not":"#.repeat(100), "}".repeat(100));
    let deep = format!(r#"{{"type":"object","not":{open}true{close}}}"#);
    refused_for("a deep schema", with(deep), "nests").await;
    let deeper = format!(r#"{{"type":"object","enum":[{}{}]}}"#, "[".repeat(30_000), "]".repeat(30_000));
    refused("a schema of nested data", with(deeper)).await;
    let doubling: Vec<_> = (0..40)
        .map(|level| {
            format!(r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, level + 1)
        })
        .collect();
    let doubling =
        format!(r##"{{"type":"object","$ref":"#/$defs/d0","$defs":{{{},"d40":{{}}}}}}"##, doubling.join(","));
    refused_for("a schema that doubles 40 times", with(doubling), "multiplies").await;
    let myself = r##"{"properties":{"a":{"$ref":"#"}}}"##;
    let branching = format!(r#"{{"type":"object","anyOf":[{}]}}"#, [myself; 50].join(","));
    refused_for("a schema that branches into itself", with(branching), "itself").await;
    let wide = format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{}]}}}}}}"#, ["\"x\""; 17_000].join(","));
    refused_for("a schema of 68,000 bytes", with(wide), "bytes").await;
    let repeated = r#"{"type":"object","properties":{"a":{"pattern":"^((a{1,1000}){1,1000}){1,1000}$"}}}"#;
    refused("a pattern that multiplies", with(repeated.into())).await;
}

#[tokio::test]
async fn a_component_of_more_memories_tables_or_instances_than_any_host_allows_is_refused() {
    for (what, crafted) in [
        ("memories", Crafted { module: "(memory 1)".repeat(16), ..Crafted::default() }),
        ("tables", Crafted { module: "(table 1 funcref)".repeat(33), ..Crafted::default() }),
        (
            "instances",
            Crafted {
                component: format!("(core module $empty) {}", "(core instance (instantiate $empty))".repeat(64)),
                ..Crafted::default()
            },
        ),
        ("elements", Crafted { module: "(table 1000001 funcref)".into(), ..Crafted::default() }),
        ("memory", Crafted { pages: 65_000, ..Crafted::default() }),
    ] {
        let reason = refused(what, crafted.bytes()).await;
        assert!(!reason.contains("damaged"), "{what}: it is a component, of too much: {reason}");
    }
}

#[tokio::test]
async fn several_memories_share_one_limit() {
    let memories = 10;
    let crafted = Crafted {
        module: format!("(memory $second 1) {}", "(memory 1)".repeat(memories - 2)),
        // 600 pages twice: each less than the 1,024 of the limit, both more.
        ..Crafted::calling(
            "(i32.and (i32.ne (memory.grow (i32.const 600)) (i32.const -1))
                      (i32.eq (memory.grow $second (i32.const 600)) (i32.const -1)))",
        )
    };
    let files = Data::alone();
    let path = files.write("memories.wasm", crafted.bytes());
    let fixture = Setup::new().plugin("memories", &path, "").open().await;
    let answer = fixture.call("memories__run", json!({})).await.expect("answers");
    assert_eq!(answer.content[0].as_text(), Some("yes"), "the second memory grew beyond the limit of all");
}

/// As many calls as the host runs, of two tenants, of the component that needs the most of
/// every pool: they last until all of them run, and a third tenant is served beside them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_of_components_of_many_memories_tables_and_instances_keep_nobody_else_out() {
    let empty = "(core module $empty) ".to_owned();
    let greedy = Crafted {
        module: format!("{} {}", "(memory 1)".repeat(15), "(table 1 funcref)".repeat(32)),
        component: empty + &"(core instance (instantiate $empty))".repeat(60),
        // Runs for two seconds, and says that it did.
        ..Crafted::calling("(loop $on (br_if $on (i64.gt_u (call $remaining) (i64.const 28000)))) (i32.const 1)")
    };
    let files = Data::alone();
    let path = files.write("greedy.wasm", greedy.bytes());
    let setup = Setup::new().plugin("greedy", &path, "").limit("host_calls", 100_000_000);
    let fixture = setup.host_limit("calls_in_flight_per_session", 48).open().await;
    let callers = ["first"; 48].into_iter().chain(["second"; 15]);
    let running: Vec<_> =
        callers.map(|tenant| fixture.start(&context(tenant, "s"), "greedy__run", json!({}))).collect();
    let answer = fixture.call_in(&context("third", "s"), "echo__echo", json!({"text": "served"})).await;
    assert_eq!(answer.expect("another tenant has a place").content[0].as_text(), Some("served"));
    for call in running {
        let answer = call.outcome().await.expect("whoever was admitted has what it needs");
        assert_eq!(answer.content[0].as_text(), Some("yes"));
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let files = Data::alone();
    for path in [files.path().join("missing.wasm"), files.path().to_owned()] {
        let fixture = Setup::new().plugin("bad", &path, "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        let name = path.to_str().expect("a path");
        assert!(rejected.len() == 1 && rejected[0].reason.contains(name), "{rejected:?}");
        let inspected = wharf(["inspect", name]).run();
        assert!(inspected.code.is_some_and(|code| code != 0) && inspected.err.contains(name), "{inspected:?}");
        fixture.works().await;
    }
}
