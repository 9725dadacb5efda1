//! Files that come in and go out by the folders that the operator named.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;
use wharf_tests::{Data, Fixture, Setup};

use super::{ask, refused, run};

async fn open(folders: &Data) -> Fixture {
    for name in ["in", "out"] {
        fs::create_dir(folders.path().join(name)).expect("made");
    }
    let at = |name: &str| folders.path().join(name).display().to_string();
    let grants = format!(
        "[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\n\
         [plugin.workspace.grants.workspace]\nreason = \"a test\"\n\
         exchange = [{{name = \"in\", path = '{}'}}, {{name = \"out\", path = '{}', access = \"write\"}}, \
         {{name = \"gone\", path = '{}'}}]",
        at("in"),
        at("out"),
        at("gone")
    );
    Setup::new().bundled("workspace", &grants).open().await
}

#[tokio::test]
async fn a_file_comes_in_is_worked_on_and_goes_out() {
    let folders = Data::alone();
    let fixture = open(&folders).await;
    fs::write(folders.path().join("in/요금표.csv"), "ship,3\nboat,1\n").expect("written");
    let from = json!({"exchange": "in", "path": "요금표.csv", "to": "data/"});
    let copied = ask(&fixture, "import_file", from.clone()).await;
    assert_eq!((&copied.structured["to"], &copied.structured["bytes"]), (&json!("data/요금표.csv"), &json!(14)));
    assert_eq!(run(&fixture, "sort data/요금표.csv > sorted").await.structured["exit_code"], 0);
    ask(&fixture, "export_file", json!({"path": "sorted", "exchange": "out", "to": "results/sorted.csv"})).await;
    assert_eq!(
        fs::read_to_string(folders.path().join("out/results/sorted.csv")).expect("is there"),
        "boat,1\nship,3\n"
    );
    // A file that exists stays, unless `overwrite` is given.
    let refusal = refused(&fixture, "import_file", from.clone()).await;
    assert!(refusal.starts_with("conflict") && refusal.contains("`overwrite`"), "{refusal}");
    let again = json!({"path": "data/요금표.csv", "exchange": "out", "to": "results/sorted.csv"});
    let refusal = refused(&fixture, "export_file", again.clone()).await;
    assert!(refusal.contains("`overwrite`"), "{refusal}");
    let mut over = again;
    over["overwrite"] = json!(true);
    assert_eq!(ask(&fixture, "export_file", over).await.structured["overwritten"], true);
    assert_eq!(
        fs::read_to_string(folders.path().join("out/results/sorted.csv")).expect("is there"),
        "ship,3\nboat,1\n"
    );
    let left: Vec<_> = fs::read_dir(folders.path().join("out/results")).expect("read").collect();
    assert_eq!(left.len(), 1, "no half of a copy is left: {left:?}");
}

#[tokio::test]
async fn a_file_of_more_than_an_ordinary_call_may_move_is_copied() {
    let folders = Data::alone();
    let fixture = open(&folders).await;
    fs::File::create(folders.path().join("in/large")).and_then(|file| file.set_len(80 << 20)).expect("made");
    let copied = ask(&fixture, "import_file", json!({"exchange": "in", "path": "large"})).await;
    assert_eq!(copied.structured["bytes"], 80 << 20);
}

#[tokio::test]
async fn a_name_that_is_not_there_is_answered_with_those_that_are() {
    let folders = Data::alone();
    let fixture = open(&folders).await;
    fs::write(folders.path().join("in/report"), "report").expect("written");
    run(&fixture, "echo x > file; mkfifo pipe").await;
    for (tool, arguments, words) in [
        ("import_file", json!({"exchange": "no", "path": "report"}), vec!["`in`, `out`, `gone`"]),
        ("import_file", json!({"exchange": "in", "path": "reprot"}), vec!["it has: report"]),
        ("import_file", json!({"exchange": "gone", "path": "x"}), vec!["does not exist now"]),
        ("import_file", json!({"exchange": "in", "path": "../out/x"}), vec!["leads out"]),
        ("import_file", json!({"exchange": "in", "path": "report", "to": "../x"}), vec!["leads out"]),
        ("export_file", json!({"path": "file", "exchange": "in"}), vec!["for reading only"]),
        ("export_file", json!({"path": "nope", "exchange": "out"}), vec!["not-found"]),
        ("export_file", json!({"path": "pipe", "exchange": "out"}), vec!["regular files"]),
        ("export_file", json!({"path": "file", "exchange": "out", "to": "../x"}), vec!["leads out"]),
    ] {
        let refusal = refused(&fixture, tool, arguments.clone()).await;
        for word in words {
            assert!(refusal.contains(word), "{tool} {arguments}: {refusal}");
        }
    }
    assert_eq!(fs::read_dir(folders.path().join("out")).expect("read").count(), 0);
    assert!(!folders.path().join("x").exists());
}

#[tokio::test]
async fn a_folder_shows_what_is_in_it_and_nothing_beside_it() {
    let folders = Data::alone();
    let fixture = open(&folders).await;
    let secret = folders.write("secret", "secret");
    symlink("../secret", folders.path().join("in/relative")).expect("made");
    symlink(&secret, folders.path().join("in/absolute")).expect("made");
    symlink("..", folders.path().join("out/up")).expect("made");
    run(&fixture, "echo forged > file; ln -s /etc/passwd link").await;
    for (tool, arguments) in [
        ("import_file", json!({"exchange": "in", "path": "relative"})),
        ("import_file", json!({"exchange": "in", "path": "absolute"})),
        ("export_file", json!({"path": "file", "exchange": "out", "to": "up/secret", "overwrite": true})),
        ("export_file", json!({"path": "link", "exchange": "out"})),
    ] {
        let refusal = refused(&fixture, tool, arguments.clone()).await;
        assert!(refusal.contains("symbolic link"), "{tool} {arguments}: {refusal}");
    }
    assert_eq!(fs::read_to_string(secret).expect("is there"), "secret");
    // A command sees none of them.
    let done = run(&fixture, &format!("cat '{}' /exchange/in/*", folders.path().join("in/relative").display())).await;
    assert!(done.structured["exit_code"] != 0 && !done.text.contains("secret\n"), "{done:?}");
}
