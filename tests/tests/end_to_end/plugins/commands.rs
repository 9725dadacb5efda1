//! `wharf plugin` beside hosts that serve, and without one: the real binary at both ends.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use wharf_tests::{Client, Crafted, Data, Finished, Setup, bytes, wharf};

use super::{eventually, saying, seen, told, with_tools};

/// A data directory, a configuration, and components to add.
pub(crate) struct Place {
    pub(crate) data: Data,
    pub(crate) files: Data,
}

impl Place {
    pub(crate) fn new(setup: &Setup) -> Self {
        let files = Data::alone();
        files.write("wharf.toml", setup.text());
        files.write("greeter.wasm", saying(true));
        Self { data: Data::new(), files }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        wharf(arguments).config(&self.files.path().join("wharf.toml")).data(self.data.path()).run()
    }

    #[track_caller]
    pub(crate) fn ran(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ran(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], word: &str) {
        let run = self.run(arguments);
        assert!(run.code.is_some_and(|code| code != 0) && run.err.contains(word), "{arguments:?}: {run:?}");
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    /// A client of a host that serves here, once commands can reach that.
    pub(crate) fn serve(&self) -> Client {
        let before = self.json(&["plugin", "list"])["hosts"].as_u64().expect("a number");
        let config = self.files.path().join("wharf.toml");
        let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(self.data.path()));
        let counted = |_: &mut Client| self.json(&["plugin", "list"])["hosts"].as_u64() > Some(before);
        eventually(&mut client, "commands reach the host", counted);
        client
    }

    /// What became of a plugin, by `wharf plugin list`.
    pub(crate) fn state(&self, name: &str) -> Value {
        let listed = self.json(&["plugin", "list"]);
        let plugins = listed["plugins"].as_array().expect("a list");
        plugins.iter().find(|plugin| plugin["name"] == name).cloned().unwrap_or_default()
    }
}

fn says(client: &mut Client, tool: &str) -> String {
    let result = client.call(tool, json!({}), json!({}));
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

#[test]
fn the_list_shows_what_receipts_say_while_no_host_serves() {
    let place = Place::new(&Setup::bare().bundled("planning", ""));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let row = place.state("greeter");
    assert_eq!((&row["state"], &row["origin"]), (&json!("not-running"), &json!("added")), "{row}");
    assert_eq!(row["tools"], json!(["run"]), "{row}");
    assert_eq!(row["source"], json!(place.file("greeter.wasm")), "{row}");
    let digest = row["digest"].as_str().expect("a digest").to_owned();
    let listed = place.ran(&["plugin", "list"]);
    assert!(listed.contains(&digest[..19]) && listed.contains(&place.file("greeter.wasm")), "{listed}");
    assert!(place.state("planning")["digest"].is_string(), "{listed}");
    // What lies in the folder is listed, too, and known by its name.
    let folder = place.files.path().join("folder");
    std::fs::create_dir(&folder).expect("made");
    let dropped = folder.join("dropped.wasm");
    std::fs::copy(place.file("greeter.wasm"), &dropped).expect("copied");
    let text = format!("{}\n[plugins]\nfolder = \"folder\"\n", Setup::bare().bundled("planning", "").text());
    place.files.write("wharf.toml", text);
    let row = place.state("dropped");
    assert_eq!(
        (&row["origin"], &row["state"], &row["digest"]),
        (&json!("folder"), &json!("not-running"), &json!(digest))
    );
    assert_eq!(row["source"], json!(dropped), "{row}");
    place.ran(&["plugin", "info", "dropped"]);
    assert!(place.ran(&["plugin", "info", "greeter"]).contains(&digest));
}

#[test]
fn a_plugin_is_added_to_a_host_that_serves_replaced_and_removed_and_its_client_is_told_each_time() {
    let place = Place::new(&Setup::new());
    // A plugin that the host compiles while it serves is told, too.
    place.ran(&["tools"]);
    let mut client = place.serve();
    let before = seen(&mut client);
    assert_eq!(told(&client), 0);
    let added = place.json(&["plugin", "add", &place.file("greeter.wasm")]);
    assert_eq!(added["hosts"][0]["plugin"]["state"], "serving", "{added}");
    eventually(&mut client, "the client is told", |client| {
        client.request("ping", json!({}));
        told(client) == 1
    });
    assert!(seen(&mut client).contains(&"greeter__run".to_owned()));
    assert_eq!(says(&mut client, "greeter__run"), "yes");

    place.files.write("greeter.wasm", saying(false));
    let replaced = place.json(&["plugin", "update", "greeter"]);
    assert_eq!(replaced["receipt"]["replaced"], added["receipt"]["digest"], "{replaced}");
    assert_eq!(says(&mut client, "greeter__run"), "no", "the next call takes the new one");
    eventually(&mut client, "the client is told", |client| {
        client.request("ping", json!({}));
        told(client) == 2
    });
    place.ran(&["plugin", "update", "greeter"]);
    place.ran(&["plugin", "disable", "greeter"]);
    assert_eq!(seen(&mut client), before);
    assert_eq!(place.state("greeter")["state"], "disabled");
    place.ran(&["plugin", "enable", "greeter"]);
    assert_eq!(says(&mut client, "greeter__run"), "no");
    place.ran(&["plugin", "remove", "greeter"]);
    assert_eq!(seen(&mut client), before);
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        !place.data.path().join("hosts").read_dir().expect("is there").any(|_| true),
        "the socket goes with the host"
    );
    let kept = fs::read_dir(place.data.path().join("plugins/components")).expect("is there").count();
    assert_eq!(kept, 0, "nothing is kept of what was removed");
    let audit = place.ran(&["audit", "--json", "--kind", "change", "--plugin", "greeter"]);
    let lines = audit.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let words: Vec<_> = lines.map(|line| line["function"].as_str().expect("a word").to_owned()).collect();
    assert_eq!(words, ["loaded", "replaced", "unloaded", "loaded", "unloaded"], "{audit}");
}

