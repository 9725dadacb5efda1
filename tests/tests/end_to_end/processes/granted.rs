//! Only what is granted is started, and as it is granted.

use serde_json::json;
use wharf::Code;
use wharf_tests::{Data, Setup, found};

use super::{ask, ended, here, printed, shell};

#[tokio::test]
async fn without_a_grant_every_function_is_denied_and_names_the_line() {
    let fixture = Setup::new().open().await;
    let functions =
        ["status", "list", "poll", "wait", "read", "head", "tail", "write", "close-input", "signal", "stop"];
    for function in functions {
        let refused = ask(&fixture, &here(), function, &"0".repeat(32), json!({})).await;
        assert_eq!(refused["refused"]["code"], "denied", "{function}: {refused}");
        let message = refused["refused"]["message"].as_str().expect("a message");
        assert!(message.contains("[plugin.hostile.grants.process]"), "{message}");
    }
    for function in ["files", "create", "exchange", "usage"] {
        let refused = found(fixture.call("hostile__ask_workspace", json!({"function": function})).await);
        assert_eq!(refused["refused"]["code"], "denied", "{function}: {refused}");
    }
    let refused = found(fixture.call("hostile__start_process", json!({"program": "true"})).await);
    assert_eq!(refused["refused"]["code"], "denied");
    assert_eq!(fixture.data.workspaces(), 0, "nothing was made");
}

#[tokio::test]
async fn a_program_a_shell_and_a_variable_are_granted_one_by_one() {
    let grant = "programs = [\"env\", \"/workspace/*\"]\nenvironment = [\"LC_*\"]";
    let fixture = Setup::new().processes(grant).open().await;
    let start = |arguments| fixture.call("hostile__start_process", arguments);
    for (arguments, code, word) in [
        (json!({"program": "id"}), "denied", "programs"),
        (json!({"program": "/usr/bin/env"}), "denied", "programs"),
        (json!({"program": "/workspace/../usr/bin/id"}), "denied", "programs"),
        (json!({"program": "/workspace/a/env"}), "denied", "programs"),
        (json!({"program": "/workspace/.."}), "invalid", ".."),
        (json!({"program": "../env"}), "denied", "programs"),
        (json!({"shell": "true"}), "denied", "shell"),
        (json!({"program": "env", "environment": {"LD_PRELOAD": "x"}}), "denied", "environment"),
        (json!({"program": "env", "environment": {"LC_=": "x"}}), "invalid", "="),
        (json!({"program": "env", "directory": ".."}), "invalid", "workspace"),
        (json!({"program": "env", "directory": "/etc"}), "invalid", "workspace"),
        (json!({"program": "env", "directory": "missing"}), "invalid", "enter"),
        (json!({"program": "env", "options": "{\"user\": 0}"}), "invalid", "options"),
        (json!({"program": "env", "options": "["}), "invalid", "options"),
        (json!({"program": "env", "arguments": ["a\u{0}b"]}), "invalid", "zero"),
        (json!({"program": "env", "arguments": ["x".repeat(2 << 20)]}), "limit", "bytes"),
    ] {
        let refused = found(start(arguments.clone()).await);
        assert_eq!(refused["refused"]["code"], code, "{refused}");
        let message = refused["refused"]["message"].as_str().expect("a message");
        assert!(message.contains(word), "{message}");
    }
    let started = found(start(json!({"program": "env", "environment": {"LC_TIME": "ko_KR"}})).await);
    let id = started["ok"]["id"].as_str().expect("an id");
    ended(&fixture, &here(), id).await;
    let polled = ask(&fixture, &here(), "poll", id, json!({"number": 4_096})).await;
    let text = polled["ok"]["stdout"].as_str().expect("a text");
    let mut names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_TIME", "PATH", "TERM", "TMPDIR"], "exactly these: {text}");
}

