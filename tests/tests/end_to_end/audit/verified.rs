//! What somebody does to the files, and what `wharf audit verify` says of it.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use wharf::audit::directory;
use wharf_tests::{Client, Data, Finished, Setup, wharf};

/// A data directory on which hosts have served, of which one was killed.
fn served() -> Data {
    let data = Data::new();
    let configuration = data.write("wharf.toml", Setup::new().text());
    let host = || Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    let call = |client: &mut Client| {
        for _ in 0..5 {
            client.call("echo__echo", json!({"text": "x"}), json!({}));
        }
    };
    let mut first = host();
    call(&mut first);
    first.leave();
    let mut killed = host();
    call(&mut killed);
    killed.kill();
    let mut last = host();
    call(&mut last);
    last.leave();
    data
}

fn verify(data: &Data, more: &[&str]) -> Finished {
    wharf([&["audit", "verify"], more].concat()).data(data.path()).run()
}

fn files(data: &Data) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory(data.path())).expect("a directory");
    entries.map(|entry| entry.expect("readable").path()).collect()
}

#[test]
fn what_somebody_did_to_the_lines_is_told_with_its_place() {
    let data = served();
    let whole = verify(&data, &[]);
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), ""), "{whole:?}");
    assert!(whole.out.contains("nothing was changed, taken out or cut off"), "{whole:?}");
    let told: Value = serde_json::from_str(&verify(&data, &["--json"]).out).expect("JSON");
    assert_eq!(told["whole"], json!(true));
    let chain = told["files"][0]["chain"].as_str().expect("a chain").to_owned();
    assert_eq!(verify(&data, &["--chain", &chain]).code, Some(0));
    assert_eq!(verify(&data, &["--chain", "beef"]).code, Some(2));

    let file = files(&data).remove(0);
    let text = fs::read_to_string(&file).expect("text");
    let lines: Vec<_> = text.lines().collect();
    let without: Vec<_> = lines.iter().enumerate().filter(|(at, _)| *at != 3).map(|(_, line)| *line).collect();
    fs::write(&file, without.join("\n") + "\n").expect("written");
    let cut = verify(&data, &[]);
    assert!(cut.code == Some(1) && cut.out.contains("line 4 was changed, or lines before it are gone"), "{cut:?}");

    fs::write(&file, lines[..lines.len() - 1].join("\n") + "\n").expect("written");
    assert_eq!(verify(&data, &[]).code, Some(0), "by the file alone nobody can tell");
    let lost = verify(&data, &["--chain", &chain]);
    assert!(lost.code == Some(1) && lost.out.contains(&chain), "{lost:?}");
    // What is read otherwise is the same.
    let shown = wharf(["audit", "--json"]).data(data.path()).run();
    assert!(shown.code == Some(0) && !shown.out.contains("\"kind\":\"begin\""), "{shown:?}");
}
