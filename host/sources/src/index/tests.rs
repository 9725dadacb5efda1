use serde_json::json;

use super::*;

const DIGEST: &str = "blake3:0000000000000000000000000000000000000000000000000000000000000000";

fn file() -> PluginSource {
    PluginSource::File("/srv/plugins/index.json".into())
}

fn version(version: &str, source: &str) -> Value {
    json!({"version": version, "source": source, "digest": DIGEST})
}

fn plugin(name: &str, versions: &[Value]) -> Value {
    json!({"name": name, "description": "Greets people.", "versions": versions})
}

fn read(plugins: &[Value], from: &PluginSource) -> PluginIndex {
    let index = json!({"wharf_index": 1, "plugins": plugins}).to_string();
    PluginIndex::read(index.as_bytes(), from).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn sources_begin_where_the_index_lies_and_no_fetched_index_names_a_file() {
    let resolved = |written: &str, from: &PluginSource| {
        let index = read(&[plugin("greeter", &[version("1.0.0", written)])], from);
        index.plugins.first().map(|plugin| plugin.versions[0].source.to_string())
    };
    let address: PluginSource = "https://example.com/team/index.json".parse().expect("an address");
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(resolved("a/g.wasm", &file()), some("/srv/plugins/a/g.wasm"));
    assert_eq!(resolved("a/g.wasm", &address), some("https://example.com/team/a/g.wasm"));
    assert_eq!(resolved("/etc/passwd", &address), some("https://example.com/etc/passwd"));
    assert_eq!(resolved("//other.example/g.wasm", &address), some("https://other.example/g.wasm"));
    for from in [&file(), &address] {
        assert_eq!(resolved("https://example.com/g.wasm", from), some("https://example.com/g.wasm"));
        for refused in
            ["", "http://example.com/g.wasm", "file:///g.wasm", "https://me:pw@example.com/g", "a\nb", "a\u{202e}b"]
        {
            assert_eq!(resolved(refused, from), None, "{refused:?}");
        }
    }
    for refused in ["data:x", "//me@other.example/g.wasm"] {
        assert_eq!(resolved(refused, &address), None, "{refused:?}");
    }
    assert_eq!(resolved(&"x".repeat(SOURCE_BYTES + 1), &file()), None);
}

#[cfg(feature = "oci")]
#[test]
fn an_index_in_a_registry_names_addresses_and_references() {
    let from: PluginSource = "oci://registry.example/team/index:1".parse().expect("a reference");
    let reference = "oci://registry.example/team/greeter:1.0.0";
    assert_eq!(read(&[plugin("greeter", &[version("1.0.0", reference)])], &from).left_out, 0);
    let index = read(&[plugin("greeter", &[version("1.0.0", "g.wasm")])], &from);
    assert!(index.plugins.is_empty() && index.problems[0].contains("name an address"), "{index:?}");
}

#[test]
fn the_newest_version_is_no_preview_where_there_is_another() {
    let newest = |versions: &[&str]| {
        let versions: Vec<_> = versions.iter().map(|written| version(written, "g.wasm")).collect();
        read(&[plugin("g", &versions)], &file()).plugins[0].newest().expect("one").version.to_string()
    };
    assert_eq!(newest(&["1.2.0", "1.10.0", "1.9.0", "2.0.0-beta.1"]), "1.10.0");
    assert_eq!(newest(&["2.0.0-beta.1", "2.0.0-beta.2"]), "2.0.0-beta.2");
}

#[test]
fn words_are_looked_for_in_names_and_descriptions() {
    let index = read(&[plugin("greeter", &[version("1.0.0", "g.wasm")])], &file());
    let fit = |words: &[&str]| index.plugins[0].fit(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!(
        (fit(&[]), fit(&["GREET"]), fit(&["People"]), fit(&["greet", "people"])),
        (Some(0), Some(1), Some(0), Some(1))
    );
    assert_eq!((fit(&["greet", "weather"]), fit(&["weather"])), (None, None));
}

#[test]
fn an_entry_that_is_wrong_is_left_out_and_told() {
    let good = plugin("good", &[version("1.0.0", "g.wasm")]);
    let wrong = [
        json!(5),
        json!({"name": "x"}),
        plugin("No Name", &[version("1.0.0", "g.wasm")]),
        plugin("none", &[]),
        plugin("twice", &[version("1.0.0", "a.wasm"), version("1.0.0", "b.wasm")]),
        plugin("words", &[version("first", "g.wasm")]),
        plugin("sum", &[json!({"version": "1.0.0", "source": "g.wasm", "digest": "sha256:00"})]),
        plugin("unpinned", &[json!({"version": "1.0.0", "source": "g.wasm"})]),
        plugin("many", &vec![version("1.0.0", "g.wasm"); MOST_VERSIONS + 1]),
        good.clone(),
    ];
    let index = read(&[std::slice::from_ref(&good), wrong.as_slice()].concat(), &file());
    assert_eq!((index.plugins.len(), index.left_out, index.problems.len()), (1, wrong.len(), wrong.len()), "{index:?}");
    assert!(index.problems[0].starts_with("plugins[1]: ") && index.problems[9].contains("has this name"), "{index:?}");
    let index = read(&vec![json!(5); 100], &file());
    assert_eq!((index.left_out, index.problems.len()), (100, MOST_PROBLEMS));
}

#[test]
fn hostile_texts_become_lines_that_a_terminal_does_not_obey() {
    let mut entry = plugin("g", &[version("1.0.0", "g.wasm")]);
    entry["description"] = json!(format!("a\u{1b}[2J\nb\u{202e}c{}", "x".repeat(5_000)));
    (entry["licenses"], entry["homepage"]) = (json!("MIT\r\n$ rm"), json!(" \u{200b}"));
    entry["languages"] = json!(["rust\u{7}", ""]);
    let IndexedPlugin { description, licenses, homepage, languages, .. } = read(&[entry], &file()).plugins.remove(0);
    assert!(description.starts_with("a[2Jbcxxx") && description.len() <= DESCRIPTION_BYTES, "{description}");
    assert_eq!((licenses.as_deref(), homepage, languages), (Some("MIT$ rm"), None, vec!["rust".to_owned()]));
}

#[test]
fn what_is_no_index_or_too_much_is_refused() {
    let refused = |bytes: &[u8]| PluginIndex::read(bytes, &file()).expect_err("refused");
    for text in [
        "",
        "[]",
        "{}",
        "{\"plugins\": []}",
        "{\"wharf_index\": \"1\", \"plugins\": []}",
        "{\"wharf_index\": 1}",
        "\0asm",
    ] {
        let error = refused(text.as_bytes());
        assert!(matches!(error, IndexError::Text { .. }), "{text}: {error}");
    }
    assert!(matches!(refused(br#"{"wharf_index": 2, "plugins": []}"#), IndexError::Format { found: 2, .. }));
    let many = json!({"wharf_index": 1, "plugins": vec![5; MOST_PLUGINS + 1]}).to_string();
    assert!(matches!(refused(many.as_bytes()), IndexError::Plugins { .. }));
    let deep = format!("{{\"wharf_index\": 1, \"plugins\": [{}{}]}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(refused(deep.as_bytes()), IndexError::Text { .. }));
    let heavy = format!("{{\"wharf_index\": 1, \"plugins\": [{}0]}}", "[],".repeat(1_300_000));
    assert!(refused(heavy.as_bytes()).to_string().contains("memory"));
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("index.json");
    std::fs::write(&path, " ".repeat(5 << 20)).expect("written");
    let error = PluginSource::File(path).fetch_index(&RegistryLogins::none(), &mut |_| {}).expect_err("too long");
    assert!(matches!(error, IndexError::Fetch(FetchError::LongList { .. })), "{error}");
}
