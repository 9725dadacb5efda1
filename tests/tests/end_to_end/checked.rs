//! What `wharf config check` and `wharf doctor` find of patterns, grants, secrets, certificates,
//! the disk and other hosts, and in which words programs read it.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use wharf_tests::{Command, Data, Disk, Finished, Server, Setup, component, wharf};

const NOTHING: [Vec<String>; 3] = [const { Vec::new() }; 3];

/// A directory with this `wharf.toml`.
fn configured(text: &str) -> Data {
    let data = Data::new();
    data.write("wharf.toml", text);
    data
}

fn command(data: &Data, arguments: &[&str]) -> Command {
    wharf(arguments).config(&data.path().join("wharf.toml")).data(data.path())
}

fn parsed(run: &Finished) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// The findings of a list, as `what: says`.
fn said(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list} is no list")).iter();
    let text = |finding: &Value, member: &str| finding[member].as_str().expect("a text").to_owned();
    list.map(|finding| format!("{}: {}", text(finding, "what"), text(finding, "says"))).collect()
}

/// What `wharf config check` finds: problems, warnings and notes.
fn checked(data: &Data) -> [Vec<String>; 3] {
    let run = command(data, &["config", "check", "--json"]).run();
    let told = parsed(&run);
    let [problems, warnings, notes] = ["problems", "warnings", "notes"].map(|list| said(&told[list]));
    assert_eq!(run.code, Some(if problems.is_empty() { 0 } else { 3 }), "{run:?}");
    [problems, warnings, notes]
}

/// What the doctor finds at this level.
fn found(data: &Data, level: &str) -> Vec<String> {
    let run = command(data, &["doctor", "--json"]).run();
    let told = parsed(&run);
    let findings = told["findings"].as_array().expect("a list");
    let is_ill = findings.iter().any(|finding| finding["level"] == "error");
    assert_eq!((run.code, &told["well"]), (Some(i32::from(is_ill)), &Value::Bool(!is_ill)), "{run:?}");
    said(&findings.iter().filter(|finding| finding["level"] == level).cloned().collect())
}

#[track_caller]
fn one(found: &[String], words: &[&str]) {
    let [one] = found else { panic!("not one: {found:?}") };
    assert!(words.iter().all(|word| one.contains(word)), "{one} lacks one of {words:?}");
}

#[test]
fn a_pattern_that_matches_no_tool_is_a_problem_where_a_tool_was_meant() {
    let [problems, warnings, _] = checked(&configured(
        "[approvals]\napprove = [\"planning__create_gaol\", \"planning__create_*\"]\nalways = [\"playbook__zzz*\"]\n",
    ));
    assert_eq!((problems.len(), warnings.len()), (2, 0), "{problems:?} {warnings:?}");
    one(&problems[..1], &["pattern: [approvals] `planning__create_gaol`", "did you mean `planning__create_goal`?"]);
    one(&problems[1..], &["`playbook__zzz*` matches no tool of `playbook`", "`wharf tools`"]);
    // A name counts as clients see it.
    let own = "[plugin.planning]\nprefix = false\n";
    let approve = |pattern: &str| format!("{own}[approvals]\napprove = [\"{pattern}\"]\n");
    one(&checked(&configured(&approve("create_gaol")))[0], &["did you mean `create_goal`?"]);
    one(&checked(&configured(&approve("planning__create_goal")))[0], &["matches no tool of `planning`"]);
    assert_eq!(checked(&configured(&approve("create_goal"))), NOTHING);
    // What may come later, or is of an app, keeps nobody from anything.
    let [problems, warnings, _] = checked(&configured(
        "[approvals]\napprove = [\"*_nothing\", \"tickets__close\", \"frobnicate\", \"app__x\", \"app_page__x\"]\n",
    ));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    let token = |lines: &str| format!("[[http.tokens]]\nname = \"ci\"\ndigest = \"{}\"\n{lines}\n", "0".repeat(64));
    let data = configured(&token("tools = [\"planing__*\", \"planning__*\"]\nskip_tools = [\"planning__drop_*\"]"));
    let problems = &checked(&data)[0];
    assert!(problems.iter().all(|problem| problem.contains("[[http.tokens]] \"ci\"")), "{problems:?}");
    one(&problems[..1], &["`planing`, which is no plugin (did you mean `planning`?)"]);
    one(&problems[1..], &["`planning__drop_*` matches no tool of `planning`"]);
    one(&checked(&configured(&token("plugins = [\"plna*\", \"plan*\", \"app_*\"]")))[1], &["`plna*`", "no plugin yet"]);
    assert_eq!(found(&data, "error").len(), 2, "the doctor finds the same");
}

