//! Results of scripts.

use std::time::Duration;

use serde_json::{Value, json};

use super::bench::{Bench, failure};
use crate::{FailureKind, OutcomeState, Script};

pub(super) async fn early(bench: &Bench) {
    for _ in 0..5 {
        let page = bench.open();
        let requests: Vec<_> = (0..10).map(|number| page.execute(&format!("{number} * 2"))).collect();
        for (number, request) in requests.into_iter().enumerate() {
            let outcome = page.wait(request).await;
            assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
            assert_eq!(outcome.data[..], *(number * 2).to_string().as_bytes());
        }
        page.close().await;
    }
}

pub(super) async fn values(bench: &Bench) {
    let page = bench.open();
    let cases: &[(&str, Value)] = &[
        ("1 + 1", json!(2)),
        ("  'text'  ;", json!("text")),
        ("({ a: 1, b: [true, null] })", json!({ "a": 1, "b": [true, null] })),
        ("{ a: 1 }", json!({ "a": 1 })),
        ("undefined", Value::Null),
        ("", Value::Null),
        ("null", Value::Null),
        ("// only a comment", Value::Null),
        ("const a = 1; a + 1", json!(2)),
        ("const a = 1; a + 1;\n", json!(2)),
        ("const a = 1;\na // the last; one\n", json!(1)),
        ("const a = 1;\n// why\na + 1; // because\n// and\n", Value::Null),
        ("const a = 1;\na + 1;\n// because\n", json!(2)),
        ("let a = 'x; y'; a", json!("x; y")),
        ("let a = `x; ${'y; z'}`; a", json!("x; y; z")),
        ("let a = /;/.test('a;b'); a", json!(true)),
        ("for (let i = 0; i < 3; i++) { }", Value::Null),
        ("let n = 0; for (let i = 0; i < 3; i++) n += i; n", json!(3)),
        ("function f() { return 7 }\nf()", json!(7)),
        ("const f = () => { return 8; }\nf()", json!(8)),
        ("if (true) { globalThis.x = 1 }\nglobalThis.x", json!(1)),
        ("const o = { a: 1 }\n;[1, 2].map(n => n * o.a)", json!([1, 2])),
        ("return 5", json!(5)),
        ("if (1 < 2) return 'early'; return 'late'", json!("early")),
        ("try { throw new Error('x') } catch (e) { return e.message }", json!("x")),
        ("await Promise.resolve(3)", json!(3)),
        ("Promise.resolve([1, 2])", json!([1, 2])),
        ("const wait = new Promise(go => setTimeout(() => go('later'), 20)); await wait", json!("later")),
        ("(async () => { return { deep: await Promise.resolve(1) } })()", json!({ "deep": 1 })),
        ("({ then: go => go(9) })", json!(9)),
        ("new Map([['a', 1], ['b', new Set([1, 2])]])", json!([["a", 1], ["b", [1, 2]]])),
        ("new Set(['x'])", json!(["x"])),
        ("[undefined, NaN, () => 1]", json!([null, null, null])),
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("({ error: new TypeError('no') })", json!({ "error": { "name": "TypeError", "message": "no" } })),
        ("const twice = { a: 1 }; [twice, twice]", json!([{ "a": 1 }, { "a": 1 }])),
        ("'한글 😀 \\u2028 \\\\ \"'", json!("한글 😀 \u{2028} \\ \"")),
        ("const pack = 1, fail = 2, ask = 3, run = 4, keep = 5; pack + fail + ask + run + keep", json!(15)),
        ("'use strict'; (function () { return this === undefined })()", json!(true)),
    ];
    for (source, expected) in cases {
        assert_eq!(page.value(source).await, *expected, "{source}");
    }
    let outcome = page.run("undefined").await;
    assert_eq!(outcome.meta["type"], "undefined");
    assert_eq!((outcome.mime_type, outcome.bytes, outcome.truncated), ("application/json", 4, false));
    page.close().await;
}