#[tokio::test]
async fn a_pattern_of_names_grants_no_file_that_a_guest_has_written() {
    let fixture = Setup::new().processes("programs = [\"git*\"]").workspace("").open().await;
    found(fixture.call("hostile__ask_workspace", json!({"function": "create"})).await);
    let planted = "git-x/.git/hooks/pre-commit";
    let mut folder = String::from("/workspace");
    for part in planted.rsplit_once('/').expect("a folder").0.split('/') {
        folder = format!("{folder}/{part}");
        found(fixture.call("hostile__make_directory", json!({"path": folder})).await);
    }
    let written = found(fixture.call("hostile__write_file", json!({"path": format!("/workspace/{planted}")})).await);
    assert_eq!(written["reached"], true, "{written}");
    found(fixture.call("hostile__write_file", json!({"path": "/workspace/git-own"})).await);
    for program in
        [planted.to_owned(), format!("/workspace/{planted}"), format!("./{planted}"), "/workspace/git-own".into()]
    {
        let refused = found(fixture.call("hostile__start_process", json!({"program": program})).await);
        assert_eq!(refused["refused"]["code"], "denied", "{program}: {refused}");
    }
    // A name is not looked for where guests write.
    let refused = found(fixture.call("hostile__start_process", json!({"program": "git-own"})).await);
    assert_eq!(refused["refused"]["code"], "invalid", "{refused}");
}

#[tokio::test]
async fn a_shell_gets_its_text_untouched_and_a_failure_is_a_failure() {
    let fixture = Setup::new().processes("shell = true").open().await;
    let printed = printed(&fixture, &here(), "echo \"it's\" '$HOME' \"a  b\" | tr a-z A-Z; echo 'x\ty' >&2").await;
    assert_eq!(printed, "IT'S $HOME A  B\nx\ty\n");
    let id = shell(&fixture, &here(), "exit 3").await;
    let end = ended(&fixture, &here(), &id).await;
    assert_eq!((end["status"].as_str(), &end["outcome"]["code"]), (Some("failed"), &json!(3)));
}

#[tokio::test]
async fn processes_share_the_workspace_of_their_session_and_a_home() {
    let fixture = Setup::new().processes("shell = true").workspace("").open().await;
    printed(&fixture, &here(), "mkdir -p a/b && echo text > a/b/file && echo kept > ~/kept").await;
    assert_eq!(
        printed(&fixture, &here(), "cat a/b/file ~/kept; cd /tmp && pwd && touch x && ls").await,
        "text\nkept\n/tmp\nx\n"
    );
    let read = found(fixture.call("hostile__read_file", json!({"path": "/workspace/a/b/file"})).await);
    assert_eq!(read["found"], "text\n");
    // And the other way round, also for a process that is another user than the host.
    found(fixture.call("hostile__make_directory", json!({"path": "/workspace/made"})).await);
    let written = found(fixture.call("hostile__write_file", json!({"path": "/workspace/made/file"})).await);
    assert_eq!(written["reached"], true, "{written}");
    let appended =
        printed(&fixture, &here(), "echo more >> made/file && chmod +x made/file && rm -r a && cat made/file; ls")
            .await;
    assert_eq!(appended, "hostilemore\nmade\n");
}

#[tokio::test]
async fn the_limits_of_a_grant_hold_beside_those_of_the_host() {
    let fixture = Setup::new().processes("shell = true\nmaximum_concurrent = 2\nlifetime_seconds = 1").open().await;
    let (first, second) = (shell(&fixture, &here(), "sleep 1000").await, shell(&fixture, &here(), "sleep 1000").await);
    let third = found(fixture.call("hostile__start_process", json!({"shell": "true"})).await);
    assert_eq!((third["refused"]["code"].as_str(), &third["refused"]["retryable"]), (Some("limit"), &json!(true)));
    for id in [first, second] {
        let end = ended(&fixture, &here(), &id).await;
        assert_eq!((&end["outcome"]["kind"], &end["outcome"]["reason"]), (&json!("killed"), &json!("time-limit")));
    }
}