#[test]
fn what_was_added_survives_a_restart_and_every_host_on_the_directory_is_told() {
    let place = Place::new(&Setup::new());
    let mut hosts = [place.serve(), place.serve()];
    let added = place.json(&["plugin", "add", &place.file("greeter.wasm")]);
    assert_eq!(added["hosts"].as_array().map(Vec::len), Some(2), "{added}");
    for host in &mut hosts {
        assert_eq!(says(host, "greeter__run"), "yes");
    }
    for host in hosts {
        drop(host.leave());
    }
    let mut later = place.serve();
    assert_eq!(says(&mut later, "greeter__run"), "yes");
    let receipt = place.json(&["plugin", "info", "greeter"])["receipt"].clone();
    assert_eq!(receipt, added["receipt"]);
    assert_eq!((&receipt["source"], &receipt["tools"]), (&json!(place.file("greeter.wasm")), &json!(["run"])));
    assert_eq!(receipt["bytes"], json!(saying(true).len()));
    assert!(
        receipt["added"].as_str().is_some_and(|when| when.ends_with('Z')) && receipt["by"] == "command",
        "{receipt}"
    );
    for code in place.data.path().join("plugins/components").read_dir().expect("is there") {
        let path = code.expect("readable").path();
        assert_eq!(fs::read(&path).expect("readable"), saying(true), "what was fetched is kept, and nothing else");
        assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o077, 0, "for nobody else");
    }
}

#[test]
fn without_a_host_commands_change_what_the_next_one_loads() {
    let place = Place::new(&Setup::new());
    let out = place.ran(&["plugin", "add", &place.file("greeter.wasm"), "--name", "polite"]);
    assert!(out.contains("Added polite") && out.contains("No host serves"), "{out}");
    assert_eq!(place.state("polite")["state"], "not-running");
    assert!(place.ran(&["tools"]).contains("polite__run"));
    place.ran(&["plugin", "disable", "polite"]);
    place.ran(&["plugin", "disable", "echo"]);
    let tools = place.ran(&["tools"]);
    assert!(!tools.contains("polite__run") && !tools.contains("echo__") && tools.contains("hostile__"), "{tools}");
    assert!(place.ran(&["plugin", "list"]).contains("disabled"));
    place.ran(&["plugin", "enable", "echo"]);
    assert!(place.ran(&["tools"]).contains("echo__"));
    place.ran(&["plugin", "remove", "polite"]);
    place.refused(&["plugin", "info", "polite"], "no plugin polite");
}

#[test]
fn what_cannot_be_added_is_refused_with_what_to_do_and_nothing_is_kept() {
    let place = Place::new(&Setup::new());
    let (good, bad) = (place.file("greeter.wasm"), place.files.write("bad.wasm", "no component"));
    let bad = bad.display().to_string();
    place.refused(&["plugin", "add", &good, "--name", "echo"], "[plugin.echo]");
    place.refused(&["plugin", "add", &good, "--name", "planning"], "part of this binary");
    place.refused(&["plugin", "add", &good, "--name", "app"], "choose another name");
    place.refused(&["plugin", "add", &good, "--name", "host"], "choose another name");
    place.refused(&["plugin", "add", &bad], "no Wasm component");
    place.refused(&["plugin", "add", &place.file("missing.wasm")], "cannot read");
    place.refused(&["plugin", "add", "http://example.com/x.wasm"], "https:");
    place.refused(&["plugin", "add", "ftp://example.com/x.wasm"], "not known");
    let other = wharf::Digest::of(b"another").to_string();
    place.refused(&["plugin", "add", &good, "--digest", &other], "nothing was changed");
    let large = place.files.write("Large Name.wasm", saying(true)).display().to_string();
    place.refused(&["plugin", "add", &large], "--name NAME");
    assert!(!place.data.path().join("plugins").exists());
    place.refused(&["plugin", "remove", "echo"], "wharf plugin disable echo");
    place.refused(&["plugin", "remove", "nothing"], "no plugin nothing was added");
    place.refused(&["plugin", "enable", "nothing"], "no plugin nothing");
    place.refused(&["plugin", "update", "nothing"], "no plugin nothing was added");
    place.ran(&["plugin", "add", &good]);
    place.refused(&["plugin", "add", &good], "wharf plugin update greeter");
}

