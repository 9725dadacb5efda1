//! Machines on which something that contains programs is forbidden or broken: this
//! one, with less allowed or something else in its place.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, machine, not_on_this_machine, wharf};

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

/// Runs a command on such a machine.
fn on(machine: &str, data: &Data, arguments: &[&str]) -> Finished {
    command(data, arguments).through(machine).run()
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
fn where_namespaces_are_required_nothing_else_takes_their_place_whatever_a_grant_says() {
    let echo = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let required = data(&granted("[process]\nrequired = \"namespaces\""));
    let usual = command(&required, &run_shell(&echo)).run();
    assert!(usual.code == Some(0) && usual.out.contains("it runs"), "where they work, they contain: {usual:?}");
    let Some(machine) = machine::without_namespaces() else { return not_on_this_machine("way to forbid namespaces") };
    let refused = on(&machine, &required, &run_shell(&echo));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!refused.out.contains("it runs"), "{refused:?}");
    let told = format!("{}{}", refused.out, refused.err);
    assert!(told.contains("required = \\\"namespaces\\\"") || told.contains("required = \"namespaces\""), "{told}");
    assert!(!told.contains("say `require_containment"), "no grant gives that up: {told}");
    let doctor = on(&machine, &required, &["doctor"]);
    assert!(doctor.code == Some(1) && doctor.out.contains("!! containment"), "{doctor:?}");
    assert!(doctor.out.contains("ok given up       nothing: `required"), "{doctor:?}");
    assert!(!doctor.out.contains("they may do all"), "{doctor:?}");
    let log = start_log(&machine, &required);
    assert!(log.contains("cannot be contained here, and are refused; see"), "{log}");
    let list = ["call", "workspace__list_processes"];
    let listed = on(&machine, &required, &list);
    assert!(listed.out.contains("Processes cannot be started here: "), "{listed:?}");
    assert!(listed.out.contains("the system makes no namespaces"), "{listed:?}");
    assert!(!listed.out.contains("are not contained"), "{listed:?}");
    // Without that word, the grant decides.
    let open = data(&granted(""));
    let ran = on(&machine, &open, &run_shell(&echo));
    assert!(ran.code == Some(0) && ran.out.contains("it runs"), "{ran:?}");
    let doctor = on(&machine, &open, &["doctor"]);
    assert!(doctor.out.contains("they may do all"), "{doctor:?}");
    let listed = on(&machine, &open, &list);
    assert!(!listed.out.contains("cannot be started"), "{listed:?}");
}

/// What a host says when it starts on such a machine, up to the word of what contains.
fn start_log(machine: &str, data: &Data) -> String {
    use std::io::{BufRead as _, BufReader};
    let mut child = wharf_tests::start(command(data, &["serve", "--stdio"]).through(machine));
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
    let Some(machine) = machine::without_namespaces() else { return not_on_this_machine("way to forbid namespaces") };
    let ran = on(&machine, &developer, &run_shell(&call));
    if ran.err.contains("Landlock does not offer") || ran.out.contains("Landlock does not offer") {
        return not_on_this_machine("Landlock as containment needs it");
    }
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("here") && ran.out.matches("home").count() >= 2, "{ran:?}");
    let doctor = on(&machine, &developer, &["doctor"]);
    assert!(doctor.code == Some(0) && doctor.out.contains("ok containment    Landlock"), "{doctor:?}");
    assert!(!doctor.out.contains("chmod"), "every directory is open to them: {doctor:?}");
}

#[test]
fn the_doctor_names_the_directory_that_keeps_programs_from_their_home_and_they_start_all_the_same() {
    let developer = data("profile = \"developer\"\n");
    let inner = developer.path().join("closed");
    std::fs::create_dir(&inner).expect("a directory");
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    let Some(machine) = machine::without_namespaces() else { return not_on_this_machine("way to forbid namespaces") };
    let own = |arguments: &[&str]| {
        wharf(arguments).config(&developer.path().join("wharf.toml")).data(&inner).through(&machine).run()
    };
    let call = json!({"command": "echo here > file && cat file", "wait_seconds": 60}).to_string();
    let ran = own(&run_shell(&call));
    if ran.err.contains("Landlock does not offer") || ran.out.contains("Landlock does not offer") {
        return not_on_this_machine("Landlock as containment needs it");
    }
    assert!(ran.code == Some(0) && ran.out.contains("here"), "{ran:?}");
    let doctor = own(&["doctor"]);
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|about| std::os::unix::fs::MetadataExt::uid(&about) == 0);
    if is_root {
        let named = |line: &&str| line.starts_with("!! containment") && line.contains("reach neither");
        let line = doctor.out.lines().find(named).unwrap_or_default();
        assert!(doctor.code == Some(1) && line.contains(inner.to_str().expect("text")), "{doctor:?}");
        // The host made it so, and would make another one so: only this helps.
        assert!(line.contains(&format!("`chmod o+x {}`", inner.display())) && !line.contains("--data"), "{line}");
        let opened = std::process::Command::new("chmod").arg("o+x").arg(&inner).status().expect("chmod");
        assert!(opened.success());
        let doctor = own(&["doctor"]);
        assert!(!doctor.out.contains("reach neither"), "{doctor:?}");
    } else {
        assert!(!doctor.out.contains("reach neither"), "the user is the host's own: {doctor:?}");
    }
}