#[tokio::test]
async fn what_a_guest_asks_for_is_clamped() {
    let fixture = Setup::new().processes("shell = true").limit("wall_time_milliseconds", 2_000).open().await;
    let id = shell(&fixture, &here(), "yes | head -c 3000000; sleep 1000").await;
    let waited = ask(&fixture, &here(), "wait", &id, json!({"number": u64::MAX})).await;
    assert_eq!(waited["ok"]["reason"], "time-up", "a wait ends before its call does: {waited}");
    let read = ask(&fixture, &here(), "read", &id, json!({"number": 0})).await;
    assert_eq!(read["ok"], 1 << 20);
    for function in ["head", "tail"] {
        let read = ask(&fixture, &here(), function, &id, json!({"number": u32::MAX})).await;
        assert!(read["ok"].as_u64().is_some_and(|bytes| bytes <= 1 << 20), "{function}: {read}");
    }
    let far = ask(&fixture, &here(), "read", &id, json!({"number": u64::MAX})).await;
    assert_eq!(far["ok"], 0);
    let stream = ask(&fixture, &here(), "tail-of", &id, json!({"text": "stdin"})).await;
    assert_eq!(stream["refused"]["code"], "invalid");
    for pattern in ["(", &"a".repeat(2_000), "(a{1000}){1000}"] {
        let refused = ask(&fixture, &here(), "wait", &id, json!({"number": 1, "text": pattern})).await;
        assert_eq!(refused["refused"]["code"], "invalid", "{refused}");
    }
    let signal = ask(&fixture, &here(), "signal", &id, json!({"text": "SIGKILL"})).await;
    assert_eq!(signal["refused"]["code"], "invalid");
    let input = ask(&fixture, &here(), "write", &id, json!({"number": 10})).await;
    assert_eq!(input["refused"]["code"], "gone", "it has no input");
    let stopped = ask(&fixture, &here(), "stop", &id, json!({"number": 0})).await;
    assert_eq!(stopped["ok"]["outcome"]["reason"], "user", "{stopped}");
}

#[tokio::test]
async fn a_host_without_a_data_directory_has_neither_processes_nor_files() {
    let setup = Setup::new().processes("shell = true").workspace("");
    let store = std::sync::Arc::new(wharf::MemoryStore::default());
    let host = wharf::Host::open_with(setup.configuration(), store, None).await.expect("the host opens");
    let fixture = wharf_tests::Fixture { host: host.into(), data: Data::new() };
    let refused = found(fixture.call("hostile__start_process", json!({"shell": "true"})).await);
    assert_eq!(refused["refused"]["code"], "unavailable", "{refused}");
    let refused = found(fixture.call("hostile__ask_workspace", json!({"function": "create"})).await);
    assert_eq!(refused["refused"]["code"], Code::Unavailable.as_str());
}

#[tokio::test]
async fn no_variable_of_a_plugin_chooses_which_program_a_name_is() {
    let fixture =
        Setup::new().processes("programs = [\"id\", \"sh\"]\nenvironment = [\"*\"]").workspace("").open().await;
    let plant = "printf '#!/bin/sh\\necho planted\\n' > id; chmod +x id; ./id";
    let start = |arguments| fixture.call("hostile__start_process", arguments);
    for (arguments, printed) in [
        (json!({"program": "sh", "arguments": ["-c", plant]}), "planted"),
        (json!({"program": "id", "environment": {"PATH": "/workspace"}}), "uid="),
        (json!({"program": "sh", "arguments": ["-c", "id"], "environment": {"PATH": "/workspace"}}), "planted"),
    ] {
        let started = found(start(arguments).await);
        let id = started["ok"]["id"].as_str().unwrap_or_else(|| panic!("{started}"));
        ended(&fixture, &here(), id).await;
        let polled = ask(&fixture, &here(), "poll", id, json!({"number": 4_096})).await;
        assert!(polled["ok"]["stdout"].as_str().is_some_and(|text| text.starts_with(printed)), "{printed}: {polled}");
    }
}

#[tokio::test]
async fn what_the_operator_lets_processes_read_they_read_and_do_not_write() {
    let folder = Data::alone();
    folder.write("readable", "for all");
    let path = folder.path().display().to_string();
    // The process has to get there as any user.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let fixture = Setup::new().processes(&format!("shell = true\nreadable = [\"{path}\"]")).open().await;
    let tried =
        printed(&fixture, &here(), &format!("cat {path}/readable; echo no > {path}/readable; echo no > {path}/new"))
            .await;
    assert!(tried.starts_with("for all"), "{tried}");
    assert_eq!(std::fs::read_to_string(folder.path().join("readable")).expect("is there"), "for all");
    assert!(!folder.path().join("new").exists());
    let bare = Setup::new().processes("shell = true").open().await;
    assert!(!printed(&bare, &here(), &format!("cat {path}/readable")).await.starts_with("for all"));
}