#[test]
fn a_named_digest_holds_for_updates_too() {
    let place = Place::new(&Setup::new());
    let file = place.file("greeter.wasm");
    let (first, second) = (wharf::Digest::of(&saying(true)), wharf::Digest::of(&saying(false)));
    place.ran(&["plugin", "add", &file, "--digest", &first.to_string()]);
    place.files.write("greeter.wasm", saying(false));
    place.refused(&["plugin", "update", "greeter"], &second.to_string());
    assert_eq!(place.json(&["plugin", "info", "greeter"])["receipt"]["digest"], json!(first));
    place.ran(&["plugin", "update", "greeter", "--digest", &second.to_string()]);
    assert_eq!(place.json(&["plugin", "info", "greeter"])["receipt"]["digest"], json!(second));
}

#[test]
fn an_added_plugin_may_use_nothing_until_the_configuration_says_so_and_hosts_are_told() {
    let place = Place::new(&Setup::bare());
    place.files.write("late.wasm", bytes("guest-hostile"));
    let mut client = place.serve();
    let added = place.json(&["plugin", "add", &place.file("late.wasm")]);
    assert!(
        added["receipt"]["wanted_grants"].as_array().is_some_and(|wanted| wanted.contains(&json!("state"))),
        "{added}"
    );
    assert_eq!(added["receipt"]["grants"], json!([]));
    let put = json!({"scope": "session", "key": "k", "value": "v"});
    let denied = client.call("late__state_put", put.clone(), json!({}));
    assert!(denied["isError"] == true && denied.to_string().contains("denied"), "{denied}");
    let digest = wharf::Digest::of(&bytes("guest-hostile"));
    let granted = format!(
        "{}[plugin.late]\ndigest = \"{digest}\"\n[plugin.late.grants.state]\nreason = \"a test\"\n",
        Setup::bare().text()
    );
    place.files.write("wharf.toml", granted);
    let told = place.json(&["plugin", "update", "late"]);
    assert_eq!(told["hosts"][0]["plugin"]["grants"], json!(["state"]), "{told}");
    let done = client.call("late__state_put", put, json!({}));
    assert_ne!(done["isError"], true, "{done}");
    // A configuration that cannot be used leaves the one before, and says so.
    place.files.write("wharf.toml", "nonsense = 1");
    let config = Data::alone();
    let other = config.write("wharf.toml", Setup::bare().text());
    let run = wharf(["plugin", "update", "late"]).config(&other).data(place.data.path()).run();
    assert!(run.err.contains("nonsense"), "{run:?}");
    drop(client.leave());
}

#[test]
fn a_plugin_of_the_same_name_in_the_configuration_comes_first() {
    let place = Place::new(&Setup::new());
    place.ran(&["plugin", "add", &place.file("greeter.wasm"), "--name", "late"]);
    let path = place.files.write("other.wasm", with_tools(&["walk"]));
    place.files.write("wharf.toml", Setup::new().plugin("late", &path, "").text());
    let tools = place.run(&["tools"]);
    assert!(tools.out.contains("late__walk") && !tools.out.contains("late__run"), "{tools:?}");
    assert!(tools.err.contains("wharf plugin remove late"), "{tools:?}");
}

#[test]
fn two_commands_at_once_lose_nothing_of_each_other() {
    let place = Place::new(&Setup::new());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let name = format!("late-{number}");
                place.ran(&["plugin", "add", &place.file("greeter.wasm"), "--name", &name]);
            });
        }
    });
    let tools = place.ran(&["tools"]);
    assert!((0..4).all(|number| tools.contains(&format!("late-{number}__run"))), "{tools}");
}

#[test]
fn a_download_is_taken_from_this_machine_and_checked() {
    use std::io::{Read as _, Write as _};
    let place = Place::new(&Setup::new());
    let component = Crafted::default().bytes();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = format!("http://{}/get/greeter.wasm", listener.local_addr().expect("bound"));
    let served = component.clone();
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().expect("a client");
            let _ = stream.read(&mut [0; 4096]).expect("a request");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", served.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&served)).expect("taken");
        }
    });
    let other = wharf::Digest::of(b"another").to_string();
    place.refused(&["plugin", "add", &address, "--digest", &other], "nothing was changed");
    let digest = wharf::Digest::of(&component).to_string();
    let added = place.json(&["plugin", "add", &address, "--digest", &digest]);
    server.join().expect("served");
    assert_eq!((&added["receipt"]["name"], &added["receipt"]["source"]), (&json!("greeter"), &json!(address)));
    assert!(place.ran(&["tools"]).contains("greeter__run"));
}
