//! The files of a session, and nothing else of the host's files.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};
use wharf_tests::{Data, Fixture, Setup, context, found};

use super::{ended, here, printed, shell};

async fn attack(fixture: &Fixture, tool: &str, arguments: Value) -> Value {
    found(fixture.call(&format!("hostile__{tool}"), arguments).await)
}

async fn create(fixture: &Fixture) -> Value {
    attack(fixture, "ask_workspace", json!({"function": "create"})).await
}

#[tokio::test]
async fn reading_makes_nothing_and_writing_makes_the_workspace_first() {
    let fixture = Setup::new().workspace("").open().await;
    let files = attack(&fixture, "ask_workspace", json!({"function": "files"})).await;
    assert_eq!(files["ok"], json!({"path": "/workspace", "shown": "/workspace", "exists": false, "writable": true}));
    assert_eq!(attack(&fixture, "list_directory", json!({"path": "/workspace"})).await["reached"], false);
    assert!(!fixture.data.path().join("workspaces").exists());
    assert_eq!(create(&fixture).await["ok"]["exists"], true);
    assert_eq!(attack(&fixture, "write_file", json!({"path": "/workspace/file"})).await["reached"], true);
    assert_eq!(attack(&fixture, "list_directory", json!({"path": "/workspace"})).await["found"], json!(["file"]));
}

#[tokio::test]
async fn no_path_no_link_and_no_special_file_leads_out() {
    let fixture = Setup::new().workspace("").processes("shell = true").open().await;
    let secret = fixture.data.write("secret", "secret");
    let made = printed(
        &fixture,
        &here(),
        "ln -s /etc/passwd absolute; ln -s ../../../secret relative; ln -s / root; ln -s /proc/self/root proc; \
         ln -s .. up; mkfifo fifo; mkdir sub; ln -s ../sub sub/loop; ln -s self self; echo ok",
    )
    .await;
    assert_eq!(made, "ok\n");
    let secret = secret.to_str().expect("a path");
    let paths = [
        secret.to_owned(),
        "/etc/passwd".to_owned(),
        "../secret".to_owned(),
        "/workspace/../../secret".to_owned(),
        "/workspace/sub/../../../../secret".to_owned(),
    ];
    let links =
        ["absolute", "relative", "root/etc/passwd", "proc/etc/passwd", "up/session.json", "fifo", "self", "sub/loop"];
    let paths: Vec<_> = paths.into_iter().chain(links.map(|link| format!("/workspace/{link}"))).collect();
    for path in &paths {
        for tool in ["read_file", "write_file", "make_directory"] {
            let report = attack(&fixture, tool, json!({"path": path})).await;
            assert_eq!(report["reached"], false, "{tool} {path}: {report}");
        }
    }
    for (from, to) in [("/workspace/absolute", "/tmp/moved"), ("/workspace/../secret", "/workspace/taken")] {
        let report = attack(&fixture, "rename_file", json!({"path": from, "to": to})).await;
        assert_eq!(report["reached"], false, "{from} -> {to}: {report}");
    }
    assert_eq!(fs::read_to_string(secret).expect("is there"), "secret");
}

#[tokio::test]
async fn sessions_and_tenants_have_files_of_their_own() {
    let fixture = Setup::new().workspace("").processes("shell = true").open().await;
    printed(&fixture, &here(), "echo mine > file").await;
    for stranger in [context("local", "another"), context("another", "test")] {
        assert_eq!(
            printed(&fixture, &stranger, "ls -A; cat file 2>/dev/null; ls -d /workspace/../*/files 2>/dev/null").await,
            ""
        );
        let read = found(fixture.call_in(&stranger, "hostile__read_file", json!({"path": "/workspace/file"})).await);
        assert_eq!(read["reached"], false);
    }
}

