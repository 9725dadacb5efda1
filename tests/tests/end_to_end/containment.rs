//! Machines on which something that contains programs is missing or broken: this
//! one, with something else in its place.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, wharf};

const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// A data directory that other users may pass, and a configuration.
fn data(configuration: &str) -> Data {
    let data = Data::new();
    data.write("wharf.toml", configuration);
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o711)).expect("a mode");
    data
}

fn command(data: &Data, arguments: &[&str]) -> Command {
    wharf(arguments).config(&data.path().join("wharf.toml")).data(data.path())
}

/// Runs a command on a machine that has this file in that place; nothing where
/// this machine cannot play it.
fn with(data: &Data, file: &Path, place: &str, arguments: &[&str]) -> Option<Finished> {
    let script = format!("exec {BUBBLEWRAP} --dev-bind / / --dev-bind '{}' {place} \"$@\"", file.display());
    let true_there = wharf(["--version"]).through(&script).run();
    if true_there.code != Some(0) {
        return None;
    }
    Some(command(data, arguments).through(&script).run())
}

/// A bubblewrap that is installed and fails, and a file that is no bubblewrap.
fn broken(data: &Data) -> std::path::PathBuf {
    let file = data.write("broken", "#!/bin/sh\necho no namespaces here >&2\nexit 1\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    file
}

fn run_shell(command: &str) -> [&str; 3] {
    ["call", "workspace__execute_shell", command]
}

fn granted(more: &str) -> String {
    format!(
        "{more}\n[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\nrequire_containment = false\n\
         [plugin.workspace.grants.workspace]\nreason = \"a test\"\n"
    )
}

#[test]
fn where_bubblewrap_is_required_nothing_else_takes_its_place_whatever_a_grant_says() {
    let echo = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let required = data(&granted("[process]\nrequired = \"bubblewrap\""));
    let usual = command(&required, &run_shell(&echo)).run();
    assert!(usual.code == Some(0) && usual.out.contains("it runs"), "where it works, it contains: {usual:?}");
    for file in [Path::new("/dev/null").to_owned(), broken(&required)] {
        let Some(refused) = with(&required, &file, BUBBLEWRAP, &run_shell(&echo)) else { return };
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(!refused.out.contains("it runs"), "{refused:?}");
        let told = format!("{}{}", refused.out, refused.err);
        assert!(told.contains("required = \\\"bubblewrap\\\"") || told.contains("required = \"bubblewrap\""), "{told}");
        assert!(!told.contains("say `require_containment"), "no grant gives that up: {told}");
        let doctor = with(&required, &file, BUBBLEWRAP, &["doctor"]).expect("it ran before");
        assert!(doctor.code == Some(1) && doctor.out.contains("!! containment"), "{doctor:?}");
        assert!(doctor.out.contains("ok given up       nothing: `required"), "{doctor:?}");
        assert!(!doctor.out.contains("they may do all"), "{doctor:?}");
        let log = start_log(&required, &file, BUBBLEWRAP);
        assert!(log.contains("cannot be contained here, and are refused; see"), "{log}");
        let list = ["call", "workspace__list_processes"];
        let listed = with(&required, &file, BUBBLEWRAP, &list).expect("it ran before");
        assert!(listed.out.contains("Processes cannot be started here: bubblewrap"), "{listed:?}");
        assert!(!listed.out.contains("are not contained"), "{listed:?}");
    }
    // Without that word, the grant decides.
    let open = data(&granted(""));
    let ran = with(&open, Path::new("/dev/null"), BUBBLEWRAP, &run_shell(&echo)).expect("it ran before");
    assert!(ran.code == Some(0) && ran.out.contains("it runs"), "{ran:?}");
    let doctor = with(&open, Path::new("/dev/null"), BUBBLEWRAP, &["doctor"]).expect("it ran before");
    assert!(doctor.out.contains("they may do all"), "{doctor:?}");
    let list = ["call", "workspace__list_processes"];
    let listed = with(&open, Path::new("/dev/null"), BUBBLEWRAP, &list).expect("it ran before");
    assert!(!listed.out.contains("cannot be started"), "{listed:?}");
}

/// What a host says when it starts on a machine that has this file in that place, up to
/// the word of what contains.
fn start_log(data: &Data, file: &Path, place: &str) -> String {
    use std::io::{BufRead as _, BufReader};
    let script = format!("exec {BUBBLEWRAP} --dev-bind / / --dev-bind '{}' {place} \"$@\"", file.display());
    let mut child = wharf_tests::start(command(data, &["serve", "--stdio"]).through(&script));
    let mut said = String::new();
    for line in BufReader::new(child.stderr.take().expect("piped")).lines() {
        let line = line.expect("text");
        said.push_str(&line);
        said.push('\n');
        if line.contains("wharf::start") && line.contains("see `wharf doctor`") {
            break;
        }
    }
    drop(child.stdin.take());
    child.wait().expect("it ends");
    said
}

#[test]
fn commands_run_under_landlock_in_a_workspace_that_belongs_to_another_user() {
    let developer = data("profile = \"developer\"\n");
    let script =
        "pwd && echo here > file && cat file && cd ~ && echo home > tmp/file && cat ~/tmp/file && cat $TMPDIR/file";
    let call = json!({"command": script, "wait_seconds": 60}).to_string();
    let Some(ran) = with(&developer, Path::new("/dev/null"), BUBBLEWRAP, &run_shell(&call)) else { return };
    if ran.err.contains("Landlock does not offer") || ran.out.contains("Landlock does not offer") {
        return;
    }
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("here") && ran.out.matches("home").count() >= 2, "{ran:?}");
    let doctor = with(&developer, Path::new("/dev/null"), BUBBLEWRAP, &["doctor"]).expect("it ran before");
    assert!(doctor.code == Some(0) && doctor.out.contains("ok containment    Landlock"), "{doctor:?}");
}

