//! The process of a host confines itself: what it has given up, what works all the same, and whose it is.

use std::{
    fs,
    io::Read as _,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::{MetadataExt as _, PermissionsExt as _},
            net::{SocketAddr, UnixListener},
        },
    },
};

use serde_json::{Value, json};
use wharf_escapes::loaded;
use wharf_test_support::processes;
use wharf_tests::{Client, Data, Server, Setup, blocking, not_on_this_machine, of_the_library_alone, program, wharf};

/// A line of what the system says of a process.
fn said(process: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap_or_else(|| panic!("no {name}: {status}")).trim().to_owned()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

/// Whether this machine has all that a host gives up.
fn is_whole() -> bool {
    let data = Data::new();
    let doctor = wharf(["doctor"]).config(&data.write("wharf.toml", "")).data(data.path()).run();
    doctor.out.contains("confinement") && !doctor.out.contains("not whole")
}

fn given_up(process: u32, kept: &str) {
    let none = "0000000000000000";
    for (name, expected) in
        [("NoNewPrivs", "1"), ("Seccomp", "2"), ("CapEff", kept), ("CapPrm", kept), ("CapInh", none), ("CapAmb", none)]
    {
        assert_eq!(said(process, name), expected, "{name}");
    }
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).expect("it runs");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
}

/// CHOWN, DAC_OVERRIDE and FOWNER of root, whose sessions have users of their own.
fn kept() -> &'static str {
    if is_root() { "000000000000000b" } else { "0000000000000000" }
}

#[test]
fn a_host_that_serves_has_given_up_what_it_does_not_need() {
    if !is_whole() {
        return not_on_this_machine("Landlock as a whole host needs it");
    }
    let server = Server::start(&Setup::bare());
    given_up(server.id(), kept());
    assert!(server.log().contains("this host is confined ") && !server.log().contains("in part"), "{}", server.log());
    let data = Data::new();
    let configuration = data.write("wharf.toml", "");
    let serve = |more: &[&str]| {
        let arguments = ["serve", "--stdio"].into_iter().chain(more.iter().copied());
        Client::connect(wharf(arguments).config(&configuration).data(data.path()))
    };
    given_up(serve(&[]).id(), kept());
    given_up(serve(&["--confined"]).id(), kept());
    let open = serve(&["--unconfined"]);
    assert_eq!(said(open.id(), "Seccomp"), said(std::process::id(), "Seccomp"));
    assert!(!open.log().contains("this host is confined"), "{}", open.log());
}

#[test]
fn code_inside_the_process_of_a_host_gets_nowhere() {
    if !is_whole() {
        return not_on_this_machine("Landlock as a whole host needs it");
    }
    if !loads_libraries() {
        return of_the_library_alone("it is linked statically, so nothing can be loaded into it");
    }
    tries_everything("");
    if is_root() {
        tries_everything("[host]\nuser = 61322\n");
    }
}

/// Whether the program names a dynamic linker, which stands in its first bytes.
fn loads_libraries() -> bool {
    let mut head = Vec::new();
    let file = fs::File::open(program()).expect("the binary");
    file.take(4096).read_to_end(&mut head).expect("it can be read");
    head.windows(4).any(|bytes| bytes == b"/ld-")
}

/// Loads a library into a host of this configuration, which tries each way out from within its process.
fn tries_everything(configured: &str) {
    let (data, outside) = (Data::alone(), tempfile::tempdir().expect("a directory"));
    data.write("wharf.toml", Setup::bare().own_terminals("shell = true").with_tables(configured).text());
    // The modes of files keep nobody from anything here.
    for (directory, mine) in [(data.path(), "inside"), (outside.path(), "outside")] {
        let file = directory.join("file");
        fs::write(&file, mine).expect("a file");
        for path in [directory, &file] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("a mode");
        }
    }
    let beyond = format!("wharf-beyond-{}", data.path().display());
    let address = SocketAddr::from_abstract_name(&beyond).expect("a name");
    let _beyond = UnixListener::bind_addr(&address).expect("a socket");
    let (inside, outside) = (data.path().to_owned(), outside.path().to_owned());
    let place = wharf_escapes::AttemptPlace { inside, outside, beyond };
    let mut command = Server::command(&data, &["--confined"]);
    for (name, value) in loaded::variables(&place).expect("a library") {
        command = command.env(name, &value);
    }
    let server = Server::start_as(data, command);
    let children = processes::below(server.id());
    assert!(!children.is_empty(), "a confined host has a supervisor: {}", server.log());
    let children: Vec<_> = children.iter().map(u32::to_string).collect();
    server.data.write(loaded::BEGIN, children.join("\n"));
    let report = blocking::until("everything was tried", || {
        server.ask("GET", "/v1/terminals", "s", None);
        fs::read_to_string(place.inside.join(loaded::REPORT)).map_err(|error| format!("{error}: {}", server.log()))
    });
    let tried: Vec<(i32, &str)> = report
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(error, name)| (error.parse().expect("a number"), name))
        .collect();
    assert!(tried.len() > 70, "{report}");
    let possible: Vec<_> = tried.iter().filter(|(error, _)| !wharf_escapes::is_refused(Some(*error))).collect();
    assert!(possible.is_empty(), "code inside a host could: {possible:?}");
    // The host has survived it, and nothing outside has changed.
    assert!(server.shell("s")["terminal"].is_string());
    assert_eq!(fs::read_to_string(place.outside.join("file")).expect("a file"), "outside");
    assert_eq!(fs::read_dir(&place.outside).expect("a directory").count(), 1);
}

