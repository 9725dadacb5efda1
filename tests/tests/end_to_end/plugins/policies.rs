//! `wharf grant --from`: what another tool server allowed a component, written as our grants.

use std::fs;

use wharf::Configuration;
use wharf_tests::{Setup, bytes};

use super::commands::Place;

const POLICY: &str = "\
# As another tool server keeps it.
version: \"1.0\"
description: \"Looks up the weather\"
permissions:
  network:
    allow:
      - host: \"api.example.com\"
      - host: \"*.weather.example\"
      - cidr: \"1.0.0.0/8\"
    deny:
      - host: \"bad.weather.example\"
  storage:
    allow:
      - uri: \"fs://workspace/**\"
        access: [\"read\"]
      - uri: \"fs://jobs/agent/**\"
        access: [\"read\", \"write\"]
  environment:
    allow:
      - key: \"API_KEY\"
  resources:
    memory: 32
";

fn place() -> Place {
    let place = Place::new(&Setup::bare());
    place.files.write("x.wasm", bytes("guest-hostile"));
    place.files.write("policy.yaml", POLICY);
    let file = place.files.path().join("wharf.toml");
    let text = fs::read_to_string(&file).expect("readable");
    fs::write(file, format!("# Ours.\n{text}\n[limits] # of all\noutput_bytes = 5_000 # small\n")).expect("written");
    place
}

fn text(place: &Place) -> String {
    fs::read_to_string(place.files.path().join("wharf.toml")).expect("readable")
}

#[test]
fn a_policy_becomes_grants_and_what_does_not_is_told() {
    let place = place();
    let (component, policy, before) = (place.file("x.wasm"), place.file("policy.yaml"), text(&place));
    let shown = place.ran(&["grant", &component, "--from", &policy, "--dry-run"]);
    assert!(shown.contains("Nothing was written") && text(&place) == before, "{shown}");
    for told in [
        "version 1.0: Looks up the weather",
        "Taken over (3)",
        "network.allow: api.example.com\n    `* https://api.example.com`",
        "storage.allow: fs://workspace/**",
        "resources.memory: 32",
        "Not taken over (5)",
        "network.allow: *.weather.example\n    its `deny` names some of it",
        "network.allow: 1.0.0.0/8",
        "network.deny: bad.weather.example",
        "storage.allow: fs://jobs/agent/**",
        "environment.allow: API_KEY",
        "+requests = [\"* https://api.example.com\"]",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    place.ran(&["grant", &component, "--from", &policy, "--expires", "2099-01-31"]);
    let written = text(&place);
    for kept in ["# Ours.", "[limits] # of all", "output_bytes = 5_000 # small"] {
        assert!(written.contains(kept), "{written}");
    }
    let configuration = Configuration::read(&place.files.path().join("wharf.toml")).expect("right");
    let settings = &configuration.plugins[&"x".parse().expect("a name")];
    let grants = settings.grants.clone().expect("written");
    let (http, workspace) = (grants.http.expect("granted"), grants.workspace.expect("granted"));
    let requests: Vec<_> = http.requests.iter().map(|request| request.as_str()).collect();
    assert_eq!((requests, http.private_addresses), (vec!["* https://api.example.com"], false));
    assert_eq!((http.reason.as_str(), workspace.reason.as_str()), ("Looks up the weather", "Looks up the weather"));
    assert_eq!(http.expires.expect("written").as_str(), "2099-01-31");
    assert_eq!(workspace.access, wharf::grant::Access::Read);
    assert!(workspace.exchange.is_empty() && grants.process.is_none() && grants.state.is_none());
    assert_eq!(settings.limits.memory_bytes, 32 << 20);
    assert!(settings.digest.is_some(), "it is for this component");

    // Once more, nothing changes; for another component it needs a word.
    let again = place.ran(&["grant", "x", "--from", &policy, "--expires", "2099-01-31"]);
    assert!(again.contains("Nothing changes."), "{again}");
    place.files.write("x.wasm", crate::grants::swapped("other", b""));
    let refused = place.run(&["grant", "x", "--from", &policy]);
    assert!(refused.code == Some(3) && refused.err.contains("--confirm") && text(&place) == written, "{refused:?}");
}

#[test]
fn folders_are_added_to_those_that_there_are() {
    let place = place();
    let file = place.files.path().join("wharf.toml");
    let component = place.file("x.wasm");
    let before = format!(
        "{}\n[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.workspace]\nreason = \"r\"\n[[plugin.x.grants.workspace.exchange]] # \
         ours\nname = \"data\"\npath = \"/srv/old\"\n",
        text(&place)
    );
    fs::write(&file, before).expect("written");
    let policy = "version: \"1.0\"\npermissions: {storage: {allow: [{uri: \"fs:///srv/data\", access: [read]}]}}";
    let policy = place.files.write("folders.yaml", policy);
    place.ran(&["grant", "x", "--from", policy.to_str().expect("a path")]);
    let configuration = Configuration::read(&file).expect("right");
    let grants = configuration.plugins[&"x".parse().expect("a name")].grants.clone().expect("written");
    let folders = grants.workspace.expect("granted").exchange.into_iter();
    let folders: Vec<_> = folders.map(|folder| (folder.name, folder.path.display().to_string())).collect();
    let pair = |name: &str, path: &str| (name.to_owned(), path.to_owned());
    assert_eq!(folders, [pair("data", "/srv/old"), pair("data-2", "/srv/data")], "{}", text(&place));
    assert!(text(&place).contains("exchange]] # ours"), "{component}: {}", text(&place));
}

#[test]
fn a_policy_that_is_none_changes_nothing() {
    let place = place();
    let (component, before) = (place.file("x.wasm"), text(&place));
    for (policy, word) in [
        ("version: \"2.0\"\n", "1.x is known"),
        ("version: \"1.0\"\npermissions: {files: {}}\n", "files"),
        ("version: \"1.0\"\npermissions: {ipc: {allow: [*x]}}\n", "not usable"),
    ] {
        let file = place.files.write("bad.yaml", policy);
        let run = place.run(&["grant", &component, "--from", file.to_str().expect("a path")]);
        assert!(run.code == Some(3) && run.err.contains(word) && run.out.is_empty(), "{policy}: {run:?}");
    }
    let run =
        place.run(&["grant", &component, "--from", &place.file("policy.yaml"), "--allow", "state", "--reason", "r"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(text(&place), before);
}
