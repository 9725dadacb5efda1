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
    assert_eq!(fixture.data.workspaces(), 0);
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

/// What lies below a directory takes on disk.
fn on_disk(directory: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = fs::read_dir(directory).expect("is there").map(|entry| entry.expect("is there"));
    let sizes = entries.map(|entry| match entry.metadata().expect("is there") {
        metadata if metadata.is_dir() => on_disk(&entry.path()),
        metadata => metadata.blocks() * 512,
    });
    sizes.sum()
}

#[tokio::test]
async fn one_call_that_writes_without_end_stops_at_its_quota() {
    let setup = Setup::new().workspace("").process_limit("workspace_bytes", 8 << 20);
    let fixture = setup.limit("host_call_total_bytes", 4 << 30).open().await;
    create(&fixture).await;
    let report = attack(&fixture, "write_much", json!({"path": "/workspace/file", "bytes": 868 << 20})).await;
    assert_eq!(report["reached"], false, "{report}");
    let held = on_disk(&fixture.data.path().join("workspaces"));
    assert!((7 << 20..9 << 20).contains(&held), "{held} bytes");
    // A length is as good as data.
    let report = attack(&fixture, "set_length", json!({"path": "/workspace/long", "bytes": 1_u64 << 40})).await;
    assert_eq!(report["reached"], false, "{report}");
    // A guest that goes on is stopped.
    let going_on = json!({"path": "/workspace/other", "bytes": 100_000, "times": 1_000});
    let error = fixture.call("hostile__write_over", going_on).await.expect_err("it is stopped");
    assert!(error.code == wharf::Code::Limit && error.message.contains("workspace_bytes"), "{error}");
    assert_eq!(attack(&fixture, "remove_file", json!({"path": "/workspace/file"})).await["reached"], true);
    assert_eq!(attack(&fixture, "write_file", json!({"path": "/workspace/file"})).await["reached"], true);
}

#[tokio::test]
async fn a_file_that_is_written_again_and_again_counts_once_and_every_byte_counts_for_the_call() {
    let setup = Setup::new().workspace("").process_limit("workspace_bytes", 4 << 20);
    let fixture = setup.open().await;
    create(&fixture).await;
    let over = |times| json!({"path": "/workspace/file", "bytes": 2_000_000, "times": times});
    assert_eq!(attack(&fixture, "write_over", over(20)).await["failed"], 0, "it takes its room once");
    let error = fixture.call("hostile__write_over", over(40)).await.expect_err("it moved more than it may");
    assert!(error.code == wharf::Code::Limit && error.message.contains("host_call_total_bytes"), "{error}");
}

#[tokio::test]
async fn no_link_is_made_in_an_exchange_folder_and_none_is_moved_there() {
    let folders = Data::alone();
    fs::create_dir(folders.path().join("out")).expect("makes");
    fs::write(folders.path().join("out/report"), "the operator's").expect("writes");
    let grant = format!(
        "exchange = [{{name = \"out\", path = \"{}\", access = \"write\"}}]",
        folders.path().join("out").display()
    );
    let fixture = Setup::new().workspace(&grant).open().await;
    create(&fixture).await;
    attack(&fixture, "write_file", json!({"path": "/workspace/file"})).await;
    let made = attack(&fixture, "make_link", json!({"target": "file", "path": "/workspace/link"})).await;
    assert_eq!(made["reached"], true, "in the workspace it may be: {made}");
    for (tool, arguments) in [
        ("make_link", json!({"target": "../../etc/passwd", "path": "/exchange/out/link"})),
        ("make_link", json!({"target": "report", "path": "/exchange/out/link"})),
        ("make_link", json!({"target": "/exchange/out/report", "path": "/exchange/out/second", "hard": true})),
        ("make_link", json!({"target": "/exchange/out/report", "path": "/workspace/second", "hard": true})),
        ("make_link", json!({"target": "/workspace/file", "path": "/exchange/out/second", "hard": true})),
        ("rename_file", json!({"path": "/workspace/link", "to": "/exchange/out/link"})),
        ("rename_file", json!({"path": "/workspace/file", "to": "/exchange/out/file"})),
        ("rename_file", json!({"path": "/exchange/out/report", "to": "/workspace/taken"})),
    ] {
        assert_eq!(attack(&fixture, tool, arguments.clone()).await["reached"], false, "{tool} {arguments}");
    }
    let names: Vec<_> = fs::read_dir(folders.path().join("out"))
        .expect("is there")
        .map(|entry| entry.expect("is there").file_name())
        .collect();
    assert_eq!(names, ["report"]);
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
