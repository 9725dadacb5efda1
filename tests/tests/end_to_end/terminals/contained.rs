//! A terminal is a child like any other: in the workspace of its session, and
//! nowhere else.

use serde_json::{Value, json};
use wharf_tests::{Data, Setup, context, found};

use super::{here, ok, said, shell};

#[tokio::test]
async fn a_shell_reads_and_writes_its_workspace_and_nothing_beside_it() {
    let fixture = Setup::new().terminals("shell = true").workspace("").processes("shell = true").open().await;
    let id = shell(&fixture, &here()).await;
    let status = ok(&fixture, &here(), "status", "", json!({})).await;
    let status: Value = serde_json::from_str(status.as_str().expect("a text")).expect("JSON");
    let (text, _) = said(&fixture, &here(), &id, "pwd; echo kept > file").await;
    assert!(text.contains(status["directory"].as_str().expect("a path")), "{text}");
    let read = found(fixture.call("hostile__read_file", json!({"path": "/workspace/file"})).await);
    assert_eq!(read["found"], "kept\n");

    // Not a file beside the workspace, though any user may read it there.
    let beside = fixture.data.write("beside", "hidden words");
    std::fs::set_permissions(fixture.data.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let (text, turn) = said(&fixture, &here(), &id, &format!("cat {}", beside.display())).await;
    assert!(!text.contains("hidden words") && turn["complete"]["code"] != 0, "{turn}: {text}");
    let (text, _) = said(&fixture, &here(), &id, &format!("ls -a {}", fixture.data.path().display())).await;
    let shown = |name: &str| text.lines().any(|line| line.split_whitespace().any(|word| word == name));
    assert!(!["beside", "state", "workspaces", "cache"].into_iter().any(shown), "{text}");
    let (_, turn) = said(&fixture, &here(), &id, &format!("kill -0 {}", std::process::id())).await;
    assert_ne!(turn["complete"]["code"], 0, "the host is out of reach: {turn}");
    let (text, turn) = said(&fixture, &here(), &id, "exec 3<>/dev/tcp/127.0.0.1/1").await;
    assert_ne!(turn["complete"]["code"], 0, "there is no network: {text}");

    // Another session has files of its own.
    let other = context("local", "another");
    let id = shell(&fixture, &other).await;
    let (text, turn) = said(&fixture, &other, &id, "cat file").await;
    assert!(!text.contains("kept") && turn["complete"]["code"] != 0, "{turn}: {text}");
}

#[tokio::test]
async fn what_the_operator_lets_terminals_read_they_read_and_do_not_write() {
    let folder = Data::alone();
    folder.write("readable", "for all");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let path = folder.path().display().to_string();
    let fixture = Setup::new().terminals(&format!("shell = true\nreadable = [\"{path}\"]")).open().await;
    let id = shell(&fixture, &here()).await;
    let (text, _) = said(&fixture, &here(), &id, &format!("cat {path}/readable")).await;
    assert!(text.contains("for all"), "{text}");
    let (_, turn) = said(&fixture, &here(), &id, &format!("echo no > {path}/readable")).await;
    assert_ne!(turn["complete"]["code"], 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("readable")).expect("is there"), "for all");
}

#[tokio::test]
async fn what_a_session_may_use_up_holds_for_its_terminals() {
    let setup = Setup::new().terminals("shell = true").process_limit("file_size_bytes", 100_000);
    let fixture = setup.process_limit("open_files", 64).process_limit("workspace_bytes", 4 << 20).open().await;
    let id = shell(&fixture, &here()).await;
    let (text, _) = said(&fixture, &here(), &id, "head -c 100001 /dev/zero > file; wc -c < file; ulimit -n").await;
    assert!(text.contains("100000") && text.contains("64"), "{text}");
    // A session that fills its workspace loses what runs in it.
    let fill = "for i in $(seq 60); do head -c 100000 /dev/zero > file$i; done; sleep 1000";
    ok(&fixture, &here(), "send", &id, json!({"text": fill, "submit": true})).await;
    let info = super::until(&fixture, &here(), &id, |info| info["outcome"].is_object()).await;
    assert_eq!(info["outcome"]["reason"], "quota", "{info}");
}

#[tokio::test]
async fn a_terminal_is_not_started_where_the_workspace_is_full_and_one_that_was_ended_names_the_limit() {
    let fixture = Setup::new()
        .terminals("shell = true\nprograms = [\"sh\"]")
        .process_limit("workspace_bytes", 4 << 20)
        .open()
        .await;
    let id = super::script(&fixture, &here(), "head -c 8000000 /dev/zero > file; sleep 1000").await;
    let info = super::until(&fixture, &here(), &id, |info| info["outcome"].is_object()).await;
    let told = info["meta"].as_str().expect("a text");
    assert!(told.contains("`workspace_bytes`") && told.contains("this session"), "{info}");
    let script = json!({"program": "sh", "arguments": ["-c", "true"], "options": "{\"restart\": \"never\"}"});
    for arguments in [json!({}), script] {
        let started = found(fixture.call_in(&here(), "hostile__start_terminal", arguments).await);
        let refused = &started["refused"];
        assert_eq!(refused["code"], "limit", "{started}");
        assert!(refused["message"].as_str().is_some_and(|said| said.contains("`workspace_bytes`")), "{started}");
    }
    super::shell(&fixture, &context("local", "other")).await;
}

#[tokio::test]
async fn short_terminals_one_after_the_other_stop_where_the_workspace_is_full() {
    let fixture = Setup::new()
        .terminals("shell = true\nprograms = [\"sh\"]")
        .process_limit("workspace_bytes", 4 << 20)
        .open()
        .await;
    let id = super::script(&fixture, &here(), "head -c 8000000 /dev/zero > file").await;
    super::until(&fixture, &here(), &id, |info| info["outcome"].is_object()).await;
    let started = found(fixture.call_in(&here(), "hostile__start_terminal", json!({})).await);
    assert_eq!(started["refused"]["code"], "limit", "{started}");
}