#[test]
fn a_grant_is_compared_with_the_profile_and_with_what_the_component_can_use() {
    let grants = |profile: &str, plugin: &str, capability: &str| {
        format!("profile = \"{profile}\"\n[plugin.{plugin}.grants.{capability}]\nreason = \"r\"\n")
    };
    let data = configured(&grants("developer", "workspace", "workspace"));
    let [problems, warnings, notes] = checked(&data);
    assert!(problems.is_empty() && warnings.is_empty(), "{problems:?} {warnings:?}");
    one(&notes, &["grant: [plugin.workspace.grants]", "profile `developer`", "has no `process`"]);
    assert!(found(&data, "ok").contains(&notes[0]));
    assert!(command(&data, &["config", "check"]).run().out.contains("has no `process`"));
    one(&checked(&configured(&grants("default", "planning", "state")))[2], &["grants anyway", "taken out"]);
    assert_eq!(checked(&configured(&grants("default", "workspace", "workspace"))), NOTHING);

    let data = configured(&grants("default", "planning", "process"));
    let [problems, warnings, notes] = checked(&data);
    assert!(problems.is_empty(), "{problems:?}");
    one(&warnings, &["grant: [plugin.planning.grants.process] has no effect", "take the table out"]);
    one(&notes, &["has no `state`"]);
    assert_eq!(found(&data, "warning"), warnings);
    let guest = Setup::new().hostile("").text();
    let useless = |warnings: &[String]| warnings.iter().filter(|warning| warning.contains("no effect")).count();
    for capability in ["state", "process", "terminal", "webview", "workspace", "events"] {
        let text = format!("{guest}[plugin.hostile.grants.{capability}]\nreason = \"r\"\n");
        assert_eq!(useless(&checked(&configured(&text))[1]), 0, "{capability}");
    }
    let data = configured(&format!("{guest}[plugin.echo.grants.terminal]\nreason = \"r\"\n"));
    assert_eq!(useless(&checked(&data)[1]), 1);
    let run = command(&data, &["doctor"]).run();
    assert_eq!((run.out.matches("is not pinned").count(), run.err.as_str()), (1, ""), "told once: {run:?}");
}

#[test]
fn secrets_and_tokens_that_cannot_be_had_are_found_by_both_commands() {
    let secret = |name: &str, variable: &str| {
        format!(
            "[plugin.planning.secrets.{name}]\nenvironment = \"{variable}\"\nto = \"* https://api.example.com\"\n\
             header = \"{name}: {{}}\"\n"
        )
    };
    let data = configured(&format!("{}{}", secret("one", "WHARF_TEST_UNSET"), secret("two", "WHARF_TEST_UNSET_TOO")));
    let problems = &checked(&data)[0];
    assert_eq!(problems.len(), 2, "each of them: {problems:?}");
    one(&problems[..1], &["secret: [plugin.planning.secrets.one]", "no variable WHARF_TEST_UNSET", "set it"]);
    let errors = found(&data, "error");
    assert_eq!(errors.iter().filter(|error| error.contains("secrets.one")).count(), 1, "told once: {errors:?}");

    let data = configured(&secret("one", "PATH"));
    let [problems, warnings, _] = checked(&data);
    assert_eq!(problems, Vec::<String>::new());
    one(&warnings, &["secret: [plugin.planning.secrets.one] is never sent", "[plugin.planning.grants.http]"]);
    assert_eq!(found(&data, "warning"), warnings);

    let data = configured("[[http.tokens]]\nname = \"a\"\nvariable = \"WHARF_TEST_UNSET\"\n");
    one(&checked(&data)[0], &["token: [[http.tokens]] \"a\"", "WHARF_TEST_UNSET is not set", "take the token out"]);
    one(&found(&data, "error"), &["token: ", "WHARF_TEST_UNSET"]);
    let data = configured("[[http.tokens]]\nname = \"a\"\nfile = \"below/token\"\n");
    let absolute = data.path().join("below/token");
    one(&checked(&data)[0], &[absolute.to_str().expect("text"), "`wharf token new`"]);
    // The host's own, once there are some.
    let data = configured("");
    assert_eq!(checked(&data), NOTHING);
    for name in ["http-token", "operator-token"] {
        let file = data.write(name, "0123456789abcdef0123456789abcdef");
        one(&checked(&data)[0], &["token: ", name, "chmod 600"]);
        one(&found(&data, "error"), &["token: ", name]);
        std::fs::remove_file(&file).expect("removed");
        data.write_private(name, "short");
        one(&checked(&data)[0], &["token: ", name, "at least 32"]);
        std::fs::remove_file(&file).expect("removed");
    }
    data.write_private("http-token", "short");
    data.write("wharf.toml", format!("[[http.tokens]]\nname = \"a\"\ndigest = \"{}\"\n", "0".repeat(64)));
    assert_eq!(checked(&data)[0], Vec::<String>::new(), "nobody reads it");
}

