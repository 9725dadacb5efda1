use crate::{Failure, FailureKind, Injection, Token};

use super::{ResultStore, bodies, envelope::*, posted::PostedResult, sources::WrappedScript};

#[test]
fn a_script_is_tried_as_an_expression_then_split_then_as_a_body() {
    assert_eq!(bodies("1 + 1;\n"), ["return (\n1 + 1\n)", "\n1 + 1;\n"]);
    assert_eq!(bodies("let a = 1; a"), ["return (\nlet a = 1; a\n)", "\nlet a = 1;return ( a\n)", "\nlet a = 1; a"]);
    assert_eq!(
        bodies("function f() { }\nf()"),
        ["return (\nfunction f() { }\nf()\n)", "\nfunction f() { };return (\nf()\n)", "\nfunction f() { }\nf()"]
    );
    // What may go on with what is before the line break is not set apart.
    for tail in ["(1)", "[1]", "`x`", "/x/", "+1", "-1", "*1", ".5", ", 1"] {
        assert_eq!(bodies(&format!("a = {{}}\n{tail}")).len(), 2, "{tail}");
    }
    assert_eq!(bodies(""), ["\n"]);
    // However many semicolons there are, few are tried.
    assert_eq!(bodies(&"a;".repeat(10_000)).len(), 5);
}

fn refused(envelope: &str) -> bool {
    matches!(result(envelope, 100), Err(Failure { kind: FailureKind::Unserialisable, .. }))
}

#[test]
fn an_envelope_is_read_as_it_was_written() {
    let whole = result("{\"type\":\"object\"}\n{\"a\":1}", 100).expect("a result");
    assert_eq!((whole.data.as_str(), whole.bytes, whole.kept), ("{\"a\":1}", 7, None));
    assert_eq!(whole.meta["type"], "object");
    let cut = result("{\"type\":\"string\",\"bytes\":500,\"kept\":42}\n\"abc", 100).expect("a result");
    assert_eq!((cut.data.as_str(), cut.bytes, cut.kept), ("\"abc", 500, Some(42)));
    for forged in ["-1", "1.5", "1e300", "true", "\"7\""] {
        let forged = format!("{{\"type\":\"string\",\"bytes\":500,\"kept\":{forged}}}\n\"abc");
        assert!(result(&forged, 100).is_err(), "{forged}");
    }
    let beyond = format!("{{\"type\":\"string\",\"bytes\":500,\"kept\":{}}}\n\"abc", u64::MAX);
    assert_eq!(result(&beyond, 100).expect("a result").kept, None, "no page has such a number");
    let null = result("{\"type\":\"string\",\"bytes\":500,\"kept\":null}\n\"abc", 100).expect("a result");
    assert_eq!(null.kept, None);
    let failed = "{\"failed\":\"exception\",\"name\":\"E\",\"message\":\"m\",\"stack\":\"E: m\\n at a\\n at b\"}\n";
    let failure = result(failed, 100).expect_err("a failure");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Exception, "E: m\n    at a\n    at b"));
}

#[test]
fn lines_of_a_stack_are_those_of_the_script_and_the_wrapper_is_left_out() {
    let head = serde_json::json!({
        "failed": "exception", "name": "E", "message": "m",
        "stack": "E: m\n at f (<anonymous>:3:7)\n at <anonymous>:12:1\n at <anonymous>:1:99\n at https://a.b/c.js:1:2\n \
                  at <eval_script>:2\n at <anonymous>:x",
    });
    let failure = result(&format!("{head}\n"), 100).expect_err("a failure");
    let expected = "E: m\n    at f (<anonymous>:2:7)\n    at <anonymous>:11:1\n    at https://a.b/c.js:1:2\n    \
                    at <eval_script>:1\n    at <anonymous>:x";
    assert_eq!(failure.message, expected);
}

#[test]
fn what_wraps_a_script_is_one_line_before_it() {
    let result_store = ResultStore::random().expect("randomness");
    for source in result_store.run("first\nlet second = ';'; function f() { }\nthird", 10) {
        assert!(source.lines().nth(1).is_some_and(|line| line.starts_with("first")), "{source}");
    }
}

