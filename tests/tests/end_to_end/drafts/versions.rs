//! `wasi:config`, and which versions of the drafts are linked.

use serde_json::{Value, json};
use wharf_tests::{Crafted, Data, Setup, bytes, component, found};

#[tokio::test]
async fn settings_are_texts_and_what_is_none_is_its_json() {
    let settings = "[plugin.drafts.settings]\nurl = \"https://example.com/ä\"\nport = 80\nlist = [1, \"x\"]\n\
                    [plugin.drafts.settings.in]\nside = true";
    let fixture = Setup::new().plugin("drafts", &component("guest-drafts"), settings).open().await;
    let setting = async |name: &str| found(fixture.call("drafts__setting", json!({ "name": name })).await);
    for (name, text) in [
        ("url", json!("https://example.com/ä")),
        ("port", json!("80")),
        ("list", json!("[1,\"x\"]")),
        ("in", json!("{\"side\":true}")),
        ("side", Value::Null),
        ("", Value::Null),
    ] {
        assert_eq!(setting(name).await, text, "{name}");
    }
    let mut all = found(fixture.call("drafts__setting", json!({})).await);
    all.as_array_mut().expect("a list").sort_by_key(Value::to_string);
    let expected =
        json!([["in", "{\"side\":true}"], ["list", "[1,\"x\"]"], ["port", "80"], ["url", "https://example.com/ä"]]);
    assert_eq!(all, expected);
}

/// The guest, with all that begins with one version saying another of the same length.
fn with_version(from: &str, to: &str) -> Vec<u8> {
    let (from, to, mut bytes) = (from.as_bytes(), to.as_bytes(), bytes("guest-drafts"));
    assert_eq!(from.len(), to.len());
    let places: Vec<_> = bytes.windows(from.len()).enumerate().filter(|(_, window)| *window == from).collect();
    let places: Vec<_> = places.into_iter().map(|(place, _)| place).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + to.len()].copy_from_slice(to);
    }
    bytes
}

#[tokio::test]
async fn another_version_of_a_draft_is_refused_with_those_that_are_offered() {
    for (from, to, import, offered) in [
        (
            "@0.2.0-draft2",
            "@0.2.0-draft7",
            "`wasi:keyvalue/store@0.2.0-draft7`",
            "wasi:keyvalue/store@0.2.0-draft, wasi:keyvalue/store@0.2.0-draft2",
        ),
        (
            "wasi:config/store@0.2.0-rc.1",
            "wasi:config/store@0.2.0-rc.9",
            "`wasi:config/store@0.2.0-rc.9`",
            "wasi:config/store@0.2.0-draft, wasi:config/store@0.2.0-draft-2024-09-27, wasi:config/store@0.2.0-rc.1",
        ),
    ] {
        let files = Data::alone();
        let path = files.write("drafts.wasm", with_version(from, to));
        let fixture = Setup::new().plugin("drafts", &path, "").open_in(Data::new()).await;
        let reason = &fixture.host.rejected()[0].reason;
        assert!(reason.contains(import) && reason.contains(offered), "{reason}");
        fixture.works().await;
    }
}

#[tokio::test]
async fn each_version_of_config_in_use_links_and_one_of_another_shape_does_not() {
    let error =
        r#"(type $e (variant (case "upstream" string) (case "io" string))) (export "error" (type $error (eq $e)))"#;
    let importing = |version: &str, result: &str| {
        let get = format!(r#"(export "get" (func (param "key" string) (result {result})))"#);
        let component = format!("(import \"wasi:config/store@{version}\" (instance {error} {get}))");
        Crafted { component, ..Crafted::default() }.bytes()
    };
    let files = Data::alone();
    for version in ["0.2.0-draft", "0.2.0-draft-2024-09-27", "0.2.0-rc.1"] {
        let path = files.write("drafts.wasm", importing(version, "(result (option string) (error $error))"));
        let fixture = Setup::new().plugin("drafts", &path, "").open().await;
        assert_eq!(fixture.call("drafts__run", json!({})).await.expect("answers").content[0].as_text(), Some("yes"));
    }
    let path = files.write("drafts.wasm", importing("0.2.0-rc.1", "(option string)"));
    let fixture = Setup::new().plugin("drafts", &path, "").open_in(Data::new()).await;
    let reason = &fixture.host.rejected()[0].reason;
    assert!(reason.contains("wasi:config/store@0.2.0-rc.1") && reason.contains("get"), "{reason}");
}
