//! What somebody does to the files, and what `wharf audit verify` says of it.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use wharf::audit::directory;
use wharf_tests::{Client, Data, Finished, Setup, wharf};

/// As `openssl genpkey -algorithm ed25519` writes it, for this test alone; and its public half.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIG8h9ahOtQTEuV1RAPBda3fLMfbSBZa4u3lMC+kRS88c\n-----END PRIVATE KEY-----\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAIVEhuOAerr/GlAhrUonZnV+waAnGRrJDIh+8PgRr5m0=\n-----END PUBLIC KEY-----\n";

/// A data directory on which hosts have served, of which one was killed.
fn served(tables: &str) -> Data {
    let data = Data::new();
    data.write_private("key.pem", KEY);
    let configuration = data.write("wharf.toml", Setup::new().with_tables(tables).text());
    let host = || Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    let call = |client: &mut Client| {
        for _ in 0..5 {
            client.call("echo__echo", json!({"text": "x"}), json!({}));
        }
    };
    let mut first = host();
    call(&mut first);
    assert_eq!(first.leave().2, Some(0));
    let mut killed = host();
    call(&mut killed);
    killed.kill();
    let mut last = host();
    call(&mut last);
    assert_eq!(last.leave().2, Some(0));
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
    let data = served("");
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

/// A line of another century, without its chain.
fn bare(line: &str) -> String {
    let content = line.split(r#","chain":"#).next().expect("a line").replacen(r#"{"time":"20"#, r#"{"time":"19"#, 1);
    format!("{content}}}")
}

#[test]
fn what_a_key_of_the_operator_signed_is_told() {
    let data = served("[audit]\nkey = \"key.pem\"");
    let public = data.write("key.pub", PUBLIC);
    let public = public.to_str().expect("a path");
    let signed = verify(&data, &["--key", public]);
    let file = fs::read_to_string(files(&data).remove(0)).expect("text");
    let lines = file.lines().count();
    assert!(
        signed.code == Some(0) && signed.out.contains(&format!("{lines} of {lines} lines are signed")),
        "{signed:?}"
    );
    // What can write the files can take all chains out: it looks like a file of an earlier version.
    let path = files(&data).remove(0);
    let bare: String = file.lines().map(|line| bare(line) + "\n").collect();
    fs::write(&path, bare).expect("written");
    assert_eq!(verify(&data, &[]).code, Some(0));
    let stripped = verify(&data, &["--key", public]);
    assert!(stripped.code == Some(1) && stripped.out.contains("no line has a signature of the key"), "{stripped:?}");
    let before = verify(&data, &["--key", public, "--signed-since", "2999-01-01T00:00:00Z"]);
    assert_eq!(before.code, Some(0), "{before:?}");
    fs::remove_file(&path).expect("removed");
    let gone = verify(&data, &["--key", public]);
    assert!(gone.code == Some(1) && gone.out.contains("no line is there that the key could have signed"), "{gone:?}");
    assert_eq!(verify(&data, &[]).code, Some(0));

    let wrong = verify(&data, &["--key", data.write("none.pub", "no key").to_str().expect("a path")]);
    assert!(wrong.code == Some(3) && wrong.err.contains("openssl genpkey"), "{wrong:?}");

    // No host serves without the key that it is to sign with.
    let open = data.write("open.pem", KEY);
    let configuration = data.write("wharf.toml", Setup::new().with_tables("[audit]\nkey = \"open.pem\"").text());
    let refused = wharf(["serve", "--stdio"]).config(&configuration).data(data.path()).run();
    assert!(refused.code == Some(3) && refused.err.contains("chmod 600"), "{open:?}: {refused:?}");
    let checked = wharf(["config", "check"]).config(&configuration).data(data.path()).run();
    assert!(checked.code == Some(3) && checked.err.contains("chmod 600"), "{checked:?}");
}
