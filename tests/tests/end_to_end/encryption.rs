//! What is on disk is encrypted where the operator names a key.

use std::{fs, path::Path};

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Setup, blocking, wharf};

/// What plugins, programs and terminals are told, and no file but those of sessions may show.
const SECRET: &str = "hunter2-of-the-tests";

/// Everything that a call answers.
fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments, json!({}));
    assert_eq!(answer["isError"], json!(false), "{answer}");
    answer
}

/// What a call of the hostile plugin reports.
fn report(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let answer = call(client, tool, arguments);
    let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    let report: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no report: {text}"));
    assert!(report["ok"].is_object(), "{report}");
    report["ok"].clone()
}

/// A data directory with the configuration of a host that encrypts.
struct Encrypted {
    data: Data,
    keys: Data,
}

impl Encrypted {
    fn new(is_encrypted: bool) -> Self {
        let (data, keys) = (Data::new(), Data::new());
        for key in ["a", "b"] {
            keys.write_private(key, key.repeat(64));
        }
        let encrypted = Self { data, keys };
        encrypted.configure(if is_encrypted { &["a"] } else { &[] });
        encrypted
    }

    /// Names these keys, the current one first.
    fn configure(&self, keys: &[&str]) {
        let setup =
            Setup::new().planning().processes("shell = true").terminals("programs = [\"sh\"]").workspace("").text();
        let mut text = format!("{setup}\n[terminal.recording]\nenabled = true\n");
        for (table, key) in ["key", "previous_key"].iter().zip(keys) {
            let path = self.keys.path().join(key);
            text.push_str(&format!("[encryption.{table}]\nfile = \"{}\"\n", path.display()));
        }
        self.keys.write("wharf.toml", text);
    }

    fn wharf<const N: usize>(&self, arguments: [&str; N]) -> Command {
        self.command(arguments).data(self.data.path())
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        wharf(arguments).config(&self.keys.path().join("wharf.toml"))
    }

    fn start(&self) -> Client {
        Client::connect(self.wharf(["serve", "--stdio", "--session", "s"]))
    }

    /// What a command prints; on standard error where it fails.
    fn said<const N: usize>(&self, arguments: [&str; N]) -> Result<String, String> {
        let finished = self.wharf(arguments).run();
        if finished.code == Some(0) { Ok(finished.out) } else { Err(finished.err) }
    }

    /// The files that show the secret, below the data directory.
    fn showing(&self) -> Vec<String> {
        let (mut found, mut open) = (Vec::new(), vec![self.data.path().to_owned()]);
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(next).expect("listed").flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("known"));
                let is_workspace = path.ends_with("workspaces");
                if kind.is_dir() && !is_workspace {
                    open.push(path);
                } else if kind.is_file() && shows(&path) {
                    found.push(path.strip_prefix(self.data.path()).expect("below").display().to_string());
                }
            }
        }
        found
    }

    fn recording(&self) -> String {
        let recordings = fs::read_dir(self.data.path().join("recordings")).expect("listed");
        let path = recordings.map(|entry| entry.expect("an entry").path()).next().expect("one");
        path.to_str().expect("text").to_owned()
    }
}

fn shows(path: &Path) -> bool {
    let bytes = fs::read(path).expect("read");
    bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
}

