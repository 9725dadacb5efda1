//! The first calls of somebody who has read the first page: each bundled plugin, with
//! large documents, without a configuration, with an empty one and with the demo's;
//! from a relative data directory; in a session that nobody else has.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Site, wharf};

/// What the first page says to start, and the plugins that are off by default.
const SERVE: [&str; 6] = ["serve", "--stdio", "--session", "new", "--profile", "developer"];

/// No file, an empty one, and the demo's.
fn configurations(files: &Data) -> [(&'static str, Option<PathBuf>); 3] {
    [
        ("no file", None),
        ("an empty file", Some(files.write("empty.toml", ""))),
        ("the demo's file", Some(files.write("demo.toml", "# Every setting has its default.\n"))),
    ]
}

fn with(command: Command, configuration: Option<&Path>) -> Command {
    match configuration {
        Some(file) => command.config(file),
        None => command,
    }
}

/// Calls a tool that has to succeed; its whole result.
fn done(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let result = client.call(tool, arguments, json!({}));
    let shown: String = result.to_string().chars().take(2_000).collect();
    assert_eq!(result["isError"], json!(false), "{tool}: {shown}");
    result
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// A text of so many bytes, with words that people write and one that is nowhere else.
fn large(bytes: usize, word: &str) -> String {
    let mut lines = String::with_capacity(bytes + 100);
    for line in 0.. {
        if lines.len() >= bytes {
            break;
        }
        lines.push_str(&format!("Line {line} of the log of the harbour: ship {} came in at noon.\n", line % 997));
    }
    lines.truncate(bytes - word.len() - 2);
    lines.push_str(&format!("\n{word}\n"));
    lines
}

/// Keeps a document, finds its last word, and removes it.
fn keep(client: &mut Client, arguments: Value, bytes: usize, word: &str) {
    let added = done(client, "content-store__add_content", arguments);
    assert_eq!(added["structuredContent"]["document_bytes"], bytes, "{word}");
    let found = done(client, "content-store__search_content", json!({"query": word}));
    let id = &added["structuredContent"]["content_id"];
    assert_eq!(found["structuredContent"]["hits"][0]["content_id"], *id, "{word}");
    done(client, "content-store__delete_content", json!({"content_id": id}));
}

#[test]
fn every_bundled_plugin_works_the_same_without_a_file_with_an_empty_one_and_with_the_demos() {
    let (files, site) = (Data::alone(), Site::start());
    for (what, configuration) in configurations(&files) {
        let data = Data::new();
        let mut client = Client::connect(with(wharf(SERVE).data(data.path()), configuration.as_deref()));
        done(&mut client, "planning__create_goal", json!({"goal": "Ship it"}));
        assert!(text(&done(&mut client, "planning__get_current_state", json!({}))).contains("Ship it"), "{what}");
        let step = json!({"description": "Do it", "action": {"toolName": "tool", "purpose": "to do it"}});
        done(&mut client, "playbook__create_playbook", json!({"goal": "Ship it again", "workflow": [step]}));
        let printed = done(&mut client, "workspace__execute_shell", json!({"command": "echo $((6 * 7))"}));
        assert!(text(&printed).contains("42"), "{what}: {printed}");
        let content = large(1_000_000, "quay");
        done(&mut client, "workspace__write_file", json!({"path": "log.txt", "content": content}));
        let started = done(&mut client, "terminal__start_terminal", json!({}));
        let terminal = &started["structuredContent"]["terminal_id"];
        let typed = json!({"terminal_id": terminal, "text": "echo $((7 * 8))"});
        assert!(text(&done(&mut client, "terminal__send_message", typed)).contains("56"), "{what}");
        done(&mut client, "browser__navigate", json!({"url": site.at("/")}));
        let picture = done(&mut client, "browser__screenshot", json!({}));
        let content = picture["content"].as_array().expect("content");
        assert!(content.iter().any(|part| part["type"] == "image"), "{what}: no picture");
        let (_, log, code) = client.leave();
        assert_eq!(code, Some(0), "{what}: {log}");
        assert!(!log.contains("share one"), "{what}: {log}");
    }
}

#[test]
fn documents_as_large_as_is_promised_are_kept_without_a_file_with_an_empty_one_and_with_the_demos() {
    let files = Data::alone();
    for (what, configuration) in configurations(&files) {
        let data = Data::new();
        let mut client = Client::connect(with(wharf(SERVE).data(data.path()), configuration.as_deref()));
        let texts = [("crane", 3_500_000), ("mole", 8_500_000), ("pier", 11_900_000)];
        for (word, bytes) in texts {
            keep(&mut client, json!({"text": large(bytes, word)}), bytes, word);
        }
        for (word, bytes) in [("anchor", 3_500_000), ("buoy", 12_000_000)] {
            let document = STANDARD.encode(large(bytes, word));
            keep(&mut client, json!({"name": "log.txt", "document": document}), bytes, word);
        }
        let listing = client.request("tools/list", json!({}));
        let tools = listing["result"]["tools"].as_array().expect("tools");
        let add = tools.iter().find(|tool| tool["name"] == "content-store__add_content").expect("listed");
        let most = &add["inputSchema"]["properties"]["document"];
        assert!(most.to_string().contains("12 MB"), "{what}: {most}");
        let above = STANDARD.encode(large(12_000_001, "above"));
        let refused = client.call("content-store__add_content", json!({"name": "a.txt", "document": above}), json!({}));
        assert_eq!(refused["isError"], json!(true), "{what}: more than is promised is refused");
        let (_, log, code) = client.leave();
        assert_eq!(code, Some(0), "{what}: {log}");
    }
}

#[test]
fn a_first_start_compiles_no_bundled_plugin() {
    let data = Data::alone();
    let mut client = Client::connect(wharf(SERVE).data(data.path()));
    done(&mut client, "planning__create_goal", json!({"goal": "Ship it"}));
    done(&mut client, "workspace__list_directory", json!({}));
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(data.code(), Vec::<PathBuf>::new(), "nothing was made that the binary carries");
}

#[test]
fn a_relative_data_directory_has_processes_terminals_and_files_as_any_other() {
    let directory = tempfile::tempdir().expect("a directory");
    // As a user types it: nothing here is absolute.
    let serve = || wharf(SERVE).data(Path::new("below/data")).inside(directory.path());
    let mut client = Client::connect(serve());
    let command = json!({"command": "echo kept > note; cat note"});
    assert!(text(&done(&mut client, "workspace__execute_shell", command)).contains("kept"));
    let started = done(&mut client, "terminal__start_terminal", json!({}));
    let terminal = &started["structuredContent"]["terminal_id"];
    let typed = json!({"terminal_id": terminal, "text": "cat note"});
    assert!(text(&done(&mut client, "terminal__send_message", typed)).contains("kept"));
    drop(client.leave());
    assert!(directory.path().join("below/data/state.sqlite3").is_file());
    // The command by itself, and what looks at the directory from elsewhere.
    let arguments = r#"{"command": "pwd"}"#;
    let call = ["call", "workspace__execute_shell", arguments, "--session", "s", "--profile", "developer"];
    for data in ["below/data", "./below/../below/data", "below/data/"] {
        let run = wharf(call).data(Path::new(data)).inside(directory.path()).run();
        assert_eq!(run.code, Some(0), "{data}: {run:?}");
    }
    let run = wharf(["sessions"]).data(&directory.path().join("below/data")).run();
    assert!(run.out.lines().any(|line| line.contains(" s ")), "{run:?}");
    let doctor = wharf(["doctor"]).data(Path::new("below/data")).inside(directory.path()).run();
    let shown = directory.path().join("below/data").display().to_string();
    assert!(doctor.out.contains(&shown), "{doctor:?}");
}

#[test]
fn paths_of_a_file_are_relative_to_it_and_those_of_flags_to_where_they_were_typed() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |path: &str| directory.path().join(path);
    std::fs::create_dir_all(at("etc/plugins")).expect("made");
    std::fs::create_dir(at("elsewhere")).expect("made");
    std::fs::write(at("etc/plugins/one.wasm"), wharf_tests::bytes("guest-echo")).expect("written");
    let text = "data = \"data\"\n[plugin.one]\nsource = \"plugins/one.wasm\"\n\
                [plugin.workspace.grants.process]\nreason = \"r\"\nshell = true";
    std::fs::write(at("etc/wharf.toml"), text).expect("written");
    for (from, config) in [("etc", "wharf.toml"), ("elsewhere", "../etc/wharf.toml"), (".", "etc/wharf.toml")] {
        let run = |arguments: &[&str]| wharf(arguments).config(Path::new(config)).inside(&at(from)).run();
        let echoed = run(&["call", "one__echo", r#"{"text": "here"}"#]);
        assert_eq!((echoed.code, echoed.out.as_str()), (Some(0), "here\n"), "{from}: {echoed:?}");
        let ran = run(&["call", "workspace__execute_shell", r#"{"command": "echo ran"}"#]);
        assert!(ran.code == Some(0) && ran.out.contains("ran"), "{from}: {ran:?}");
        assert!(at("etc/data/state.sqlite3").is_file() && !at("elsewhere/data").exists(), "{from}");
    }
}

#[test]
fn each_process_of_a_client_has_a_session_of_its_own_and_nobody_is_warned() {
    let data = Data::new();
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let mut client = Client::connect(wharf(["serve", "--stdio", "--session", "new"]).data(data.path()));
        assert!(!text(&done(&mut client, "planning__get_current_state", json!({}))).contains("Ship it"));
        done(&mut client, "planning__create_goal", json!({"goal": "Ship it"}));
        assert!(text(&done(&mut client, "planning__get_current_state", json!({}))).contains("Ship it"));
        // A conversation that has a name keeps it.
        let named = json!({"dev.wharf/sessionId": "named"});
        let state = client.call("planning__get_current_state", json!({}), named);
        assert!(!text(&state).contains("Ship it"), "{state}");
        let (_, log, code) = client.leave();
        assert!(code == Some(0) && !log.contains("WARN"), "{log}");
    }
    for _ in 0..2 {
        let call = ["call", "planning__create_goal", r#"{"goal": "Ship it"}"#, "--session", "new"];
        let run = wharf(call).data(data.path()).run();
        let session = run.err.trim().strip_prefix("the session is ").unwrap_or_else(|| panic!("{run:?}")).to_owned();
        let again = ["call", "planning__get_current_state", "{}", "--session", &session];
        assert!(wharf(again).data(data.path()).run().out.contains("Ship it"), "{session}");
        sessions.push(session);
    }
    assert!(sessions[0] != sessions[1] && sessions.iter().all(|session| session.len() > 32), "{sessions:?}");
    // By its variable, too; without either, the client is told.
    let serve = wharf(["serve", "--stdio"]).data(data.path()).env("WHARF_SESSION", "new");
    let mut client = Client::connect(serve);
    done(&mut client, "planning__get_current_state", json!({}));
    assert!(!client.leave().1.contains("share one"));
    let mut client = Client::connect(wharf(["serve", "--stdio"]).data(data.path()));
    done(&mut client, "planning__get_current_state", json!({}));
    let (_, log, _) = client.leave();
    assert!(log.contains("share one") && log.contains("--session new"), "{log}");
    // Over HTTP alone there is no process of a client.
    let run = wharf(["serve", "--http", "127.0.0.1:0", "--session", "new"]).data(data.path()).run();
    assert!(run.code == Some(3) && run.err.contains("Wharf-Session"), "{run:?}");
}

#[test]
fn a_locale_in_the_usual_form_never_keeps_a_host_from_starting() {
    let data = Data::new();
    for (locale, warned) in [("ko_KR.UTF-8", false), ("en_US", false), ("C", false), ("POSIX", false), ("fr_FR", true)]
    {
        let run = wharf(["tools"]).data(data.path()).env("WHARF_LANGUAGE", locale).run();
        assert_eq!(run.code, Some(0), "{locale}: {run:?}");
        assert_eq!(run.err.contains("WHARF_LANGUAGE"), warned, "{locale}: {run:?}");
    }
}