#[test]
fn a_certificate_that_has_expired_soon_expires_or_has_another_key_is_found() {
    let data = configured("[http.tls]\ncertificate = \"certificate.pem\"\nkey = \"key.pem\"\n");
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    let made = |from: SystemTime, until: SystemTime| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        (parameters.not_before, parameters.not_after) = (from.into(), until.into());
        data.write("certificate.pem", parameters.self_signed(&key).expect("a certificate").pem());
        data.write_private("key.pem", key.serialize_pem());
    };
    made(now - day, now + 20 * day);
    assert_eq!(checked(&data), NOTHING);
    made(now - day, now + 13 * day);
    let [problems, warnings, _] = checked(&data);
    assert_eq!(problems, Vec::<String>::new());
    one(&warnings, &["tls: [http.tls]", "certificate.pem: it expires at 20", "renew it"]);
    assert_eq!(found(&data, "warning"), warnings);
    let run = command(&data, &["doctor"]).run();
    assert!(run.code == Some(0) && run.out.lines().any(|line| line.starts_with("!  tls ")), "{run:?}");
    made(now - 2 * day, now - day);
    one(&checked(&data)[0], &["tls: ", "has expired at", "clients refuse it"]);
    one(&found(&data, "error"), &["tls: ", "has expired at"]);
    made(now + day, now + 2 * day);
    one(&checked(&data)[0], &["tls: ", "not valid before"]);
    made(now - day, now + 20 * day);
    data.write_private("key.pem", rcgen::KeyPair::generate().expect("a key").serialize_pem());
    one(&checked(&data)[0], &["tls: ", "cannot be used together"]);
    let run = command(&data, &["doctor"]).run();
    assert!(run.code == Some(1) && run.out.lines().any(|line| line.starts_with("!! tls ")), "{run:?}");
}

#[test]
fn a_disk_with_less_room_than_one_session_may_take_up_is_a_warning() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::below(disk.path());
    data.write("wharf.toml", "");
    one(&found(&data, "warning"), &["disk: ", "one session", "MiB"]);
    let run = command(&data, &["doctor"]).run();
    assert!(run.code == Some(0) && run.out.contains("-> make room"), "{run:?}");
    data.write(
        "wharf.toml",
        "[audit]\nenabled = false\n[plugin.content-store]\nenabled = false\n[plugin.playbook]\nenabled = false\n\
         [plugin.planning.grants.state]\nreason = \"r\"\nquota_bytes = 1000000\n",
    );
    assert_eq!(found(&data, "warning"), Vec::<String>::new(), "there is enough for that");
}

#[test]
fn a_host_of_another_version_on_the_same_data_is_a_warning() {
    let server = Server::start(&Setup::bare().planning());
    let data = &server.data;
    let hosts = |level: &str| {
        let found = found(data, level).into_iter();
        found.filter(|finding| finding.starts_with("hosts: ")).collect::<Vec<_>>()
    };
    assert_eq!(hosts("ok"), ["hosts: 1 serves on this data directory"]);
    let host = std::fs::read_dir(data.path().join("hosts")).expect("hosts").next().expect("one").expect("read");
    let version = host.path().join("version");
    assert_eq!(std::fs::read_to_string(&version).expect("written"), env!("CARGO_PKG_VERSION"));
    std::fs::write(&version, "0.0.1\u{1b}[31m").expect("ours");
    one(&hosts("warning"), &["1 not of this version", "0.0.1"]);
    assert!(!hosts("warning")[0].contains('\u{1b}'), "a terminal obeys it");
    std::fs::remove_file(&version).expect("ours");
    one(&hosts("warning"), &["an unknown version"]);
}

/// The names of the members of an object.
fn members(object: &Value) -> Vec<&str> {
    let mut members: Vec<_> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

#[test]
fn findings_have_the_same_members_in_both_commands() {
    let data = configured("[plugin.brwser]\nenabled = false\n[plugin.x]\nsource = \"x.wasm\"\n");
    let problems = parsed(&command(&data, &["config", "check", "--json"]).run())["problems"].clone();
    let problems = problems.as_array().expect("a list");
    for (problem, what, plugin) in [(&problems[0], "plugin", "brwser"), (&problems[1], "source", "x")] {
        assert_eq!(members(problem), ["plugin", "says", "what"]);
        assert_eq!((problem["what"].as_str(), problem["plugin"].as_str()), (Some(what), Some(plugin)));
    }
    assert!(problems[1]["says"].as_str().is_some_and(|says| says.contains("mend the path")), "{problems:?}");
    let told = parsed(&command(&data, &["doctor", "--json"]).run());
    for finding in told["findings"].as_array().expect("a list") {
        assert_eq!(members(finding), ["advice", "level", "says", "what"]);
    }
    let errors = found(&data, "error");
    assert_eq!(errors.iter().filter(|error| error.contains("brwser")).count(), 1, "told once: {errors:?}");
    assert_eq!(errors.iter().filter(|error| error.contains("x.wasm")).count(), 1, "told once: {errors:?}");
    // A plugin that the host has rejected is told by the host alone.
    let data = configured(&format!(
        "[plugin.x]\nsource = \"x.wasm\"\n[plugin.echo]\nsource = '{}'\n",
        component("guest-echo").display()
    ));
    one(&found(&data, "error"), &["rejected: x: ", "x.wasm"]);
}
