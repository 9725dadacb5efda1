//! Secrets that a program prints, and such as the kernel keeps.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::json;
use wharf_tests::{Data, Server, Setup, Upstream, component, lives, replied, wharf};

use crate::http_mcp::modern;

const SECRET: &str = "hunter2-of-the-sources";

/// A program of these lines of a shell.
fn program(files: &Data, lines: &str) -> PathBuf {
    let path = files.write("print", format!("#!/bin/sh\n{lines}\n"));
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("changed");
    path
}

/// A plugin that sends a secret, which comes from here, to this server.
fn sending(upstream: &Upstream, source: &str) -> String {
    let origin = format!("http://{}", upstream.authority());
    let grants = format!(
        "[plugin.fetching.grants.http]\nreason = \"a test\"\nrequests = [\"{origin}/*\"]\nprivate_addresses = true\n\
         [plugin.fetching.secrets.token]\n{source}\nto = \"* {origin}/*\"\nheader = \"Authorization: Bearer {{}}\""
    );
    Setup::bare().plugin("fetching", &component("guest-fetching"), &grants).text()
}

fn command(program: &Path) -> String {
    format!("command = ['{}', 'of', 'wharf']", program.display())
}

/// What the server got of the secret, by a call of a command.
fn sent(upstream: &Upstream, source: &str) -> Result<String, String> {
    let (data, files) = (Data::new(), Data::alone());
    let config = files.write("wharf.toml", sending(upstream, source));
    let arguments = json!({"url": format!("http://{}/", upstream.authority())}).to_string();
    let called = wharf(["call", "fetching__fetch", "--json", &arguments]).config(&config).data(data.path()).run();
    assert!(!called.out.contains("hunter2") && !called.err.contains("hunter2"), "{called:?}");
    if called.code == Some(0) { Ok(last(upstream)) } else { Err(called.err) }
}

fn last(upstream: &Upstream) -> String {
    let asked = upstream.asked();
    let head = asked.last().expect("a request");
    let line = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
    line.unwrap_or_else(|| panic!("no secret: {head}")).to_owned()
}

/// Has the plugin of a server send the secret.
fn fetch(server: &Server, upstream: &Upstream) -> String {
    let arguments = json!({"url": format!("http://{}/", upstream.authority())});
    let params = json!({"name": "fetching__fetch", "arguments": arguments});
    let (headers, request) = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let reply = replied(server.say(&headers, &request));
    assert!(reply.status == 200 && !reply.body.contains("isError\":true"), "{reply:?}");
    last(upstream)
}

/// A host that serves, and thereby is confined, sends the secret, and another one once its configuration was written
/// after `renew`.
fn is_read_anew(source: &str, renew: impl FnOnce(&str)) {
    let upstream = Upstream::echo();
    let data = Data::new();
    let text = sending(&upstream, source);
    data.write("wharf.toml", &text);
    let server = Server::start_in(data, &[]);
    for _ in 0..3 {
        assert_eq!(fetch(&server, &upstream), SECRET);
    }
    renew("hunter2-renewed");
    server.data.write("wharf.toml", format!("{text}\n# read it again\n"));
    wharf_tests::blocking::until("the new secret is sent", || fetch(&server, &upstream) == "hunter2-renewed");
    assert!(!server.log().contains("hunter2"), "{}", server.log());
}

#[test]
fn a_program_prints_a_secret_once_for_each_configuration_also_for_a_confined_host() {
    let files = Data::alone();
    let (secret, runs) = (files.write("secret", format!("{SECRET}\n")), files.path().join("runs"));
    let lines = format!("echo $1 $2 >> '{}'; cat '{}'", runs.display(), secret.display());
    is_read_anew(&command(&program(&files, &lines)), |renewed| {
        assert_eq!(fs::read_to_string(&runs).expect("it ran"), "of wharf\n");
        fs::write(&secret, renewed).expect("written");
    });
    assert_eq!(fs::read_to_string(&runs).expect("it ran"), "of wharf\nof wharf\n");
}

#[test]
fn what_a_program_leaves_behind_ends_with_it_and_one_line_end_is_no_part_of_the_secret() {
    let (upstream, files) = (Upstream::echo(), Data::alone());
    let mark = format!("98764.{}", std::process::id());
    let program = program(&files, &format!("sleep {mark} & printf '{SECRET}\\r\\n'"));
    assert_eq!(sent(&upstream, &command(&program)).expect("sent"), SECRET);
    assert!(!lives(&mark), "it would hold the output open");
}

