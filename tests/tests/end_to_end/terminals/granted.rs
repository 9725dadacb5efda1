//! Only what is granted is started, and as it is granted.

use serde_json::json;
use wharf_tests::{Data, Fixture, Setup, found};

use super::{OF_ONE, here, id_of, ok, printed, refused, started};

#[tokio::test]
async fn without_a_grant_every_function_is_denied_and_names_the_line() {
    // Another capability of children opens no terminal.
    let fixture = Setup::new().processes("shell = true").open().await;
    let mut refusals = Vec::new();
    for function in OF_ONE.iter().chain(&["status", "list"]) {
        refusals.push(refused(&fixture, &here(), function, &"0".repeat(32), json!({"view": "text"})).await);
    }
    for arguments in [json!({}), json!({"program": "true"})] {
        let answer = found(fixture.call("hostile__start_terminal", arguments).await);
        let text = |name: &str| answer["refused"][name].as_str().expect("refused").to_owned();
        refusals.push((text("code"), text("message")));
    }
    for (code, message) in refusals {
        assert_eq!(code, "denied", "{message}");
        assert!(message.contains("[plugin.hostile.grants.terminal]"), "{message}");
    }
    assert_eq!(fixture.data.workspaces(), 0, "nothing was made");
}

#[tokio::test]
async fn a_program_a_shell_and_a_variable_are_granted_one_by_one() {
    let grant = "programs = [\"env\", \"absent\", \"/workspace/*\"]\nenvironment = [\"LC_*\"]";
    let fixture = Setup::new().terminals(grant).open().await;
    let start = |arguments| fixture.call("hostile__start_terminal", arguments);
    let long = "x".repeat(2 << 20);
    for (arguments, code, word) in [
        (json!({"program": "id"}), "denied", "programs"),
        (json!({"program": "/usr/bin/env"}), "denied", "programs"),
        (json!({"program": "/workspace/../usr/bin/id"}), "denied", "programs"),
        (json!({"program": "/workspace/a/env"}), "denied", "programs"),
        (json!({"program": "env/../x"}), "denied", "programs"),
        (json!({"program": "/workspace/.."}), "invalid", ".."),
        (json!({"program": "../env"}), "denied", "programs"),
        (json!({"program": ""}), "denied", "programs"),
        (json!({}), "denied", "shell"),
        (json!({"program": "absent"}), "invalid", "absent"),
        (json!({"program": "env", "environment": {"LD_PRELOAD": "x"}}), "denied", "environment"),
        (json!({"program": "env", "environment": {"LC_=": "x"}}), "invalid", "="),
        (json!({"program": "env", "directory": ".."}), "invalid", "workspace"),
        (json!({"program": "env", "directory": "/etc"}), "invalid", "workspace"),
        (json!({"program": "env", "directory": "missing"}), "invalid", "enter"),
        (json!({"program": "env", "options": "{\"user\": 0}"}), "invalid", "options"),
        (json!({"program": "env", "options": "{\"restart\": \"always\"}"}), "invalid", "on-crash"),
        (json!({"program": "env", "options": "["}), "invalid", "options"),
        (json!({"program": "env", "preset": "fast"}), "invalid", "preset"),
        (json!({"program": "env", "arguments": ["a\u{0}b"]}), "invalid", "zero"),
        (json!({"program": "env", "arguments": [long]}), "limit", "bytes"),
        (json!({"program": "env", "columns": 501}), "invalid", "500"),
        (json!({"program": "env", "rows": 201}), "invalid", "200"),
        (json!({"program": "env", "columns": 65_535, "rows": 65_535}), "invalid", "65535"),
    ] {
        let answer = found(start(arguments.clone()).await);
        let shown: String = arguments.to_string().chars().take(80).collect();
        assert_eq!(answer["refused"]["code"], code, "{shown}: {answer}");
        let message = answer["refused"]["message"].as_str().expect("a message");
        assert!(message.contains(word), "{shown}: {message}");
    }
    assert_eq!(ok(&fixture, &here(), "list", "", json!({})).await, json!([]), "nothing was started");
    // A size of zero is the usual one.
    let arguments = json!({"program": "env", "environment": {"LC_TIME": "ko_KR"}, "columns": 0, "rows": 0});
    let told = started(&fixture, &here(), arguments).await;
    assert_eq!((&told["terminal"]["columns"], &told["terminal"]["rows"]), (&json!(80), &json!(24)));
    let id = id_of(&told);
    super::until(&fixture, &here(), &id, |info| info["status"] == "closed").await;
    let read = ok(&fixture, &here(), "read", &id, json!({"view": "text", "bytes": 10_000})).await;
    let text = read["data"].as_str().expect("a text");
    assert!(text.contains("LC_TIME=ko_KR") && text.contains("TERM=xterm-256color"), "{text}");
    let mut names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_TIME", "PATH", "TERM", "TMPDIR"], "exactly these: {text}");
}

#[tokio::test]
async fn the_lifetime_of_a_grant_holds_beside_that_of_the_host() {
    let fixture = Setup::new().terminals("programs = [\"sleep\"]\nlifetime_seconds = 1").open().await;
    let told = started(&fixture, &here(), json!({"program": "sleep", "arguments": ["1000"]})).await;
    let info = super::until(&fixture, &here(), &id_of(&told), |info| info["outcome"].is_object()).await;
    assert_eq!(info["outcome"]["reason"], "time-limit", "{info}");
}

#[tokio::test]
async fn what_the_operator_refuses_to_have_typed_is_denied_in_the_operators_words() {
    let profile = "[terminal.profile.cats]\nprograms = [\"cat\"]\npreset = \"repl\"\n\
                   refused = [{word = \"exit\", reason = \"close the terminal instead\"}]";
    let fixture = Setup::new().terminals("programs = [\"cat\"]").with_tables(profile).open().await;
    let told = started(&fixture, &here(), json!({"program": "cat"})).await;
    let id = id_of(&told);
    assert_eq!((&told["terminal"]["profile"], &told["terminal"]["preset"]), (&json!("cats"), &json!("repl")));
    let (code, message) =
        refused(&fixture, &here(), "send", &id, json!({"text": "hello\n exit", "submit": true})).await;
    assert_eq!(code, "denied");
    assert!(message.contains("close the terminal instead"), "{message}");
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["raw"], 0, "nothing of it was typed");
    ok(&fixture, &here(), "send", &id, json!({"text": "exit it", "submit": true})).await;
    printed(&fixture, &here(), &id, "exit it\nexit it").await;
}

#[tokio::test]
async fn a_host_without_a_data_directory_has_no_terminals() {
    let setup = Setup::new().terminals("shell = true");
    let store = std::sync::Arc::new(wharf::MemoryStore::default());
    let host = wharf::Host::open_with(setup.configuration(), store, None).await.expect("the host opens");
    let fixture = Fixture { host: host.into(), data: Data::new() };
    let answer = found(fixture.call("hostile__start_terminal", json!({})).await);
    assert_eq!(answer["refused"]["code"], "unavailable", "{answer}");
    let (code, message) = refused(&fixture, &here(), "list", "", json!({})).await;
    assert_eq!(code, "unavailable", "{message}");
}
