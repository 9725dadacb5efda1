//! Configurations and data directories that are wrong: an error that says what
//! to do, exit code 3, and nothing half-written.
#![expect(clippy::print_stderr, reason = "a test that cannot run says so")]

use serde_json::json;
use wharf_tests::{Client, Data, Finished, Setup, component, found, machine, wharf};

/// What `wharf config check` says of this text.
fn check(text: &str) -> Finished {
    let data = Data::alone();
    let config = data.write("wharf.toml", text);
    wharf(["config", "check"]).config(&config).data(data.path()).run()
}

#[test]
fn what_a_configuration_may_not_say_is_named() {
    let source = component("guest-echo");
    let plugin = format!("[plugin.x]\nsource = '{}'\n", source.display());
    for (text, words) in [
        ("contxt = 1".to_owned(), ["contxt", "expected one of"]),
        ("[context]\nrequire_sesion = true".to_owned(), ["require_sesion", "require_session"]),
        ("[limits]\nmemory = 5".to_owned(), ["memory", "wharf config limits"]),
        ("[limits]\ncalls_in_flight = 5".to_owned(), ["calls_in_flight", "wharf config limits"]),
        ("[limits]\noutput_bytes = 0".to_owned(), ["output_bytes", "from 1 to"]),
        ("[limits]\noutput_bytes = -1".to_owned(), ["-1", "output_bytes"]),
        ("[limits]\noutput_bytes = 1.5".to_owned(), ["1.5", "output_bytes"]),
        ("[limits]\noutput_bytes = \"1 MiB\"".to_owned(), ["1 MiB", "output_bytes"]),
        ("[limits]\noutput_bytes = 99999999999".to_owned(), ["output_bytes", "67108864"]),
        ("[host.limits]\nstack_bytes = 8388609".to_owned(), ["stack_bytes", "8388608"]),
        ("[host]\nlimit = 1".to_owned(), ["limit", "limits"]),
        ("[state]\ndurability = \"none\"".to_owned(), ["none", "process"]),
        ("[context]\nrequire_session = \"yes\"".to_owned(), ["yes", "boolean"]),
        ("data = 7".to_owned(), ["7", "string"]),
        ("[plugin.\"A B\"]\nsource = \"x\"".to_owned(), ["A B", "[a-z0-9-]"]),
        (format!("{plugin}surce = 1"), ["surce", "source"]),
        (format!("{plugin}digest = \"abc\""), ["digest", "blake3"]),
        (format!("{plugin}[plugin.x.grants.sate]\nreason = \"r\""), ["sate", "state"]),
        (format!("{plugin}[plugin.x.grants.state]"), ["reason", "state"]),
        (format!("{plugin}[plugin.x.grants.state]\nreason = \"\""), ["reason", "state"]),
        (format!("{plugin}[plugin.x.grants.state]\nreason = \"r\"\nscopes = [\"world\"]"), ["world", "thread"]),
        (format!("{plugin}default_scope = \"world\""), ["world", "thread"]),
        (format!("{plugin}settings = 5"), ["settings", "5"]),
        (format!("{plugin}[plugin.x.settings]\nlong = \"{}\"", "x".repeat(70_000)), ["plugin.x.settings", "65536"]),
        ("not toml at all".to_owned(), ["line 1", "expected"]),
        ("[limits".to_owned(), ["line 1", "]"]),
    ] {
        let run = check(&text);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{text}: {run:?}");
        for word in words {
            assert!(run.err.contains(word), "`{word}` is missing for {text:?}: {}", run.err);
        }
        assert!(run.err.contains("wharf.toml"), "the file is not named: {}", run.err);
    }
}

#[test]
fn a_right_configuration_is_told_to_be_right() {
    let run = check(&Setup::new().limit("output_bytes", 5).state("").text());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("output_bytes is 5 instead of 1048576"), "{run:?}");
    assert_eq!(check("").code, Some(0));
}

#[test]
fn a_configuration_that_is_not_there_or_no_file_is_named() {
    let data = Data::alone();
    for path in [data.path().join("missing.toml"), data.path().to_owned()] {
        for command in [vec!["config", "check"], vec!["tools"], vec!["serve", "--stdio"]] {
            let run = wharf(&command).config(&path).data(data.path()).run();
            assert_eq!(run.code, Some(3), "{run:?}");
            assert!(run.err.contains(path.to_str().expect("a path")), "{run:?}");
        }
    }
    let binary = data.write("binary.toml", [0xff, 0xfe, 0x00]);
    assert_eq!(wharf(["config", "check"]).config(&binary).data(data.path()).run().code, Some(3));
}

#[test]
fn every_command_refuses_a_wrong_configuration_and_makes_nothing() {
    let files = Data::alone();
    let config = files.write("wharf.toml", "wrong = 1");
    let data = files.path().join("data");
    for command in [vec!["tools"], vec!["call", "echo__echo"], vec!["serve", "--stdio"]] {
        let run = wharf(&command).config(&config).data(&data).run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{command:?}: {run:?}");
    }
    assert!(!data.exists());
}