#[test]
fn a_program_that_brings_no_secret_is_named_with_how_it_ended_and_never_with_what_it_printed() {
    let (upstream, files) = (Upstream::echo(), Data::alone());
    for (lines, problem) in [
        ("echo hunter2; echo hunter2 >&2; exit 3", "exits with 3"),
        ("echo hunter2; kill -9 $$", "was ended by the signal SIGKILL"),
        ("yes hunter2", "more than 65536 bytes"),
        ("printf '\\n'", "printed nothing"),
        ("exit 0", "printed nothing"),
        ("printf 'hunter2\\377'", "is no text"),
    ] {
        let program = program(&files, lines);
        let told = sent(&upstream, &command(&program)).expect_err(lines);
        assert!(told.contains("[plugin.fetching.secrets.token]"), "{lines}: {told}");
        assert!(told.contains(problem) && told.contains(program.to_str().expect("UTF-8")), "{lines}: {told}");
    }
    let missing = files.path().join("missing");
    let told = sent(&upstream, &command(&missing)).expect_err("there is none");
    assert!(told.contains("cannot run") && told.contains("missing"), "{told}");
    for (source, problem) in [
        ("command = []", "name a program by its whole path"),
        ("command = ['cat', '/etc/hostname']", "no shell looks for it"),
        ("command = ['/bin/cat']\nfile = 'secret'", "once"),
    ] {
        let told = sent(&upstream, source).expect_err(source);
        assert!(told.contains(problem), "{source}: {told}");
    }
    assert!(upstream.asked().is_empty());
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_has_started() {
    let (upstream, files) = (Upstream::echo(), Data::alone());
    let mark = format!("98765.{}", std::process::id());
    let program = program(&files, &format!("echo hunter2; sleep {mark} & exec sleep {mark}"));
    let told = sent(&upstream, &command(&program)).expect_err("it hangs");
    assert!(told.contains("took more than 10 seconds"), "{told}");
    wharf_tests::blocking::until("it is gone", || !lives(&mark));
}

#[test]
fn a_program_that_others_could_change_is_not_run_unless_the_operator_says_so() {
    let (upstream, files) = (Upstream::echo(), Data::alone());
    let ran = files.path().join("ran");
    let program = program(&files, &format!("touch '{}'; echo {SECRET}", ran.display()));
    let change = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
    let config = files.write("checked.toml", sending(&upstream, &command(&program)));
    let check = || wharf(["config", "check"]).config(&config).data(files.path()).run();
    assert_eq!(check().code, Some(0), "{:?}", check());
    for (path, good) in [(&*program, 0o755), (files.path(), 0o700)] {
        change(path, 0o777);
        let told = sent(&upstream, &command(&program)).expect_err("others may change it");
        assert!(told.contains("chmod go-w") && told.contains("allow_unprotected = true"), "{told}");
        let checked = check();
        assert!(checked.code != Some(0) && format!("{checked:?}").contains("chmod go-w"), "{checked:?}");
        change(path, good);
    }
    assert!(!ran.exists(), "neither a refusal nor a check runs it");
    change(&program, 0o777);
    let allowed = format!("{}\nallow_unprotected = true", command(&program));
    assert_eq!(sent(&upstream, &allowed).expect("sent"), SECRET);
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn a_key_of_the_kernel_is_the_secret_also_for_a_confined_host() {
    use linux_keyutils::{KeyError, KeyRing, KeyRingIdentifier};

    let name = format!("wharf-test-{}", std::process::id());
    let ring = KeyRing::from_special_id(KeyRingIdentifier::User, false);
    let added = ring.and_then(|ring| ring.add_key(&*name, SECRET).map(|key| (ring, key)));
    let (ring, key) = match added {
        Ok(added) => added,
        // A container's filter of system calls.
        Err(error @ (KeyError::PermissionDenied | KeyError::AccessDenied | KeyError::OperationNotSupported)) => {
            eprintln!("NOT TESTED: this machine lets nobody here keep keys: {error}");
            return;
        }
        Err(error) => panic!("no key: {error}"),
    };
    let source = format!("keyring = \"user:{name}\"");
    is_read_anew(&source, |renewed| {
        ring.add_key(&*name, renewed).expect("renewed");
    });
    ring.unlink_key(key).expect("removed");
    let upstream = Upstream::echo();
    let told = sent(&upstream, &source).expect_err("it is gone");
    assert!(told.contains(&format!("keyctl padd user {name} @u")), "{told}");
    for source in ["keyring = 'logon:name'", "keyring = 'user:'", "keyring = \"user:a\\u0000b\""] {
        let told = sent(&upstream, source).expect_err(source);
        assert!(told.contains("name a key by its type"), "{source}: {told}");
    }
    assert!(upstream.asked().is_empty());
}
