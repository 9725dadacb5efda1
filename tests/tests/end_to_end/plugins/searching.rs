//! `wharf plugin search`: indexes in files and at addresses, and the line that adds what they list.

use std::fs;

use serde_json::{Value, json};
use wharf::Digest;
use wharf_tests::{Setup, Upstream};

use super::{commands::Place, saying};

/// An index of the component `greeter.wasm` beside it, and of something else.
pub(super) fn index(source: &str) -> Value {
    json!({"wharf_index": 1, "plugins": [
        {
            "name": "greeter",
            "description": "Greets \u{1b}[2J\u{202e}people.",
            "licenses": "MIT",
            "homepage": "https://example.com/greeter",
            "languages": ["rust"],
            "versions": [
                {"version": "0.9.0", "source": "old.wasm", "digest": Digest::of(b"old")},
                {"version": "1.2.0", "source": source, "digest": Digest::of(&saying(true))},
            ],
        },
        {
            "name": "weather",
            "description": "Forecasts, and nothing for people.",
            "versions": [{"version": "0.1.0", "source": "https://example.com/w.wasm", "digest": Digest::of(b"w")}],
        },
        {"name": "broken"},
    ]})
}

/// The words of the first line that adds something.
pub(super) fn adding(printed: &str) -> Vec<String> {
    let line = printed.lines().map(str::trim).find(|line| line.starts_with("wharf plugin add")).expect("a line");
    line.split(' ').skip(1).map(str::to_owned).collect()
}

#[test]
fn what_an_index_lists_is_found_by_words_and_added_by_the_line_that_is_printed() {
    let place = Place::new(&Setup::bare());
    place.files.write("index.json", index("greeter.wasm").to_string());
    let index = place.file("index.json");
    let run = place.run(&["plugin", "search", "GREET", "--index", &index]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("1 of its entries are left out; plugins[2]"), "{run:?}");
    for told in ["greeter 1.2.0\n", "Greets [2Jpeople.", "rust · MIT · https://example.com/greeter", "also      0.9.0"]
    {
        assert!(run.out.contains(told), "{told}: {run:?}");
    }
    assert!(!run.out.contains("weather") && !run.out.contains(['\u{1b}', '\u{202e}']), "{run:?}");
    let words = adding(&run.out);
    assert!(words.contains(&"--digest".to_owned()), "{words:?}");
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    place.ran(&words);
    assert_eq!(place.json(&["plugin", "info", "greeter"])["receipt"]["pinned"], json!(true));

    let found = place.json(&["plugin", "search", "people", "--index", &index]);
    let names: Vec<_> = found["plugins"].as_array().expect("a list").iter().map(|plugin| &plugin["name"]).collect();
    assert_eq!(names, ["greeter", "weather"], "{found}");
    assert_eq!(found["indexes"][0]["left_out"], json!(1), "{found}");
    let versions = &found["plugins"][0]["versions"];
    assert_eq!((&versions[0]["version"], &versions[1]["version"]), (&json!("1.2.0"), &json!("0.9.0")), "{found}");
    let old = versions[1]["add"].as_str().expect("a command");
    assert!(old.contains("old.wasm --name greeter --digest blake3:"), "{old}");
    let none = place.ran(&["plugin", "search", "tractor", "--index", &index]);
    assert!(none.contains("No plugin has `tractor`"), "{none}");
}

#[test]
fn indexes_of_the_configuration_are_searched_and_one_that_fails_hides_no_other() {
    let place = Place::new(&Setup::bare());
    let run = place.run(&["plugin", "search"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("--index") && run.err.contains("`indexes = [\"…\"]` under [plugins]"), "{run:?}");
    place.files.write("index.json", index("greeter.wasm").to_string());
    let file = place.files.path().join("wharf.toml");
    let text = fs::read_to_string(&file).expect("readable");
    fs::write(&file, format!("{text}\n[plugins]\nindexes = [\"index.json\", \"missing.json\"]\n")).expect("written");
    let run = place.run(&["plugin", "search", "weather"]);
    assert!(run.code == Some(1) && run.out.contains("weather 0.1.0") && run.err.contains("missing.json"), "{run:?}");
    let run = place.run(&["plugin", "search", "--index", &place.file("missing.json")]);
    assert!(run.code == Some(3) && run.out.is_empty(), "{run:?}");
    place.files.write("other.json", "{\"wharf_index\": 2, \"plugins\": []}");
    let run = place.run(&["plugin", "search", "--index", &place.file("other.json")]);
    assert!(run.code == Some(3) && run.err.contains("the format 2"), "{run:?}");
}

#[test]
fn an_index_at_an_address_names_what_lies_beside_it() {
    let place = Place::new(&Setup::bare());
    let server = Upstream::start(|head, connection| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let body = match path {
            "/team/index.json" => index("files/greeter.wasm").to_string().into_bytes(),
            "/team/files/greeter.wasm" => saying(true),
            _ => b"not there".to_vec(),
        };
        Upstream::send(connection, "", &body);
    });
    let address = format!("http://{}/team", server.authority());
    let printed = place.ran(&["plugin", "search", "greeter", "--index", &format!("{address}/index.json")]);
    let words = adding(&printed);
    assert!(words.contains(&format!("{address}/files/greeter.wasm")), "{words:?}");
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert!(place.ran(&words).contains("Added greeter."));
}

#[test]
fn the_index_of_the_book_is_one() {
    let page = include_str!("../../../../docs/src/operating/plugins.md");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let place = Place::new(&Setup::bare());
    place.files.write("plugins.json", example);
    let found = place.json(&["plugin", "search", "forecasts", "--index", &place.file("plugins.json")]);
    assert_eq!(found["indexes"][0]["left_out"], json!(0), "{found}");
    assert_eq!(found["plugins"][0]["versions"].as_array().map(Vec::len), Some(2), "{found}");
}