#[test]
fn a_data_directory_that_is_a_file_is_named() {
    let files = Data::alone();
    let file = files.write("data", "a file");
    for data in [file.clone(), file.join("below")] {
        let run = wharf(["tools"]).data(&data).run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{run:?}");
        assert!(run.err.contains(data.to_str().expect("a path")) && run.err.contains("--data"), "{run:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "a file");
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let data = Data::alone();
    for foreign in [b"not a database, just a text of some length".repeat(50), vec![0; 8_192]] {
        let file = data.write("state.sqlite3", &foreign);
        let run = wharf(["tools"]).data(data.path()).run();
        assert_eq!(run.code, Some(3), "{run:?}");
        assert!(run.err.contains("state.sqlite3"), "{run:?}");
        assert_eq!(std::fs::read(&file).expect("still there"), foreign);
    }
}

/// A configuration with the guests, granted state, and where it is.
fn stateful(files: &Data) -> std::path::PathBuf {
    files.write("wharf.toml", Setup::new().state("").text())
}

fn put(client: &mut Client, key: &str, bytes: usize) -> serde_json::Value {
    let arguments = json!({"scope": "session", "key": key, "value": "v".repeat(bytes)});
    client.call("hostile__state_put", arguments, json!({}))
}

fn get(client: &mut Client, key: &str) -> serde_json::Value {
    let answer = client.call("hostile__state_get", json!({"scope": "session", "key": key}), json!({}));
    assert_eq!(answer["isError"], json!(false), "{answer}");
    let text = answer["content"][0]["text"].as_str().expect("a text");
    serde_json::from_str::<serde_json::Value>(text).expect("JSON")["value"].take()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_read_only_data_directory_serves_what_is_there_and_says_why_it_keeps_nothing() {
    let data = Data::alone();
    let config = stateful(&data);
    // Made while it could still be written.
    let fixture = wharf::Host::open(Setup::new().state("").configuration(), data.path()).await.expect("opens");
    let arguments = wharf_tests::object(json!({"scope": "session", "key": "k", "value": "kept"}));
    let context = wharf_tests::context("local", "default");
    found(fixture.call(wharf::CallRequest::new(context, "hostile__state_put", arguments)).await);
    drop(fixture);
    let path = data.path().display();
    let mount = format!("mount --bind {path} {path} && mount -o remount,bind,ro {path}");
    let Some(read_only) = machine::after(&mount) else {
        // Permissions would do, were it not for root, who may be running this.
        eprintln!("skipped: this system does not let a test mount");
        return;
    };
    let serve = wharf(["serve", "--stdio"]).config(&config).data(data.path()).through(&read_only);
    let mut client = Client::connect(serve);
    let answer = client.call("echo__echo", json!({"text": "served"}), json!({}));
    assert_eq!(answer["content"][0]["text"], "served");
    assert_eq!(get(&mut client, "k"), "kept");
    let refused = put(&mut client, "l", 1);
    assert_eq!(refused["_meta"]["dev.wharf/error"]["code"], "unavailable", "{refused}");
    assert!(refused.to_string().contains("read-only"), "{refused}");
    assert_eq!(get(&mut client, "l"), json!(null));
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    // Nothing there and no way to make it.
    let below = data.path().join("new");
    let run = wharf(["tools"]).data(&below).through(&read_only).run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains(below.to_str().expect("a path")), "{run:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_writes_with_a_reason_and_loses_nothing() {
    let files = Data::alone();
    let config = stateful(&files);
    let disk = files.path().join("disk");
    std::fs::create_dir(&disk).expect("made");
    // Compiled code would fill it before any state did.
    let small = machine::after(&format!("mount -t tmpfs -o size=2m none {}", disk.display()))
        // Files that cannot grow are as good, where the process may live on.
        .unwrap_or_else(|| "trap '' XFSZ; ulimit -f 4096; exec \"$@\"".to_owned());
    let serve = wharf(["serve", "--stdio"]).config(&config).data(&disk).through(&small);
    let mut client = Client::connect(serve);
    let mut kept = Vec::new();
    let refused = loop {
        let key = format!("k{}", kept.len());
        let answer = put(&mut client, &key, 100_000);
        if answer["isError"] == json!(true) {
            break answer;
        }
        kept.push(key);
        assert!(kept.len() < 50, "5 MB were kept on a disk of 2 MB");
    };
    assert_eq!(refused["_meta"]["dev.wharf/error"]["code"], "unavailable", "{refused}");
    assert!(refused.to_string().contains("full"), "{refused}");
    // What was kept is there; ordinary calls go on.
    for key in &kept {
        assert_eq!(get(&mut client, key).as_str().map(str::len), Some(100_000), "{key}");
    }
    let answer = client.call("echo__echo", json!({"text": "still here"}), json!({}));
    assert_eq!(answer["content"][0]["text"], "still here");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}