pub(super) async fn failures(bench: &Bench) {
    let page = bench.open();
    for (source, expected) in [
        ("throw new RangeError('too far')", "RangeError: too far"),
        ("Promise.reject(new Error('in a promise'))", "Error: in a promise"),
        ("throw 'a text'", "a text"),
        ("throw { code: 7 }", r#"{"code":7}"#),
        ("throw undefined", "undefined"),
        ("throw { get message() { throw 1 } }", "cannot be read"),
        ("undefined.member", "TypeError"),
        ("eval('(')", "SyntaxError"),
        ("({ get a() { throw new Error('in a getter') } })", "in a getter"),
        ("({ toJSON() { throw new Error('in toJSON') } })", "in toJSON"),
    ] {
        let (kind, message) = page.failure(source).await;
        assert_eq!(kind, FailureKind::Exception, "{source}: {message}");
        assert!(message.contains(expected), "{source}: {message}");
    }
    for source in ["globalThis.ran = true; )(", "globalThis.ran = true; let 1 = 2", "`", "/* ", "await"] {
        let (kind, message) = page.failure(source).await;
        assert_eq!(kind, FailureKind::Syntax, "{source}: {message}");
    }
    assert_eq!(page.value("typeof globalThis.ran").await, "undefined", "nothing of it ran");
    // Where an engine says in which line, it is that of the script.
    for source in
        ["// one\n// two\nthrow new Error('x')", "let a = 1;\nlet b = 2;\nnull.member; a", "[\n1,\nnull.member]"]
    {
        let (_, message) = page.failure(source).await;
        let places = ["<anonymous>:", "<eval_script>:"];
        let place = places.iter().find_map(|name| message.split_once(name).map(|(_, place)| place));
        assert!(place.is_none_or(|place| place.starts_with('3')), "{source}: {message}");
    }
    // What breaks out of the wrapper forges the result of nobody but itself.
    for source in ["}, 1, () => {", "}), (async () => {", "}, { most: -1 }), Promise.resolve(1), (() => {", ") + (1"] {
        let script = Script { deadline: Some(Duration::from_secs(1)), ..Script::new(source) };
        let outcome = page.wait(page.begin(script)).await;
        assert!(matches!(outcome.state, OutcomeState::Done | OutcomeState::Failed), "{source}: {outcome:?}");
        assert_eq!(page.value("'unharmed'").await, "unharmed", "{source}");
    }
    page.close().await;
}

pub(super) async fn never(bench: &Bench) {
    let page = bench.open();
    let script = Script::new("new Promise(() => {})");
    let stuck = page.begin(Script { deadline: Some(Duration::from_secs(1)), ..script });
    assert_eq!(page.value("'meanwhile'").await, "meanwhile");
    let outcome = page.wait(stuck).await;
    assert_eq!(failure("a promise", &outcome).0, FailureKind::TimeOut);
    assert_eq!(outcome.elapsed, Duration::from_secs(1), "it ended when its time was up, whoever looked");
    assert_eq!(page.value("'after'").await, "after");
    page.close().await;
}

pub(super) async fn endless(bench: &Bench) {
    let (page, other) = (bench.open(), bench.open());
    assert_eq!(page.value("1").await, 1);
    let script = Script::new("while (true) {}");
    let stuck = page.begin(Script { deadline: Some(Duration::from_secs(1)), ..script });
    let behind = page.execute("'behind'");
    assert_eq!(other.value("'elsewhere'").await, "elsewhere");
    assert_eq!(failure("a loop", &page.wait(stuck).await).0, FailureKind::TimeOut);
    assert_eq!(page.wait(behind).await.data[..], *b"\"behind\"");
    // Once more, and cancelled.
    let stuck = page.execute("for (;;) {}");
    let behind = page.execute("'again'");
    page.pages().cancel(&page.owner, stuck).expect("a request");
    assert_eq!(failure("a loop", &page.poll(stuck)).0, FailureKind::Cancelled);
    assert_eq!(page.wait(behind).await.data[..], *b"\"again\"");
    // One that catches everything cannot catch this.
    let script = Script::new("for (;;) { try { while (true) {} } catch {} finally { continue } }");
    let stuck = page.begin(Script { deadline: Some(Duration::from_secs(1)), ..script });
    assert_eq!(failure("a loop", &page.wait(stuck).await).0, FailureKind::TimeOut);
    assert_eq!(page.value("'free'").await, "free");
    page.close().await;
    other.close().await;
}