#[tokio::test]
async fn who_may_only_read_changes_nothing() {
    let writing = Setup::new().workspace("");
    let fixture = writing.open().await;
    create(&fixture).await;
    attack(&fixture, "write_file", json!({"path": "/workspace/file"})).await;
    let Fixture { host, data } = fixture;
    drop(host);
    let reading = Setup::new().workspace("access = \"read\"").open_in(data).await;
    assert_eq!(attack(&reading, "read_file", json!({"path": "/workspace/file"})).await["found"], "hostile");
    assert_eq!(create(&reading).await["refused"]["code"], "denied");
    for (tool, arguments) in [
        ("write_file", json!({"path": "/workspace/file"})),
        ("write_file", json!({"path": "/workspace/new"})),
        ("make_directory", json!({"path": "/workspace/new"})),
        ("remove_file", json!({"path": "/workspace/file"})),
        ("rename_file", json!({"path": "/workspace/file", "to": "/workspace/other"})),
    ] {
        assert_eq!(attack(&reading, tool, arguments.clone()).await["reached"], false, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn exchange_folders_are_those_that_the_operator_named() {
    let folders = Data::alone();
    for folder in ["in", "out"] {
        fs::create_dir(folders.path().join(folder)).expect("makes");
    }
    fs::write(folders.path().join("in/report"), "from outside").expect("writes");
    fs::write(folders.path().join("secret"), "secret").expect("writes");
    symlink("../secret", folders.path().join("in/link")).expect("links");
    let at = |name: &str| folders.path().join(name).display().to_string();
    let grant = format!(
        "exchange = [{{name = \"in\", path = \"{}\"}}, {{name = \"out\", path = \"{}\", access = \"write\"}}, \
         {{name = \"gone\", path = \"/nowhere\"}}]",
        at("in"),
        at("out")
    );
    let fixture = Setup::new().workspace(&grant).open().await;
    let listed = attack(&fixture, "ask_workspace", json!({"function": "exchange"})).await;
    let names: Vec<_> = listed["ok"].as_array().expect("a list").iter().map(|folder| folder[0].as_str()).collect();
    assert_eq!(names, [Some("in"), Some("out"), Some("gone")]);
    assert_eq!((&listed["ok"][0][1]["writable"], &listed["ok"][2][1]["exists"]), (&json!(false), &json!(false)));
    assert_eq!(attack(&fixture, "read_file", json!({"path": "/exchange/in/report"})).await["found"], "from outside");
    for (tool, path) in [
        ("write_file", "/exchange/in/report"),
        ("read_file", "/exchange/in/link"),
        ("read_file", "/exchange/in/../secret"),
        ("read_file", "/exchange/secret"),
        ("list_directory", "/exchange"),
    ] {
        assert_eq!(attack(&fixture, tool, json!({"path": path})).await["reached"], false, "{tool} {path}");
    }
    assert_eq!(attack(&fixture, "write_file", json!({"path": "/exchange/out/made"})).await["reached"], true);
    assert_eq!(fs::read_to_string(folders.path().join("out/made")).expect("was written"), "hostile");
}

#[tokio::test]
async fn a_workspace_that_is_full_takes_no_more_and_gives_files_up() {
    let setup = Setup::new().workspace("").processes("shell = true").process_limit("workspace_bytes", 4 << 20);
    let fixture = setup.open().await;
    let id =
        shell(&fixture, &here(), "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > file$i || exit 9; done")
            .await;
    let end = ended(&fixture, &here(), &id).await;
    assert_eq!((&end["outcome"]["kind"], &end["outcome"]["reason"]), (&json!("killed"), &json!("quota")), "{end}");
    assert!(end["meta"].as_str().is_some_and(|meta| meta.contains("explanation") && meta.contains("session")), "{end}");
    let refused = attack(&fixture, "write_file", json!({"path": "/workspace/new"})).await;
    assert_eq!(refused["reached"], false, "{refused}");
    let made = attack(&fixture, "make_directory", json!({"path": "/workspace/folder"})).await;
    assert_eq!(made["reached"], false, "{made}");
    // Another session has room of its own.
    let other = context("local", "another");
    assert_eq!(printed(&fixture, &other, "echo room > file && cat file").await, "room\n");
    let listed = attack(&fixture, "list_directory", json!({"path": "/workspace"})).await;
    for name in listed["found"].as_array().expect("a list") {
        let path = format!("/workspace/{}", name.as_str().expect("a name"));
        assert_eq!(attack(&fixture, "remove_file", json!({"path": path})).await["reached"], true);
    }
    let usage = attack(&fixture, "ask_workspace", json!({"function": "usage"})).await;
    assert!(usage["ok"]["bytes"].as_u64().is_some_and(|bytes| bytes < 1 << 20), "{usage}");
    assert_eq!(attack(&fixture, "write_file", json!({"path": "/workspace/new"})).await["reached"], true);
}

#[tokio::test]
async fn a_guest_that_writes_without_end_fills_its_quota_and_no_disk() {
    let setup = Setup::new().workspace("").process_limit("workspace_bytes", 8 << 20);
    let fixture = setup.limit("host_call_total_bytes", 4 << 30).open().await;
    create(&fixture).await;
    // File after file, until the host has measured.
    let mut written = 0_u64;
    loop {
        let path = format!("/workspace/file{written}");
        let report = fixture.call("hostile__write_much", json!({"path": path, "bytes": 16 << 20})).await;
        if found(report)["reached"] == false {
            break;
        }
        written += 1;
        assert!(written < 500, "{written} files of 16 MiB");
    }
    assert_eq!(attack(&fixture, "remove_file", json!({"path": "/workspace/file0"})).await["reached"], true);
}