#[test]
fn the_doctor_names_the_directory_that_keeps_programs_from_their_home_and_they_start_all_the_same() {
    let developer = data("profile = \"developer\"\n");
    let inner = developer.path().join("closed");
    std::fs::create_dir(&inner).expect("a directory");
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    let own = |arguments: &[&str]| -> Option<Finished> {
        let script = format!("exec {BUBBLEWRAP} --dev-bind / / --dev-bind /dev/null {BUBBLEWRAP} \"$@\"");
        if wharf(["--version"]).through(&script).run().code != Some(0) {
            return None;
        }
        let command = wharf(arguments).config(&developer.path().join("wharf.toml")).data(&inner);
        Some(command.through(&script).run())
    };
    let call = json!({"command": "echo here > file && cat file", "wait_seconds": 60}).to_string();
    let Some(ran) = own(&run_shell(&call)) else { return };
    if ran.err.contains("Landlock does not offer") || ran.out.contains("Landlock does not offer") {
        return;
    }
    assert!(ran.code == Some(0) && ran.out.contains("here"), "{ran:?}");
    let doctor = own(&["doctor"]).expect("it ran before");
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0);
    if is_root {
        let line = doctor.out.lines().find(|line| line.starts_with("!! containment")).unwrap_or_default();
        assert!(doctor.code == Some(1) && line.contains(inner.to_str().expect("text")), "{doctor:?}");
        // The host made it so, and would make another one so: only this helps.
        assert!(line.contains(&format!("`chmod o+x {}`", inner.display())) && !line.contains("--data"), "{line}");
        let opened = std::process::Command::new("chmod").arg("o+x").arg(&inner).status().expect("chmod");
        assert!(opened.success());
        let doctor = own(&["doctor"]).expect("it ran before");
        assert!(!doctor.out.contains("!! containment"), "{doctor:?}");
    } else {
        assert_eq!(doctor.code, Some(0), "the user is the host's own: {doctor:?}");
    }
}

