//! Indexes of plugins that lie in a registry.

use wharf_tests::{OciRegistry, Setup};

use super::*;
use crate::plugins::{
    commands::Place,
    searching::{adding, index},
};

const INDEX: &str = "application/vnd.wharf.plugin-index.v1+json";

/// Puts an index there, as `oras push` lays out a file of this type; its reference.
fn push(registry: &OciRegistry, tag: &str, kind: &str, index: &[u8]) -> String {
    for blob in [index, b"{}"] {
        registry.push_blob("team/index", &sha256(blob), blob);
    }
    registry.push_manifest("team/index", tag, None, &manifest(&[descriptor(kind, index)]));
    format!("oci://{}/team/index:{tag}", registry.authority())
}

#[test]
fn an_index_in_a_registry_leads_to_a_plugin_in_it() {
    let Some(registry) = OciRegistry::start() else { return };
    let place = Place::new(&Setup::bare());
    let component = place.file("greeter.wasm");
    let greeter = format!("oci://{}/team/greeter:1.2.0", registry.authority());
    place.ran(&["publish", &greeter, "--component", &component]);
    let listed = index(&greeter).to_string();
    for (tag, kind) in [("a", INDEX), ("b", "application/json")] {
        // Its old version lies beside no index in a registry, so the whole entry is left out.
        let reference = push(&registry, tag, kind, listed.as_bytes());
        let run = place.run(&["plugin", "search", "--index", &reference]);
        assert!(run.code == Some(0) && run.err.contains("name an address") && !run.out.contains("greeter"), "{run:?}");
    }
    let mut whole = index(&greeter);
    whole["plugins"][0]["versions"].as_array_mut().expect("a list").remove(0);
    let reference = push(&registry, "c", INDEX, whole.to_string().as_bytes());
    let printed = place.ran(&["plugin", "search", "greeter", "--index", &reference]);
    let words = adding(&printed);
    assert!(words.contains(&greeter), "{words:?}");
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    assert!(place.ran(&words).contains("Added greeter."));

    let run = place.run(&["plugin", "search", "--index", &greeter]);
    assert!(run.code == Some(3) && run.err.contains("has not one layer that is an index of plugins"), "{run:?}");
    let long = push(&registry, "d", INDEX, &vec![b' '; 5 << 20]);
    let run = place.run(&["plugin", "search", "--index", &long]);
    assert!(run.code == Some(3) && run.err.contains("an index of plugins has 4194304 at most"), "{run:?}");
}
