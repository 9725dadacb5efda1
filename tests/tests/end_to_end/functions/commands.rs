//! The commands of an operator who adds such a component.

use std::fs;

use serde_json::json;
use wharf_tests::{Setup, bytes, with_section};

use crate::plugins::commands::Place;

/// A place with the component in a file.
fn place() -> Place {
    let place = Place::new(&Setup::bare());
    place.files.write("foreign.wasm", bytes("guest-foreign"));
    place
}

#[test]
fn a_component_of_functions_is_added_when_the_operator_says_so() {
    let place = place();
    let file = place.file("foreign.wasm");
    place.refused(&["plugin", "add", &file], "`--functions`");
    place.refused(&["plugin", "add", &place.file("greeter.wasm"), "--functions"], "lists its tools itself");

    let mut client = place.serve();
    let added = place.ran(&["plugin", "add", &file, "--functions"]);
    assert!(added.contains("Added foreign."), "{added}");
    let answer = client.call("foreign__greet", json!({"name": "Ada"}), json!({}));
    assert_eq!(answer["content"][0]["text"], "Hello, Ada.");
    let info = place.json(&["plugin", "info", "foreign"]);
    assert_eq!(info["receipt"]["functions"], true, "{info}");

    // Another version of it is one of functions as well, for the host that serves and for the next one.
    fs::write(&file, with_section(bytes("guest-foreign"), "version", b"2")).expect("written");
    assert!(place.ran(&["plugin", "update", "foreign"]).contains("Replaced foreign."));
    let divided = client.call("foreign__shapes_divide", json!({"dividend": 9, "divisor": 3}), json!({}));
    assert_eq!(divided["structuredContent"], json!({"result": 3}));
    assert_eq!(client.leave().2, Some(0));
    let mut next = place.serve();
    assert_eq!(next.call("foreign__greet", json!({"name": "Bob"}), json!({}))["content"][0]["text"], "Hello, Bob.");
    assert!(place.ran(&["plugin", "remove", "foreign"]).contains("foreign"));
    assert_eq!(next.leave().2, Some(0));
}

#[test]
fn its_look_says_what_is_no_tool_and_what_to_write() {
    let place = place();
    let section = br#"1{"interfaces": {"shapes": {"funcs": {"divide": {"docs": "Divides one number by another."}}}}}"#;
    let section = [&[1][..], &section[1..]].concat();
    let file = place.files.write("foreign.wasm", with_section(bytes("guest-foreign"), "package-docs", &section));
    let file = file.display().to_string();
    place.refused(&["inspect", &file], "functions = true");
    let shown = place.ran(&["inspect", &file, "--functions"]);
    assert!(shown.contains("Divides one number by another."), "{shown}");
    assert!(shown.contains("which has no form in JSON") && shown.contains("functions = true"), "{shown}");
    assert!(shown.contains("asks for: http"), "{shown}");
}

#[test]
fn it_is_granted_from_its_file_when_the_operator_says_so() {
    let place = place();
    let file = place.file("foreign.wasm");
    let allow = ["--allow", "http=https://example.com/*", "--reason", "looks things up"];
    place.refused(&[&["grant", &file][..], &allow].concat(), "`--functions`");
    place.refused(&["grant", "foreign", "--functions", "--confirm"], "--functions is for the file of a component");
    fs::create_dir(place.file("foreign")).expect("a folder");
    // A folder of its name is no component.
    place.refused(&["grant", &place.file("foreign")], "there is no file of that name");
    let granted = place.ran(&[&["grant", &file, "--functions"][..], &allow].concat());
    assert!(granted.contains("+functions = true"), "{granted}");
    // The next host serves it, and its name is enough from now on.
    let mut client = place.serve();
    let answer = client.call("foreign__greet", json!({"name": "Ada"}), json!({}));
    assert_eq!(answer["content"][0]["text"], "Hello, Ada.");
    assert_eq!(client.leave().2, Some(0));
    assert!(place.ran(&["grant", "foreign", "--confirm"]).contains("Nothing changes."));
}