/// Has a plugin keep the secret, a program print it, and a terminal show it. Returns the id of the process.
fn fill(client: &mut Client) -> String {
    let kept = call(client, "planning__create_goal", json!({"goal": SECRET}));
    assert!(kept.to_string().contains(SECRET), "{kept}");
    // Its command is in the record of the process.
    let script = format!("echo printed {SECRET}; exec sleep 1000");
    let started = report(client, "hostile__start_process", json!({"shell": script}));
    let id = started["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let waited = json!({"function": "wait", "id": id, "number": 10_000, "text": SECRET});
    report(client, "hostile__ask_process", waited);
    let script = format!("echo shown {SECRET}; exec sleep 1000");
    report(client, "hostile__start_terminal", json!({"program": "sh", "arguments": ["-c", script]}));
    id
}

#[test]
fn no_file_but_those_of_sessions_shows_what_is_kept_printed_and_recorded_and_the_next_host_reads_it() {
    let encrypted = Encrypted::new(true);
    let mut client = encrypted.start();
    let id = fill(&mut client);
    blocking::until("the recording has what was shown", || {
        let recording = encrypted.said(["state", "read", &encrypted.recording()])?;
        if recording.contains(SECRET) { Ok(()) } else { Err(recording) }
    });
    assert_eq!(encrypted.showing(), [""; 0]);
    client.kill();
    assert_eq!(encrypted.showing(), [""; 0]);

    let mut client = encrypted.start();
    let goals = call(&mut client, "planning__get_current_state", json!({}));
    assert!(goals.to_string().contains(SECRET), "{goals}");
    let polled = report(&mut client, "hostile__ask_process", json!({"function": "poll", "id": id, "number": 100}));
    assert_eq!(polled["stdout"], format!("printed {SECRET}\n"), "{polled}");
    assert!(encrypted.said(["state", "export"]).expect("exported").contains(SECRET));
    let told = encrypted.said(["doctor"]).expect("all is well");
    assert!(told.contains("encrypted on disk; in the clear stay the files of sessions"), "{told}");
}

#[test]
fn a_data_directory_is_encrypted_gets_another_master_key_is_restored_and_decrypted() {
    let encrypted = Encrypted::new(false);
    let mut client = encrypted.start();
    fill(&mut client);
    assert_eq!(client.leave().2, Some(0));
    let in_clear = encrypted.showing();
    assert!(in_clear.iter().any(|path| path.starts_with("state.sqlite3")), "{in_clear:?}");
    assert!(in_clear.iter().any(|path| path.starts_with("recordings")), "{in_clear:?}");

    encrypted.configure(&["a"]);
    for refused in [encrypted.said(["serve", "--stdio"]), encrypted.said(["state", "usage"])] {
        assert!(refused.as_ref().is_err_and(|told| told.contains("`wharf state rekey` encrypts it")), "{refused:?}");
    }
    let said = encrypted.said(["state", "rekey"]).expect("encrypted");
    assert!(said.contains("encrypted under a new data key") && said.contains("In the clear stay"), "{said}");
    assert_eq!(encrypted.showing(), [""; 0]);
    let mut client = encrypted.start();
    assert!(call(&mut client, "planning__get_current_state", json!({})).to_string().contains(SECRET));
    let refused = encrypted.said(["state", "rekey"]).expect_err("a host serves");
    assert!(refused.contains("stop them first"), "{refused}");
    assert_eq!(client.leave().2, Some(0));

    encrypted.configure(&["b"]);
    let refused = encrypted.said(["state", "usage"]).expect_err("another key");
    assert!(refused.contains("needs the master key"), "{refused}");
    encrypted.configure(&["b", "a"]);
    encrypted.said(["state", "rekey"]).expect("encrypted anew");
    encrypted.configure(&["b"]);
    let exported = encrypted.said(["state", "export"]).expect("exported");
    assert!(exported.contains(SECRET));

    let backup = encrypted.keys.path().join("backup");
    let backup = backup.to_str().expect("text");
    let said = encrypted.said(["backup", backup]).expect("a backup");
    assert!(said.contains("the master key of [encryption] is not in the backup"), "{said}");
    assert!(!shows(Path::new(backup)));
    let elsewhere = Data::new();
    let to = elsewhere.path().join("restored");
    let restore = |key| {
        encrypted.configure(&[key]);
        let finished = encrypted.command(["restore", backup]).data(&to).run();
        (finished.code == Some(0), finished.err)
    };
    let (is_restored, told) = restore("a");
    assert!(!is_restored && told.contains("nothing was restored") && told.contains("needs the master key"), "{told}");
    assert!(!to.exists());
    assert!(restore("b").0);
    assert_eq!(encrypted.command(["state", "export"]).data(&to).run().out, exported);

    encrypted.said(["state", "rekey", "--decrypt"]).expect("decrypted");
    let refused = encrypted.said(["serve", "--stdio"]).expect_err("it is in the clear now");
    assert!(refused.contains("is in the clear"), "{refused}");
    encrypted.configure(&[]);
    assert_eq!(encrypted.said(["state", "export"]).expect("exported"), exported);
    assert!(encrypted.showing().iter().any(|path| path.starts_with("recordings")));
}

#[test]
fn a_key_that_is_missing_short_or_open_to_others_keeps_a_host_from_starting_and_is_not_printed() {
    let encrypted = Encrypted::new(true);
    encrypted.said(["call", "planning__create_goal", r#"{"goal":"x"}"#]).expect("called");
    let key = encrypted.keys.path().join("a");
    fs::remove_file(&key).expect("removed");
    let refused = |words: &str| {
        let told = encrypted.said(["serve", "--stdio"]).expect_err(words);
        assert!(told.contains(words) && told.contains("[encryption.key]"), "{words}: {told}");
        told
    };
    refused("cannot read");
    encrypted.keys.write_private("a", "much too short");
    assert!(!refused("at least 32 random characters").contains("much too short"));
    encrypted.keys.write_private("a", "a".repeat(64));
    #[cfg(unix)]
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("changed");
    refused("chmod 600");
    encrypted.configure(&[]);
    let told = encrypted.said(["serve", "--stdio"]).expect_err("no key");
    assert!(told.contains("says that this data directory is encrypted"), "{told}");
}