#[test]
fn a_bubblewrap_that_fails_is_told_loudly_and_by_the_doctor() {
    let developer = data("profile = \"developer\"\n");
    let call = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let file = broken(&developer);
    let Some(ran) = with(&developer, &file, BUBBLEWRAP, &run_shell(&call)) else { return };
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("LANDLOCK CONTAINS") || told.contains("CANNOT BE CONTAINED"), "at warn: {told}");
    assert!(told.contains("the sandbox could not be set up: no namespaces here"), "in its own words: {told}");
    let doctor = with(&developer, &file, BUBBLEWRAP, &["doctor"]).expect("it ran before");
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.out.contains("!! containment") && doctor.out.contains("bubblewrap is installed and"), "{doctor:?}");
    assert!(doctor.out.contains("set up: no namespaces here") && !doctor.out.contains("apt-get install"), "{doctor:?}");
    // Where bubblewrap is required, the doctor has it mended, not installed, and a refused program is told why.
    let required = data(&granted("[process]\nrequired = \"bubblewrap\""));
    let file = broken(&required);
    let doctor = with(&required, &file, BUBBLEWRAP, &["doctor"]).expect("it ran before");
    assert!(doctor.out.contains("-> make bubblewrap work") && !doctor.out.contains("apt-get"), "{doctor:?}");
    let refused = with(&required, &file, BUBBLEWRAP, &run_shell(&call)).expect("it ran before");
    assert!(format!("{}{}", refused.out, refused.err).contains("set up: no namespaces here"), "{refused:?}");
    let hidden = with(&required, Path::new("/dev/null"), BUBBLEWRAP, &["doctor"]).expect("it ran before");
    assert!(hidden.out.contains("-> install bubblewrap"), "{hidden:?}");
}

#[test]
fn a_null_device_that_is_none_is_named_by_the_doctor_and_in_the_error() {
    let developer = data("profile = \"developer\"\n");
    let file = developer.write("null", "");
    let call = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let Some(refused) = with(&developer, &file, "/dev/null", &run_shell(&call)) else { return };
    let told = format!("{}{}", refused.out, refused.err);
    assert!(refused.code != Some(0) && told.contains("/dev/null is a regular file"), "{refused:?}");
    let doctor = with(&developer, &file, "/dev/null", &["doctor"]).expect("it ran before");
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.out.contains("/dev/null is a regular file") && doctor.out.contains("mknod"), "{doctor:?}");
    assert!(!doctor.out.contains("/proc/self/exe") && !doctor.out.contains("apt-get"), "{doctor:?}");
    let advice: Vec<_> = doctor.out.lines().filter(|line| line.contains("-> ")).collect();
    assert!(!advice.is_empty() && advice.iter().all(|line| line.contains("mknod")), "{doctor:?}");
    let open = data(&granted(""));
    let log = start_log(&open, &file, "/dev/null");
    assert!(log.contains("no processes can be started here") && !log.contains("unless a grant"), "{log}");
    assert_eq!(std::fs::read(&file).expect("a file"), b"", "nothing was written into it");
}

/// What a client of a host on a machine without bubblewrap is told of its
/// processes.
#[test]
fn the_rules_of_a_session_say_what_contains_and_how_polls_are_judged() {
    let developer = data("profile = \"developer\"\n[process.polls]\nthreshold = 6\nhasty_threshold = 2\n");
    let mut client = Client::connect(command(&developer, &["serve", "--stdio"]));
    let started =
        client.call("workspace__execute_shell", json!({"command": "sleep 1000", "run_mode": "async"}), json!({}));
    let id = started["structuredContent"]["process_id"].clone();
    let mut advised = Vec::new();
    for poll in 1..=3 {
        let polled = client.call("workspace__poll_process", json!({"process_id": id}), json!({}));
        if polled["structuredContent"]["guidance"].is_object() {
            advised.push(poll);
        }
    }
    assert_eq!(advised, [2], "hasty polls are advised as early as the operator says");
    let listed = command(&developer, &["processes", "--json"]).run();
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    let process = &listed["processes"][0];
    assert_eq!((&process["id"], &process["command"], &process["tenant"]), (&id, &json!("sleep 1000"), &json!("local")));
    let polls = &process["polls"];
    assert_eq!((&polls["total"], &polls["in_a_row"], &polls["intervals"]["count"]), (&json!(3), &json!(3), &json!(2)));
    let table = command(&developer, &["processes"]).run();
    assert!(table.out.contains("3, 3 in a row, mean ") && table.out.contains("sleep 1000"), "{table:?}");
    client.call("workspace__stop_process", json!({"process_id": id, "grace_seconds": 0}), json!({}));
    let table = command(&developer, &["processes", "--running"]).run();
    assert_eq!((table.code, table.out.as_str()), (Some(0), "There is no process.\n"), "{table:?}");
    drop(client);
}
