//! What an operator asks the command about processes and files: what holds on
//! this machine, whose files there are, and what the configuration amounts to.

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, wharf};

/// The command on a data directory of its own and a configuration of this text.
struct Operator {
    data: Data,
}

impl Operator {
    fn new(configuration: &str) -> Self {
        let data = Data::new();
        data.write("wharf.toml", configuration);
        Self { data }
    }

    /// One that grants the workspace plugin all that a developer has.
    fn developer() -> Self {
        Self::new("profile = \"developer\"\n")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        wharf(arguments).config(&self.data.path().join("wharf.toml")).data(self.data.path())
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).run()
    }

    /// Writes a file into a session's workspace.
    fn write(&self, session: &str, path: &str, content: &str) {
        let arguments = json!({"path": path, "content": content}).to_string();
        let run = self.run(&["call", "workspace__write_file", &arguments, "--session", session]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    /// Where the workspaces are.
    fn places(&self) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(self.data.path().join("workspaces")).expect("is there");
        entries.map(|entry| entry.expect("is there").path()).collect()
    }

    /// The sessions that have a workspace, by `wharf sessions --json`.
    fn sessions(&self) -> Vec<Value> {
        let run = self.run(&["sessions", "--json"]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
        parsed(&run)["sessions"].as_array().expect("a list").clone()
    }
}

fn parsed(run: &Finished) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn the_doctor_says_what_was_tried_and_that_all_is_well() {
    let operator = Operator::developer();
    let run = operator.run(&["doctor"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.out.lines().all(|line| line.starts_with("ok ")), "{}", run.out);
    for what in [
        "version",
        "configuration",
        "data",
        "cache",
        "plugins",
        "confinement",
        "containment",
        "process limit",
        "memory limit",
        "polling",
    ] {
        assert!(run.out.lines().any(|line| line.starts_with(&format!("ok {what} "))), "{what}: {}", run.out);
    }
    assert!(run.out.contains("workspace"), "it is on: {}", run.out);
    assert!(!run.out.lines().any(|line| line.starts_with("ok off")), "{}", run.out);
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_starts_a_process_for_plugins_where_they_have_their_own() {
    let run = Operator::new("[isolation]\nlevel = \"process\"\nahead = 0\n").run(&["doctor"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    let says = "the plugins of each tenant run in a process of their own; one was started and ended";
    assert!(run.out.lines().any(|line| line.starts_with("ok isolation ") && line.ends_with(says)), "{}", run.out);
}

#[test]
fn the_doctor_tells_programs_the_same() {
    let operator = Operator::new("");
    let run = operator.run(&["doctor", "--json"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    let told = parsed(&run);
    assert_eq!(told["well"], true);
    let of = |what: &str| {
        let findings = told["findings"].as_array().expect("a list").iter();
        findings.filter(|one| one["what"] == what).map(|one| one["says"].as_str().expect("a text")).collect::<String>()
    };
    assert_eq!(of("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(of("data"), operator.data.path().to_str().expect("a path"));
    assert!(of("off").contains("workspace") && of("off").contains("--profile developer"), "{told}");
    assert!(told["findings"].as_array().expect("a list").iter().all(|one| one["advice"].is_null()), "{told}");
    let plain = operator.run(&["doctor"]);
    assert_eq!(plain.out.lines().count(), told["findings"].as_array().map_or(0, Vec::len));
}

#[test]
fn the_doctor_finds_what_is_ill_and_says_what_to_do() {
    let files = Data::alone();
    let broken = files.write("broken.wasm", "no component");
    let operator = Operator::new(&format!("[plugin.broken]\nsource = '{}'\n", broken.display()));
    let run = operator.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let ill: Vec<_> = run.out.lines().filter(|line| line.starts_with("!! ")).collect();
    assert!(ill.len() == 1 && ill[0].contains("broken"), "{}", run.out);
    assert!(run.out.contains("-> mend or remove [plugin.broken]"), "{}", run.out);
    assert_eq!(parsed(&operator.run(&["doctor", "--json"]))["well"], false);
    // A data directory that is a file.
    let file = files.write("file", "no directory");
    let run = wharf(["doctor"]).config(&operator.data.path().join("wharf.toml")).data(&file).run();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.out.contains("!! data") && run.out.contains("--data"), "{}", run.out);
    // A configuration that cannot be read is an error, not a finding.
    let run = Operator::new("[process.polls]\nthreshold = 0\n").run(&["doctor"]);
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{run:?}");
    assert!(run.err.contains("threshold"), "{run:?}");
}

#[test]
fn sessions_are_listed_with_their_sizes_and_none_is_made_by_looking() {
    let operator = Operator::developer();
    let run = operator.run(&["sessions"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "No session has a workspace.\n"));
    assert_eq!(operator.sessions(), Vec::<Value>::new());
    operator.write("first", "a/file", &"x".repeat(50_000));
    operator.write("second", "file", "y");
    let sessions = operator.sessions();
    let names: Vec<_> = sessions.iter().map(|one| one["session"].as_str().expect("a name")).collect();
    assert_eq!(names, ["second", "first"], "the one last used first");
    for one in &sessions {
        assert_eq!(one["tenant"], "local");
        assert!(one["used"].as_str().is_some_and(|used| used.ends_with('Z')), "{one}");
    }
    let bytes = |at: usize| sessions[at]["bytes"].as_u64().expect("a size");
    assert!(bytes(1) >= 50_000 && bytes(0) < 50_000, "{sessions:?}");
    assert!(sessions[1]["entries"].as_u64() > sessions[0]["entries"].as_u64(), "{sessions:?}");
    let run = operator.run(&["sessions"]);
    assert!(run.out.contains("first") && run.out.contains("second") && run.out.contains("2 workspaces"), "{}", run.out);
}

#[test]
fn a_workspace_that_cannot_be_read_is_named_and_hides_no_other() {
    let operator = Operator::developer();
    operator.write("broken", "file", "x");
    let before = operator.places();
    operator.write("whole", "file", "y");
    std::fs::remove_dir_all(before[0].join("files")).expect("removes");
    std::fs::write(before[0].join("files"), "no directory").expect("writes");
    let run = operator.run(&["sessions"]);
    assert!(run.code == Some(0) && run.out.contains("whole") && run.out.contains("1 workspaces"), "{run:?}");
    assert!(run.err.contains("broken") && run.err.contains("Not a directory"), "{run:?}");
    let listed = parsed(&operator.run(&["sessions", "--json"]));
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["unreadable"][0]["session"], "broken", "{listed}");
    // Nothing starts there, and it can go.
    let command = r#"{"command": "true"}"#;
    let run = operator.run(&["call", "workspace__execute_shell", command, "--session", "broken"]);
    assert!(run.code != Some(0) && run.err.contains("Not a directory"), "{run:?}");
    let run = operator.run(&["sessions", "remove", "broken"]);
    assert!(run.code == Some(1) && run.err.contains("Not a directory"), "{run:?}");
    let run = operator.run(&["sessions", "remove", "broken", "--yes"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "Removed the workspace of broken.\n"), "{run:?}");
    assert_eq!(operator.sessions().len(), 1);
}

#[test]
fn a_session_is_removed_once_it_is_meant() {
    let operator = Operator::developer();
    operator.write("first", "file", "x");
    operator.write("second", "file", "y");
    let run = operator.run(&["sessions", "remove", "first"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.out.contains("first") && run.err.contains("nothing was removed") && run.err.contains("--yes"),
        "{run:?}"
    );
    assert_eq!(operator.sessions().len(), 2);
    let run = operator.run(&["sessions", "remove", "first", "--yes"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "Removed the workspace of first.\n"), "{run:?}");
    let left: Vec<_> = operator.sessions().iter().map(|one| one["session"].clone()).collect();
    assert_eq!(left, ["second"]);
    for other in
        [vec!["sessions", "remove", "first", "--yes"], vec!["sessions", "remove", "second", "--tenant", "b", "--yes"]]
    {
        let run = operator.run(&other);
        assert!(run.code == Some(0) && run.out.contains("has no workspace"), "{run:?}");
    }
    let read = operator.run(&["call", "workspace__read_file", r#"{"path":"file"}"#, "--session", "second"]);
    assert!(read.out.ends_with("y\n"), "{read:?}");
    let read = operator.run(&["call", "workspace__list_directory", "{}", "--session", "first"]);
    assert_eq!(read.out, "The workspace is empty; nothing was written to it yet.\n");
    for arguments in [vec!["sessions", "remove"], vec!["sessions", "remove", "../x", "--yes"]] {
        assert_eq!(operator.run(&arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_profile_is_chosen_by_option_variable_or_file_and_the_option_goes_first() {
    let command = r#"{"command":"echo \"it's\""}"#;
    let call = ["call", "workspace__execute_shell", command];
    let none = Operator::new("");
    let run = none.run(&call);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("is off") && run.err.contains("--profile developer"), "{run:?}");
    let told = "exit code 0\nstdout:\nit's\n";
    let run = none.run(&["call", "workspace__execute_shell", command, "--profile", "developer"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), told), "{run:?}");
    let run = none.command(&call).env("WHARF_PROFILE", "developer").run();
    assert_eq!((run.code, run.out.as_str()), (Some(0), told), "{run:?}");
    let developer = Operator::developer();
    assert_eq!(developer.run(&call).out, told);
    let run = developer.run(&["call", "workspace__execute_shell", command, "--profile", "default"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let run = none.run(&["tools", "--profile", "root"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("developer"), "{run:?}");
    let run = Operator::new("profile = \"root\"\n").run(&["tools"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.contains("developer"), "{run:?}");
    // A grant that is written goes before a profile.
    let written = Operator::new("[plugin.workspace.grants.workspace]\nreason = \"files alone\"\n");
    let run = written.run(&["call", "workspace__execute_shell", command, "--profile", "developer"]);
    assert!(run.code == Some(1) && run.out.contains("[plugin.workspace.grants.process]"), "{run:?}");
}

#[test]
fn the_environment_sets_when_advice_comes() {
    let operator = Operator::developer();
    let advised = |variables: &[(&str, &str)]| {
        let mut command = operator.command(&["serve", "--stdio"]);
        for (name, value) in variables {
            command = command.env(name, value);
        }
        let mut client = Client::connect(command);
        let started =
            client.call("workspace__execute_shell", json!({"command": "sleep 1000", "run_mode": "async"}), json!({}));
        let id = started["structuredContent"]["process_id"].clone();
        let polls: Vec<_> = (0..6)
            .map(|_| client.call("workspace__poll_process", json!({"process_id": id}), json!({})))
            .map(|polled| polled["structuredContent"]["guidance"]["text"].as_str().map(str::to_owned))
            .collect();
        let first = polls.iter().position(Option::is_some).map(|at| at + 1);
        (first, polls.into_iter().flatten().next().unwrap_or_default())
    };
    assert_eq!(advised(&[("WHARF_POLL_THRESHOLD", "1")]).0, Some(1));
    assert_eq!(advised(&[("WHARF_POLL_THRESHOLD", "1000")]).0, None);
    assert_eq!(advised(&[("WHARF_POLL_GUIDANCE", "off"), ("WHARF_POLL_THRESHOLD", "1")]).0, None);
    for locale in ["ko", "ko_KR.UTF-8"] {
        assert!(advised(&[("WHARF_LANGUAGE", locale)]).1.contains("프로세스"), "{locale}");
    }

    let run = operator.command(&["doctor"]).env("WHARF_POLL_THRESHOLD", "9").run();
    assert!(run.out.contains("from 9 polls"), "{}", run.out);
    for (name, value) in [
        ("WHARF_POLL_THRESHOLD", "0"),
        ("WHARF_POLL_THRESHOLD", "-1"),
        ("WHARF_POLL_THRESHOLD", "many"),
        ("WHARF_POLL_GUIDANCE", "yes"),
    ] {
        for command in [&["doctor"][..], &["tools"], &["config", "check"]] {
            let run = operator.command(command).env(name, value).run();
            assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{name}={value} {command:?}: {run:?}");
            assert!(run.err.contains(name) && run.err.contains(value), "{run:?}");
        }
    }
}

#[test]
fn config_check_knows_the_tables_of_processes_and_files() {
    let text = r#"
profile = "developer"
[process.limits]
running_per_session = 3
workspace_bytes = 1000000
[process.polls]
threshold = 7
language = "ko"
[workspace]
expiry_seconds = 60
[plugin.workspace.grants.process]
reason = "builds"
programs = ["make", "cc"]
shell = true
network = true
[plugin.workspace.grants.workspace]
reason = "builds"
exchange = [{ name = "in", path = "/in" }, { name = "out", path = "/out", access = "write" }]
"#;
    let operator = Operator::new(text);
    let checked = parsed(&operator.run(&["config", "check", "--json"]));
    assert_eq!(checked["limits"], json!({"running_per_session": 3, "workspace_bytes": 1_000_000}));
    let grants = &checked["plugins"]["workspace"]["grants"];
    assert_eq!((&grants["process"]["programs"], &grants["process"]["network"]), (&json!(["make", "cc"]), &json!(true)));
    assert_eq!(grants["process"]["require_containment"], true, "unless it is given up by name");
    assert_eq!(
        (&grants["workspace"]["exchange"][0]["access"], &grants["workspace"]["exchange"][1]["access"]),
        (&json!("read"), &json!("write"))
    );
    let plain = operator.run(&["config", "check"]);
    assert!(plain.code == Some(0) && plain.out.contains("running_per_session is 3 instead of 20."), "{plain:?}");

    let process = "[plugin.workspace.grants.process]\nreason = \"r\"\n";
    let workspace = "[plugin.workspace.grants.workspace]\nreason = \"r\"\n";
    for (text, words) in [
        ("[process]\nlimit = 1".to_owned(), vec!["limit"]),
        ("[process.limits]\nrunning_per_sesion = 1".to_owned(), vec!["running_per_sesion"]),
        ("[process.limits]\nrunning_per_session = 0".to_owned(), vec!["running_per_session"]),
        ("[process.limits]\nrunning_per_session = 100000".to_owned(), vec!["running_per_session", "1000"]),
        ("[process.polls]\nlanguage = \"fr\"".to_owned(), vec!["fr"]),
        ("[workspace]\nexpiry = 60".to_owned(), vec!["expiry"]),
        ("[plugin.workspace.grants.process]\nshell = true".to_owned(), vec!["reason"]),
        (format!("{process}readable = [\"a\"]"), vec!["[plugin.workspace.grants.process]", "/a"]),
        (format!("{process}maximum_concurrent = 0"), vec!["maximum_concurrent"]),
        (format!("{workspace}access = \"all\""), vec!["all"]),
        (format!("{workspace}exchange = [{{name = \"a/b\", path = \"/x\"}}]"), vec!["exchange folder"]),
    ] {
        let run = Operator::new(&text).run(&["config", "check"]);
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{text}: {run:?}");
        for word in words {
            assert!(run.err.contains(word), "{text}: {run:?}");
        }
    }
    // A folder may come later; where it is looked for is told.
    let away = Operator::new(&format!("{workspace}exchange = [{{name = \"a\", path = \"x\"}}]"));
    let run = away.run(&["config", "check"]);
    assert!(run.code == Some(0) && run.err.contains("/x: No such file"), "{run:?}");
}

#[test]
fn help_teaches_what_is_about_processes_and_files() {
    for (arguments, words) in [
        (vec!["--help"], vec!["wharf doctor", "wharf sessions", "--profile", "WHARF_PROFILE"]),
        (vec!["doctor", "--help"], vec!["--json", "Exit code"]),
        (vec!["sessions", "--help"], vec!["--json", "remove"]),
        (vec!["sessions", "remove", "--help"], vec!["--tenant", "--yes", "exit code 1"]),
    ] {
        let run = wharf(&arguments).run();
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        for word in words {
            assert!(run.out.contains(word), "{arguments:?} does not say {word}:\n{}", run.out);
        }
    }
}