#[test]
fn what_no_wrapper_wrote_is_refused() {
    for envelope in [
        "",
        "\n",
        "{}",
        "{}\n1",
        "{\"type\":\"number\"}",
        "{\"type\":\"number\"}\nno JSON",
        "{\"type\":\"number\"}\n",
        "{\"type\":\"number\"}\n1 2",
        "{\"type\":\"bigint\"}\n1",
        "{\"type\":\"\\u001b[2J\"}\n1",
        "{\"type\":7}\n1",
        "{\"type\":\"number\",\"more\":1}\n1",
        "{\"type\":\"number\",\"bytes\":1}\n1",
        "{\"type\":\"number\",\"bytes\":-1}\n1",
        "{\"type\":\"number\",\"bytes\":1e99}\n1",
        "{\"type\":\"number\",\"bytes\":18446744073709551615}\n1",
        "{\"failed\":\"denied\",\"message\":\"m\"}\n",
        "{\"start\":0,\"next\":1}\n1",
        "[\"type\"]\n1",
        "null\n1",
    ] {
        assert!(refused(envelope), "{envelope:?}");
    }
    let long = format!("{{\"type\":\"string\"}}\n\"{}\"", "x".repeat(99));
    assert!(refused(&long), "longer than was asked for");
    let head = format!("{{\"type\":\"string\",\"message\":\"{}\"}}\n1", "x".repeat(70_000));
    assert!(refused(&head), "a head without an end");
    let deep = format!("{{\"type\":\"object\"}}\n{}", "[".repeat(99));
    assert!(refused(&deep), "nothing that only begins is JSON");
}

#[test]
fn a_piece_is_what_was_asked_for() {
    assert_eq!(piece("{\"start\":5,\"next\":8}\nabc", 5, 3), Some(StoredPiece { start: 5, data: "abc".into() }));
    // A character that began before the byte that was asked for.
    assert_eq!(piece("{\"start\":7,\"next\":8}\na", 5, 3).map(|piece| piece.start), Some(7));
    for (envelope, from) in [
        ("{\"start\":9,\"next\":10}\na", 5),
        ("{\"start\":4,\"next\":5}\na", 5),
        ("{\"start\":5,\"next\":9}\na", 5),
        ("{\"start\":5,\"next\":4}\na", 5),
        ("{\"start\":5,\"next\":5}\n", 5),
        ("{\"start\":5,\"next\":10}\nabcde", 5),
        ("{\"gone\":true}\n", 5),
        ("{\"type\":\"string\"}\n1", 0),
    ] {
        assert_eq!(piece(envelope, from, 3), None, "{envelope:?}");
    }
}

#[test]
fn a_page_that_posts_its_result_shows_the_token_and_forges_no_other() {
    let token = Token::random().expect("randomness");
    let injection = Injection { token, sources: vec!["f()".into()], isolated: false, frame: None };
    let source = &injection.posting("window.ipc.postMessage")[0];
    assert!(source.starts_with("(f()\n).then(") && source.contains(&token.to_string()), "{source}");
    let posted = PostedResult::read(&format!("{{\"token\":\"{token}\",\"envelope\":\"e\"}}"));
    assert_eq!(posted, Some(PostedResult { token, envelope: "e".into() }));
    for message in ["", "{}", "{\"token\":\"1\",\"envelope\":\"e\"}", "[]", "{\"token\":1}"] {
        assert_eq!(PostedResult::read(message), None, "{message}");
    }
}

#[test]
fn a_backend_that_runs_nothing_finds_the_script_as_it_was_asked_for() {
    let results = ResultStore::random().expect("randomness");
    for script in ["document.title", "", "a;\nb // c\n", "'\n}, {\"most\": 1})'", "const a = {\n};\na"] {
        let sources = results.run(script, 1_000);
        assert_eq!(WrappedScript::find(&sources), Some(WrappedScript { script, most: 1_000 }), "{script:?}");
    }
    assert_eq!(WrappedScript::find(&results.read(7, 0, 10)), None);
    assert_eq!(WrappedScript::find(&results.drop(7)), None);
    assert_eq!(WrappedScript::find(&[]), None);
}

#[test]
fn an_answer_that_no_page_made_is_read_as_any_other() {
    for (value, type_of) in [
        (serde_json::json!("a\nb"), "string"),
        (serde_json::json!(4.5), "number"),
        (serde_json::json!(true), "boolean"),
        (serde_json::json!({"a": [null]}), "object"),
    ] {
        let read = result(&ScriptAnswer::Value(&value).envelope(), 100).expect("a result");
        assert_eq!((read.data, read.kept), (value.to_string(), None));
        assert_eq!(read.meta["type"], type_of);
    }
    assert_eq!(result(&ScriptAnswer::Undefined.envelope(), 100).expect("a result").data, "null");
    let thrown = ScriptAnswer::Throws("no\nway").envelope();
    let failure = result(&thrown, 100).expect_err("an exception");
    assert_eq!(failure, Failure::new(FailureKind::Exception, "Error: no\nway"));
    let long = ScriptAnswer::Throws(&"x".repeat(1 << 20)).envelope();
    assert_eq!(result(&long, 100).map_err(|failure| failure.kind), Err(FailureKind::Exception));
}