#[test]
fn namespaces_that_are_forbidden_are_told_by_the_doctor_and_those_that_are_broken_loudly() {
    const FORBIDDEN: &str = "the sandbox could not be set up: the system makes no namespaces";
    const BROKEN: &str = "the sandbox could not be set up: cannot show /dev/full";
    let developer = data("profile = \"developer\"\n");
    let required = data(&granted("[process]\nrequired = \"namespaces\""));
    let call = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let forbidding = machine::without_namespaces();
    // Its /dev lacks a device that a sandbox has.
    let (null, devices) = (developer.write("null", ""), developer.path().join("dev"));
    std::fs::create_dir(&devices).expect("a directory");
    let (null, devices) = (null.display(), devices.display());
    let broken = machine::after(&format!(
        "mount --bind /dev/null {null} && mount --rbind /dev {devices} && mount -t tmpfs none /dev && \
         for device in null zero random urandom tty; do \
           touch /dev/$device && mount --bind {devices}/$device /dev/$device || exit 1; \
         done"
    ));
    for (machine, why, remedy) in
        [(forbidding, FORBIDDEN, "-> let the user of the host make user namespaces"), (broken, BROKEN, "-> mend that")]
    {
        let Some(machine) = machine else { continue };
        let ran = on(&machine, &developer, &run_shell(&call));
        let told = format!("{}{}", ran.out, ran.err);
        let contained = told.contains("it runs");
        let loudly = told.contains("LANDLOCK CONTAINS") || told.contains("CANNOT BE CONTAINED");
        assert_eq!(loudly, why == BROKEN || !contained, "{told}");
        assert!(!loudly || told.contains(why), "with the system's reason: {told}");
        let doctor = on(&machine, &developer, &["doctor"]);
        assert!(doctor.out.contains(why), "{doctor:?}");
        // Many machines forbid them on purpose.
        assert_eq!(doctor.code, Some(i32::from(loudly)), "{doctor:?}");
        assert_eq!(doctor.out.contains("!! containment") && doctor.out.contains(remedy), loudly, "{doctor:?}");
        // Where they are required, a refused program is told why, too.
        let doctor = on(&machine, &required, &["doctor"]);
        assert!(doctor.code == Some(1) && doctor.out.contains(remedy), "{doctor:?}");
        let refused = on(&machine, &required, &run_shell(&call));
        assert!(format!("{}{}", refused.out, refused.err).contains(why), "{refused:?}");
    }
}

#[test]
fn a_null_device_that_is_none_is_named_by_the_doctor_and_in_the_error() {
    let developer = data("profile = \"developer\"\n");
    let file = developer.write("null", "");
    let call = json!({"command": "echo it runs", "wait_seconds": 60}).to_string();
    let Some(machine) = machine::after(&format!("mount --bind {} /dev/null", file.display())) else { return };
    let refused = on(&machine, &developer, &run_shell(&call));
    let told = format!("{}{}", refused.out, refused.err);
    assert!(refused.code != Some(0) && told.contains("/dev/null is a regular file"), "{refused:?}");
    let doctor = on(&machine, &developer, &["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.out.contains("/dev/null is a regular file") && doctor.out.contains("mknod"), "{doctor:?}");
    assert!(!doctor.out.contains("/proc/self/exe") && !doctor.out.contains("apt-get"), "{doctor:?}");
    let advice: Vec<_> = doctor.out.lines().filter(|line| line.contains("-> ")).collect();
    assert!(!advice.is_empty() && advice.iter().all(|line| line.contains("mknod")), "{doctor:?}");
    let open = data(&granted(""));
    let log = start_log(&machine, &open);
    assert!(log.contains("no processes can be started here") && !log.contains("unless a grant"), "{log}");
    assert_eq!(std::fs::read(&file).expect("a file"), b"", "nothing was written into it");
}

/// What a client of a host is told of its processes.
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
