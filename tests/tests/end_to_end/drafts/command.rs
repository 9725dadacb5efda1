//! What the operator sees of the drafts: denials, state, inspection.

use serde_json::{Value, json};
use wharf_tests::{Crafted, Data, Finished, Setup, component, wharf};

use super::{DRAFT2, DRAFTS, ok};

/// A configuration and a data directory for the command.
struct Place {
    data: Data,
}

impl Place {
    fn new(grant: &str) -> Self {
        let place = Self { data: Data::new() };
        let setup = Setup::bare().plugin("drafts", &component("guest-drafts"), grant);
        place.data.write("wharf.toml", setup.text());
        place
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        wharf(arguments).config(&self.data.path().join("wharf.toml")).data(self.data.path()).run()
    }

    #[track_caller]
    fn ran(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }
}

#[test]
fn without_the_grant_access_is_denied_and_the_operator_is_told_the_line() {
    let place = Place::new("");
    let steps = r#"{"steps": [["open", ""], ["open", "plugin"]]}"#;
    for tool in DRAFTS {
        let run = place.run(&["call", tool, steps]);
        assert_eq!(run.out.matches("access-denied").count(), 2, "{run:?}");
        assert!(run.err.contains("[plugin.drafts.grants.state]"), "{run:?}");
    }
    let denied = place.ran(&["audit", "--kind", "denied"]);
    assert!(denied.contains("drafts__by_draft state.keyvalue.open plugin"), "{denied}");
}

#[test]
fn state_of_a_draft_is_listed_exported_and_brought_back_byte_for_byte() {
    let grant = "[plugin.drafts.grants.state]\nreason = \"a test\"";
    let (from, to) = (Place::new(grant), Place::new(grant));
    let every_byte: String = (0..=255_u8).map(char::from).collect();
    let steps = json!({"steps": [["open", "session"], ["set", "every", every_byte]]}).to_string();
    from.ran(&["call", DRAFT2, &steps, "--session", "s"]);
    let list = from.ran(&["state", "list"]);
    assert!(list.contains("session wasi-keyvalue session=s"), "{list}");
    let file = from.data.path().join("state.jsonl");
    let file = file.to_str().expect("text");
    from.ran(&["state", "export", "--output", file]);
    to.ran(&["state", "import", file]);
    let get = json!({"steps": [["open", "session"], ["get", "every"]]}).to_string();
    let got = to.ran(&["call", DRAFTS[0], &get, "--session", "s"]);
    let outcomes: Value = serde_json::from_str(got.trim()).unwrap_or_else(|error| panic!("{error}: {got}"));
    assert_eq!(outcomes[1], ok(every_byte));
}

#[test]
fn inspect_says_that_keyvalue_asks_for_state_and_config_for_nothing() {
    let files = Data::alone();
    let inspected = |import: &str| {
        let component = format!("(import \"{import}\" (instance))");
        let path = files.write("x.wasm", Crafted { component, ..Crafted::default() }.bytes());
        let run = wharf(["inspect", path.to_str().expect("a path"), "--json"]).run();
        let inspected: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        assert!(inspected["imports"].as_array().is_some_and(|imports| imports.contains(&json!(import))), "{inspected}");
        inspected["grants"].clone()
    };
    for interface in ["store", "atomics", "batch"] {
        for version in ["0.2.0-draft", "0.2.0-draft2"] {
            assert_eq!(inspected(&format!("wasi:keyvalue/{interface}@{version}")), json!(["state"]));
        }
    }
    assert_eq!(inspected("wasi:config/store@0.2.0-rc.1"), json!([]));
}
