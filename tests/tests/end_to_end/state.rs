//! `wharf state`: what the operator sees, carries away, brings back and clears,
//! beside a host that is running and without one.

use std::{fs, path::Path};

use serde_json::{Value, json};
use wharf_tests::{Client, Command, Data, Finished, Setup, wharf};

/// A data directory with the plans of some sessions, and what works on it.
struct Place {
    data: Data,
    config: Data,
}

impl Place {
    fn new() -> Self {
        let config = Data::alone();
        config.write("wharf.toml", Setup::bare().planning().text());
        Self { data: Data::new(), config }
    }

    fn filled() -> Self {
        let place = Self::new();
        for session in ["one", "two"] {
            place.ran(&["call", "planning__create_goal", r#"{"goal":"가나다"}"#, "--session", session]);
        }
        place.ran(&["call", "planning__add_todo", r#"{"name":"x"}"#, "--session", "two", "--thread", "t"]);
        place
    }

    fn command(&self, arguments: &[&str]) -> Command {
        wharf(arguments).config(&self.config.path().join("wharf.toml")).data(self.data.path())
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).run()
    }

    /// What a run prints that must succeed.
    #[track_caller]
    fn ran(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.ran(arguments).lines().map(parsed).collect()
    }
}

#[test]
fn usage_and_list_show_what_is_there_beside_what_there_may_be() {
    let place = Place::filled();
    let usage = place.ran(&["state", "usage"]);
    assert!(
        usage.contains("planning")
            && usage.contains("of 64 MiB")
            && usage.contains("local in all: 3 buckets of 100000")
    );
    let usage = place.lines(&["state", "usage", "--json"]);
    assert_eq!(usage.len(), 1);
    assert_eq!((&usage[0]["buckets"], &usage[0]["quotaBytes"]), (&json!(3), &json!(64 << 20)));
    let list = place.ran(&["state", "list", "--session", "two"]);
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains("thread planning session=two thread=t"), "{list}");
    let list = place.lines(&["state", "list", "--json", "--thread", "t"]);
    assert_eq!((list.len(), &list[0]["session"], &list[0]["kind"]), (1, &json!("two"), &json!("thread")));
    assert!(list[0]["expires"].as_str().is_some_and(|expires| expires.ends_with('Z')), "{list:?}");
    assert!(place.ran(&["state", "usage", "--plugin", "playbook"]).contains("There is nothing."));
    let cut = place.command(&["state", "list"]).through("\"$@\" | head -1").run();
    assert_eq!((cut.code, cut.err.as_str()), (Some(0), ""), "whoever read enough closes the listing");
}

#[test]
fn an_export_brings_the_same_state_into_another_directory() {
    let (from, to) = (Place::filled(), Place::new());
    let file = from.config.path().join("state.jsonl");
    let run = from.run(&["state", "export", "--output", file.to_str().expect("text")]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.err.contains("3 buckets"), "{run:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&file).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it holds what plugins keep in the clear");
    }
    let exported = fs::read_to_string(&file).expect("the file");
    assert_eq!(from.ran(&["state", "export"]), exported);
    let imported = to.ran(&["state", "import", file.to_str().expect("text")]);
    assert!(imported.starts_with("Imported 3 buckets"), "{imported}");
    assert_eq!(to.ran(&["state", "export"]), exported);
    let state = to.ran(&["call", "planning__get_current_state", "{}", "--session", "one"]);
    assert!(state.contains("가나다"), "{state}");

    let again = to.run(&["state", "import", file.to_str().expect("text")]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("has content already") && again.err.contains("--replace"), "{again:?}");
    let piped = to.command(&["state", "import", "-", "--replace"]).through(&format!("\"$@\" < '{}'", file.display()));
    let piped = piped.run();
    assert!(piped.code == Some(0) && piped.out.contains("3 of them had other content"), "{piped:?}");
    assert_eq!(to.ran(&["state", "export"]), exported);
}

#[cfg(unix)]
#[test]
fn an_export_to_a_device_or_a_pipe_leaves_it_what_it_is() {
    use std::os::unix::fs::{FileTypeExt as _, symlink};
    let place = Place::filled();
    let exported = place.ran(&["state", "export"]);
    // By a link, which a host that replaces names would replace, and not the device of this machine.
    let link = place.config.path().join("null");
    symlink("/dev/null", &link).expect("linked");
    let written = place.run(&["state", "export", "--output", link.to_str().expect("text")]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(fs::metadata(&link).expect("there").file_type().is_char_device());
    let output = place.config.path().join("pipe").display().to_string();
    let script = format!("mkfifo '{output}'; cat '{output}' & \"$@\"; wait");
    let through = place.command(&["state", "export", "--output", &output]).through(&script).run();
    assert_eq!(through.out, exported, "{through:?}");
    assert!(fs::metadata(&output).expect("there").file_type().is_fifo());
    let full = place.config.path().join("full");
    symlink("/dev/full", &full).expect("linked");
    let full = place.run(&["state", "export", "--output", full.to_str().expect("text")]);
    assert!(full.code == Some(1) && full.err.contains("cannot write"), "{full:?}");
}

#[test]
fn an_export_that_is_cut_is_refused_and_changes_nothing() {
    let (from, to) = (Place::filled(), Place::new());
    let exported = from.ran(&["state", "export"]);
    let cut = to.config.write("cut", &exported[..exported.len() - 40]);
    let run = to.run(&["state", "import", cut.to_str().expect("text")]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("the export is cut") && run.err.contains("nothing was imported"), "{run:?}");
    assert_eq!(to.ran(&["state", "list"]).lines().count(), 1);
    let missing = to.run(&["state", "import", "/nonexistent/file"]);
    assert!(missing.code == Some(1) && missing.err.contains("/nonexistent/file"), "{missing:?}");
    let nowhere = from.run(&["state", "export", "--output", "/nonexistent/directory/file"]);
    assert!(nowhere.code == Some(1) && nowhere.err.contains("/nonexistent/directory/file"), "{nowhere:?}");
    let pipe = from.command(&["state", "export"]).through("\"$@\" > /dev/full").run();
    assert!(pipe.code == Some(1) && pipe.err.contains("cannot be written"), "{pipe:?}");
}

#[test]
fn clearing_says_what_would_go_and_needs_a_yes_and_a_choice() {
    let place = Place::filled();
    let before = place.ran(&["state", "export"]);
    let asked = place.run(&["state", "clear", "--session", "two"]);
    assert_eq!(asked.code, Some(1));
    assert!(asked.out.contains("planning") && asked.err.contains("--yes"), "{asked:?}");
    assert_eq!(place.ran(&["state", "export"]), before);
    for arguments in [vec!["state", "clear", "--yes"], vec!["state", "clear", "--all", "--session", "two", "--yes"]] {
        assert_eq!(place.run(&arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(place.ran(&["state", "export"]), before);
    let cleared = place.ran(&["state", "clear", "--session", "two", "--yes"]);
    assert!(cleared.starts_with("Cleared 2 buckets"), "{cleared}");
    let told = place.ran(&["audit", "--json", "--kind", "operator"]);
    let lines: Vec<_> = told.lines().filter(|line| line.contains(r#""function":"clear-state""#)).collect();
    assert!(
        lines.len() == 1 && lines[0].contains(r#""asked":"session two""#),
        "the audit has the one that was done: {told}"
    );
    let left = place.lines(&["state", "list", "--json"]);
    assert_eq!((left.len(), &left[0]["session"]), (1, &json!("one")));
    place.ran(&["state", "clear", "--all", "--yes"]);
    assert!(place.lines(&["state", "list", "--json"]).is_empty());
}

#[test]
fn everything_works_beside_a_host_that_is_running() {
    let place = Place::filled();
    let mut host = Client::connect(place.command(&["serve", "--stdio"]));
    let of = |session: &str| json!({"dev.wharf/sessionId": session});
    host.call("planning__create_goal", json!({"goal": "three"}), of("three"));
    assert_eq!(place.lines(&["state", "list", "--json"]).len(), 4);
    let exported = place.ran(&["state", "export", "--session", "one"]);
    place.ran(&["state", "clear", "--session", "one", "--yes"]);
    let state = host.call("planning__get_current_state", json!({}), of("one"));
    assert_eq!(state["structuredContent"]["goal"], json!(null), "{state}");
    let file = place.config.write("one", exported);
    place.ran(&["state", "import", file.to_str().expect("text")]);
    let state = host.call("planning__get_current_state", json!({}), of("one"));
    assert_eq!(state["structuredContent"]["goal"], json!("가나다"), "{state}");
    let created = host.call("planning__create_goal", json!({"goal": "next"}), of("one"));
    assert_eq!(created["isError"], json!(false), "{created}");
}

#[test]
fn a_directory_without_state_is_an_error_that_says_where_it_looked() {
    let empty = Data::alone();
    for command in [vec!["usage"], vec!["list"], vec!["export"], vec!["clear", "--all", "--yes"]] {
        let arguments: Vec<&str> = std::iter::once("state").chain(command).collect();
        let run = wharf(&arguments).data(empty.path()).run();
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{arguments:?}: {run:?}");
        assert!(run.err.contains("there is no state in") && run.err.contains("--data"), "{run:?}");
        assert_eq!(fs::read_dir(empty.path()).expect("a listing").count(), 0);
    }
    let broken = Data::alone();
    broken.write("state.sqlite3", "no database at all, but long enough to be read as one. ".repeat(40));
    let run = wharf(["state", "list"]).data(broken.path()).run();
    assert!(run.code == Some(3) && run.err.contains("is not a database"), "{run:?}");
    assert!(Path::new(broken.path()).join("state.sqlite3").exists());
}

#[test]
fn help_teaches_the_operator() {
    for (arguments, words) in [
        (vec!["state", "--help"], vec!["usage", "export", "import", "clear", "Examples:", "--session demo"]),
        (vec!["state", "usage", "--help"], vec!["--json", "--tenant", "quota"]),
        (vec!["state", "export", "--help"], vec!["--output", "Revisions are not carried", "base64", "in the clear"]),
        (vec!["state", "import", "--help"], vec!["--replace", "all of it or nothing", "standard input"]),
        (vec!["state", "clear", "--help"], vec!["--yes", "--all", "exit code 1"]),
    ] {
        let run = wharf(&arguments).run();
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        for word in words {
            assert!(run.out.contains(word), "{arguments:?} does not say {word}:\n{}", run.out);
        }
    }
}

/// Runs SQL on the database as another program would. Returns whether that can be done here.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn sql(data: &Path, sql: &str) -> bool {
    let done = std::process::Command::new("sqlite3").arg(data.join("state.sqlite3")).arg(sql).output();
    match done {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            true
        }
        Err(_) => {
            eprintln!("not tested: there is no `sqlite3` on this machine");
            false
        }
    }
}

#[test]
fn a_clock_that_jumped_while_the_machine_was_off_ends_nothing_until_the_operator_confirms_it() {
    let place = Place::filled();
    let five_years = 5_u64 * 365 * 24 * 3_600 * 1_000;
    // As if all of it had happened five years ago, before the machine was started.
    let jump = format!(
        "UPDATE scope SET expires = expires - {five_years}; UPDATE clock SET time = time - {five_years}, boot = 'before'"
    );
    if !sql(place.data.path(), &jump) {
        return;
    }
    let read = ["call", "planning__list_goals", "{}", "--session", "one"];
    let run = place.run(&read);
    assert!(run.code == Some(0) && run.out.contains("가나다"), "{run:?}");
    assert!(run.err.contains("hosts have counted time up to") && run.err.contains("confirm-clock"), "{run:?}");
    let usage = place.run(&["state", "usage"]);
    assert!(usage.out.contains("3 buckets") && usage.err.contains("confirm-clock"), "{usage:?}");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.out.contains("clock"), "{doctor:?}");
    let asked = place.ran(&["state", "confirm-clock"]);
    assert!(asked.contains("Nothing was done"), "{asked}");
    place.ran(&["state", "confirm-clock", "--yes"]);
    let usage = place.run(&["state", "usage"]);
    // What was read since is used, and the other session is as old as the clock says.
    assert!(usage.out.contains("1 buckets") && usage.err.is_empty(), "{usage:?}");
    assert!(place.ran(&read).contains("가나다"));
    assert_eq!(place.ran(&["state", "confirm-clock"]), "The clock is not doubted.\n");
}
