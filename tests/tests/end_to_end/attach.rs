//! The operator's way to the terminals of hosts that run: `wharf terminals` and
//! `wharf attach`.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use serde_json::{Value, json};
use wharf_tests::{Command, Data, Finished, Server, Setup, blocking, keep_log, start, wharf};

fn shells() -> Setup {
    Setup::bare().own_terminals("shell = true\nprograms = [\"sh\"]")
}

fn command(data: &Data, arguments: &[&str]) -> Command {
    wharf(arguments).config(&data.path().join("wharf.toml")).data(data.path())
}

fn run(data: &Data, arguments: &[&str]) -> Finished {
    command(data, arguments).run()
}

fn listed(data: &Data) -> Value {
    let run = run(data, &["terminals", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn id_of(terminal: &Value) -> String {
    terminal["terminal"].as_str().expect("an id").to_owned()
}

/// The directories of hosts.
fn hosts(data: &Data) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.path().join("hosts")).expect("there are hosts");
    entries.map(|entry| entry.expect("readable").path()).collect()
}

/// Starts a text of `sh` over HTTP.
fn script(server: &Server, session: &str, text: &str) -> String {
    let body = json!({"program": "sh", "arguments": ["-c", text]});
    let started = server.ask("POST", "/v1/terminals", session, Some(body));
    assert_eq!(started.status, 201, "{started:?}");
    id_of(&started.json())
}

/// Waits until a terminal has printed this.
fn printed(server: &Server, session: &str, id: &str, what: &str) -> String {
    blocking::until(format_args!("{what} is printed"), || {
        let read = server.ask("GET", &format!("/v1/terminals/{id}/output"), session, None).json();
        let text = read["content"].as_str().expect("a text").to_owned();
        if text.contains(what) { Ok(text) } else { Err(text) }
    })
}

#[test]
fn terminals_of_every_running_host_are_listed_with_their_owners() {
    let data = Data::new();
    data.write("wharf.toml", shells().text());
    assert_eq!(listed(&data), json!({"hosts": 0, "terminals": []}));
    assert_eq!(run(&data, &["terminals"]).out, "No host serves on this data directory.\n");
    let server = Server::start_in(data, &[]);
    assert_eq!(run(&server.data, &["terminals"]).out, "No terminal is open.\n");
    let id = id_of(&server.shell("mine"));
    let told = listed(&server.data);
    assert_eq!((&told["hosts"], told["terminals"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    let terminal = &told["terminals"][0];
    assert_eq!(
        (&terminal["id"], &terminal["session"], &terminal["plugin"]),
        (&json!(id), &json!("mine"), &json!("host"))
    );
    let other = script(&server, "other", "printf '\\033]0;x\\007'; exec sleep 1000");
    let table = run(&server.data, &["terminals"]).out;
    assert!(table.lines().count() == 3 && table.contains(&id) && table.contains(&other), "{table}");
    assert!(table.contains("mine") && table.contains("80x24"), "{table}");
    assert!(!table.contains('\u{1b}'), "what a program is called steers no terminal: {table:?}");
}

#[test]
fn what_opens_a_host_to_commands_is_its_users_alone() {
    let server = Server::start(&shells());
    let id = id_of(&server.shell("s"));
    let found = hosts(&server.data);
    assert_eq!(found.len(), 1);
    let mode = |path: PathBuf| path.metadata().expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode(server.data.path().join("hosts")), 0o700);
    assert_eq!((mode(found[0].clone()), mode(found[0].join("secret"))), (0o700, 0o600));
    // A client with another secret is told nothing, and attaches to nothing.
    fs::write(found[0].join("secret"), "0".repeat(64)).expect("written");
    let refused = run(&server.data, &["terminals", "--json"]);
    assert!(!refused.out.contains(&id) && refused.err.contains("secret"), "{refused:?}");
    let refused = run(&server.data, &["attach", &id, "--read-only"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.out.is_empty(), "{refused:?}");
    // A missing secret, or one that others may read, counts as wrong.
    fs::set_permissions(found[0].join("secret"), fs::Permissions::from_mode(0o644)).expect("changed");
    let refused = run(&server.data, &["terminals", "--json"]);
    assert!(!refused.out.contains(&id), "{refused:?}");
    assert_ne!(server.ask("GET", "/v1/terminals", "s", None).json()["terminals"][0]["status"], "closed");
}

#[test]
fn what_a_killed_host_left_is_passed_over_and_removed_by_the_next() {
    let mut server = Server::start(&shells());
    server.shell("s");
    server.kill();
    let left = hosts(&server.data);
    assert_eq!(left.len(), 1, "it could not clean up");
    assert_eq!(listed(&server.data), json!({"hosts": 0, "terminals": []}));
    let refused = run(&server.data, &["attach", "a"]);
    assert!(refused.code == Some(1) && refused.err.contains("no host serves"), "{refused:?}");
    let data = std::mem::take(&mut server.data);
    let mut next = Server::start_in(data, &[]);
    let now = hosts(&next.data);
    assert!(now.len() == 1 && now != left, "{now:?}");
    assert_eq!(listed(&next.data)["hosts"], 1);
    next.terminate();
    assert_eq!(next.ended(), Some(0));
    assert!(hosts(&next.data).is_empty(), "one that ends leaves nothing");
}

#[test]
fn an_id_may_be_short_as_long_as_it_is_one() {
    let server = Server::start(&shells());
    for session in ["one", "two"] {
        server.shell(session);
    }
    for (prefix, word) in [("", "2 terminals"), ("zz", "no terminal")] {
        let refused = run(&server.data, &["attach", prefix, "--read-only"]);
        assert!(refused.code == Some(1) && refused.err.contains(word), "{prefix:?}: {refused:?}");
    }
}

#[test]
fn who_attaches_without_a_terminal_of_its_own_reads_what_comes_until_the_end() {
    let server = Server::start(&shells());
    let id = script(&server, "s", "echo before; read line; echo \"after $line\"; read line; exit 0");
    printed(&server, "s", &id, "before");
    let mut child = start(command(&server.data, &["attach", &id[..12], "--read-only"]));
    // What comes on its standard input reaches nobody.
    child.stdin.take().expect("piped").write_all(b"typed\n").expect("it may be written");
    let (mut out, mut buffer, mut seen) = (child.stdout.take().expect("piped"), [0; 4096], String::new());
    let mut read_until = |what: &str| {
        while !seen.contains(what) {
            let count = out.read(&mut buffer).expect("readable");
            assert_ne!(count, 0, "it ended without {what}: {seen:?}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    };
    read_until("before");
    let body = json!({"text": "mine"});
    assert_eq!(server.ask("POST", &format!("/v1/terminals/{id}/turns"), "s", Some(body)).status, 202);
    read_until("after mine");
    assert_eq!(listed(&server.data)["terminals"][0]["viewers"], 1);
    server.ask("DELETE", &format!("/v1/terminals/{id}"), "s", None);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("[the terminal was closed]"), "{ended:?}");
    assert!(!printed(&server, "s", &id, "after").contains("typed"));
}

/// `wharf attach` in a terminal of the operator's.
struct Attached {
    master: File,
    terminal: File,
    child: std::process::Child,
    seen: Arc<Mutex<String>>,
}

impl Attached {
    fn start(server: &Server, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal of one's own");
        let name = ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
        let size = Winsize { ws_col: 100, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it has a size");
        // Kept open, so that its modes can be looked at afterwards.
        let terminal = File::options().read(true).write(true).open(&name).expect("it opens");
        let command = command(&server.data, &[&["attach"], arguments].concat());
        let child = start(command.through(&format!("exec \"$@\" < {name} > {name}")));
        let (seen, _) = keep_log(File::from(master.try_clone().expect("cloned")));
        Self { master: File::from(master), terminal, child, seen }
    }

    fn types(&mut self, bytes: &[u8]) {
        self.master.write_all(bytes).expect("it is typed");
    }

    /// Waits until it has shown this since it was last asked.
    fn shows(&self, what: &str) {
        blocking::until(format_args!("{what:?} is shown"), || {
            let mut seen = self.seen.lock().expect("unpoisoned");
            let at = seen.find(what).ok_or_else(|| seen.clone())?;
            *seen = seen[at + what.len()..].to_owned();
            Ok::<_, String>(())
        });
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).expect("its modes").local_modes.contains(LocalModes::ICANON)
    }

    /// Detaches: what it said on standard error.
    fn detach(mut self) -> String {
        self.types(b"\x1d");
        let terminal = self.terminal.try_clone().expect("cloned");
        let ended = self.child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        let modes = tcgetattr(&terminal).expect("its modes").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "the operator's terminal is as it was");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }
}

#[test]
fn an_operator_types_into_a_terminal_and_detaches_while_its_program_goes_on() {
    let mut server = Server::start(&shells());
    let id = id_of(&server.shell("s"));
    let mut attached = Attached::start(&server, &[&id]);
    attached.shows("$ ");
    assert!(attached.is_raw(), "its keys go through one by one");
    attached.types(b"echo typed-$((40 + 2))\r");
    attached.shows("typed-42");
    // A key that interrupts reaches the program, and not this command. The
    // program says when it runs: a shell that has just forked for it would
    // swallow the signal.
    attached.types(b"sh -c 'echo runs-$((3 + 4)); exec sleep 1000'\r");
    attached.shows("runs-7");
    attached.types(b"\x03");
    attached.shows("^C");
    // The terminal drops what is typed before the shell reads again.
    attached.shows("$ ");
    attached.types(b"echo on-$((1 + 1))\r");
    attached.shows("on-2");
    assert!(attached.detach().contains("[detached; the program goes on]"));
    let told = &listed(&server.data)["terminals"][0];
    assert_eq!((&told["viewers"], told["pid"].is_u64()), (&json!(0), true), "{told}");
    // Its owner sees what was typed.
    printed(&server, "s", &id, "typed-42");
    assert_eq!(takeovers(&mut server), [id]);
}

/// The terminals that commands could type into, by the audit of a host that ends now.
fn takeovers(server: &mut Server) -> Vec<String> {
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let lines = crate::audit::lines(server.data.path());
    let attached = lines.into_iter().filter(|line| line.kind == "operator" && line.function == "attach-terminal");
    attached.map(|line| line.asked).collect()
}

#[test]
fn an_operator_who_only_looks_types_nothing() {
    let mut server = Server::start(&shells());
    let id = script(&server, "s", "echo ready; exec cat");
    let mut attached = Attached::start(&server, &[&id, "--read-only"]);
    attached.shows("ready");
    attached.types(b"nothing of this\r");
    let body = json!({"text": "from the owner"});
    assert_eq!(server.ask("POST", &format!("/v1/terminals/{id}/turns"), "s", Some(body)).status, 202);
    attached.shows("from the owner");
    attached.detach();
    assert!(!printed(&server, "s", &id, "from the owner").contains("nothing of this"));
    assert!(takeovers(&mut server).is_empty());
}

#[test]
fn a_turn_is_not_disturbed_unless_the_operator_forces_it_and_resizing_is_for_all() {
    let server = Server::start(&shells());
    let id = script(&server, "s", "echo ready; read line; read line; echo \"then $line\"; exec sleep 1000");
    let mut attached = Attached::start(&server, &[&id]);
    attached.shows("ready");
    let body = json!({"text": "a turn", "profile": "patient"});
    assert_eq!(server.ask("POST", &format!("/v1/terminals/{id}/turns"), "s", Some(body)).status, 202);
    attached.shows("a turn");
    attached.types(b"refused\r");
    // The bell says so.
    attached.shows("\u{7}");
    attached.detach();
    let mut forcing = Attached::start(&server, &[&id, "--force", "--resize"]);
    forcing.types(b"forced\r");
    forcing.shows("then forced");
    let told = server.ask("GET", &format!("/v1/terminals/{id}"), "s", None).json();
    assert_eq!((&told["columns"], &told["rows"]), (&json!(100), &json!(30)));
    forcing.detach();
}