#[test]
fn what_a_host_serves_works_in_its_confinement() {
    if !is_whole() {
        return not_on_this_machine("Landlock as a whole host needs it");
    }
    let (data, folder) = (Data::new(), tempfile::tempdir().expect("a directory"));
    fs::write(folder.path().join("note"), "from the folder").expect("a file");
    let grant = format!(
        "profile = \"developer\"\n[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\n\
         [plugin.workspace.grants.workspace]\nreason = \"a test\"\n\
         exchange = [{{ name = \"folder\", path = '{}', access = \"write\" }}]\n",
        folder.path().display()
    );
    let configuration = data.write("wharf.toml", grant);
    let command = wharf(["serve", "--stdio", "--confined"]).config(&configuration).data(data.path());
    let mut client = Client::connect(command);
    let mut call = |tool: &str, arguments: Value| {
        let answer = client.call(tool, arguments, json!({}));
        assert_eq!(answer["isError"], json!(false), "{tool}: {answer}");
        answer
    };
    call("planning__create_goal", json!({"goal": "ship it"}));
    // Programs are outside of it: nothing that was granted is taken from them.
    let ran =
        call("workspace__execute_shell", json!({"command": "echo $((6 * 7)) > file; cat file", "wait_seconds": 60}));
    assert!(ran.to_string().contains("42"), "{ran}");
    call("workspace__import_file", json!({"exchange": "folder", "path": "note", "to": "note"}));
    call("workspace__export_file", json!({"path": "file", "exchange": "folder", "to": "file"}));
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("a file"), "42\n");
    let started = call("terminal__start_terminal", json!({}));
    let typed = json!({"terminal_id": started["structuredContent"]["terminal_id"], "text": "echo $((7 * 8))"});
    let answered = call("terminal__send_message", typed);
    assert!(answered.to_string().contains("56"), "{answered}");
    given_up(client.id(), kept());
}

#[test]
fn a_path_that_a_later_configuration_names_is_told_and_what_is_within_reach_is_used() {
    if !is_whole() {
        return not_on_this_machine("Landlock as a whole host needs it");
    }
    let (server, outside) = (Server::start(&Setup::bare()), tempfile::tempdir().expect("a directory"));
    let token = |file: &std::path::Path| {
        Setup::bare().text() + &format!("\n[[http.tokens]]\nname = \"late\"\nfile = '{}'\n", file.display())
    };
    let late = "late-token-of-a-test-that-is-long-enough-to-count";
    let write = |file: &std::path::Path| {
        fs::write(file, late).expect("a file");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(file, private).expect("a mode");
    };
    let beyond = outside.path().join("token");
    write(&beyond);
    server.data.write("wharf.toml", token(&beyond));
    server.until_logged("cannot reach this path");
    assert!(server.log().contains(&beyond.display().to_string()), "{}", server.log());
    assert_eq!(server.ask_as(late, "GET", "/v1/terminals", None).status, 401);
    // Beside the configuration, a file that was not there is read.
    let within = server.data.path().join("late");
    write(&within);
    server.data.write("wharf.toml", token(&within));
    blocking::until("the token opens", || server.ask_as(late, "GET", "/v1/terminals", None).status != 401);
}

#[test]
fn a_host_that_must_be_confined_does_not_start_where_that_cannot_be() {
    // Its configuration lies in a directory of much else.
    let home = tempfile::tempdir().expect("a directory");
    let (data, file) = (Data::new(), home.path().join("wharf.toml"));
    fs::write(&file, "[host]\nconfined = \"required\"\n").expect("a file");
    let home = home.path().display().to_string();
    let serve = wharf(["serve", "--stdio"]).config(&file).data(data.path()).env("HOME", &home);
    let run = serve.run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("must be confined wholly"), "{run:?}");
    if is_whole() {
        assert!(run.err.contains(&format!("all of {home} stays readable")), "{run:?}");
    }
}

#[test]
fn a_host_that_root_starts_becomes_its_user_who_gets_the_data_once() {
    if !is_root() {
        return not_on_this_machine("root that runs this test");
    }
    const USER: u32 = 61_321;
    let data = Data::alone();
    let configured =
        Setup::bare().own_terminals("shell = true").with_tables(&format!("[host]\nuser = {USER}\n")).text();
    data.write("wharf.toml", &configured);
    // The guests of the tests are in the target directory.
    let server = Server::start_in(data, &[]);
    assert_eq!(said(server.id(), "Uid").split_whitespace().collect::<Vec<_>>(), vec![USER.to_string(); 4]);
    assert_eq!(said(server.id(), "Groups"), "");
    if is_whole() {
        given_up(server.id(), "0000000000000000");
    }
    assert!(server.log().contains("belongs to the user of the host now"), "{}", server.log());
    let owner = |path: &std::path::Path| fs::metadata(path).expect("it is there").uid();
    let (path, log) = (server.data.path(), server.log());
    assert!([path, &path.join("wharf.toml")].into_iter().all(|path| owner(path) == USER), "{log}");
    assert!(log.contains("runs as a user of its own"), "{log}");
    let terminal = server.shell("s")["terminal"].as_str().expect("a terminal").to_owned();
    let said = json!({"text": "echo $((7 * 8))", "submit": true}).to_string();
    let said = server.follow("POST", &format!("/v1/terminals/{terminal}/turns"), "s", &said).rest();
    let said: Vec<_> = said.iter().map(|event| event.data.to_string()).collect();
    assert!(said.concat().contains("56"), "{said:?}");
}
