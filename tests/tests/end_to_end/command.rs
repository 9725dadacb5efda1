//! The command: what it prints, where, and its exit codes.

mod connecting;
mod inspecting;
mod shells;
mod variables;

use serde_json::{Value, json};
use wharf::{
    CallLimits, HostLimits,
    limit::{HttpLimits, ProcessLimits, RequestLimits, StreamLimits, TerminalLimits},
};
use wharf_tests::{Client, Command, Data, Finished, Setup, component, wharf};

/// The command on the guests.
struct Shell {
    data: Data,
}

impl Shell {
    fn new(setup: &Setup) -> Self {
        let data = Data::new();
        data.write("wharf.toml", setup.text());
        Self { data }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        wharf(arguments).config(&self.data.path().join("wharf.toml")).data(self.data.path())
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).run()
    }
}

fn parsed(run: &Finished) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn a_call_prints_its_answer_and_nothing_else() {
    let shell = Shell::new(&Setup::new());
    let run = shell.run(&["call", "echo__echo", r#"{"text":"hello"}"#]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "hello\n", ""));
    let whole = parsed(&shell.run(&["call", "--json", "echo__echo", r#"{"text":"hello"}"#]));
    assert_eq!(whole["content"], json!([{"mimeType": "text/plain", "text": "hello"}]));
    assert_eq!(whole["isError"], json!(false));
    let error_answer = shell.run(&["call", "hostile__error_answer", r#"{"text":"no"}"#]);
    assert_eq!((error_answer.code, error_answer.out.as_str()), (Some(1), "no\n"));
}

#[test]
fn a_call_takes_its_arguments_from_standard_input_where_it_is_told_to() {
    let shell = Shell::new(&Setup::new());
    let command = shell.command(&["call", "echo__echo", "-"]).through(r#"printf '{"text":"piped"}' | "$@""#).run();
    assert_eq!((command.code, command.out.as_str()), (Some(0), "piped\n"), "{command:?}");
}

#[test]
fn a_tool_that_asks_for_input_is_told_and_has_not_answered() {
    let shell = Shell::new(&Setup::new().plugin("conformance", &component("guest-conformance"), ""));
    let call = ["call", "conformance__test_input_required_result_elicitation", "{}"];
    let run = shell.run(&call);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{run:?}");
    assert!(run.err.contains("asks for input") && run.err.contains("user_name, elicitation/create: "), "{run:?}");
    let whole = parsed(&shell.run(&[call.as_slice(), &["--json"]].concat()));
    assert_eq!(whole["inputRequired"]["requests"]["user_name"]["method"], "elicitation/create");
}

#[test]
fn a_call_that_fails_says_why_on_standard_error_and_as_json_where_asked() {
    let shell = Shell::new(&Setup::new());
    for (arguments, code, word) in [
        (["call", "echo__nothing", "{}"], 1, "not-found"),
        (["call", "nothing", "{}"], 1, "not-found"),
        (["call", "echo__echo", "{}"], 1, "invalid"),
        (["call", "echo__echo", r#"{"text":7}"#], 1, "/text"),
        (["call", "hostile__trap", "{}"], 1, "internal"),
        (["call", "echo__echo", "not json"], 2, "no JSON object"),
        (["call", "echo__echo", "[1]"], 2, "no JSON object"),
        (["call", "echo__echo", r#"{"text":"x""#], 2, "no JSON object"),
    ] {
        let run = shell.run(&arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{arguments:?}: {run:?}");
        assert!(run.err.starts_with("error: ") && run.err.contains(word), "{arguments:?}: {run:?}");
        assert_eq!(run.err.contains("`wharf tools`"), word == "not-found", "{arguments:?}: {run:?}");
    }
    let failed = shell.run(&["call", "--json", "echo__echo", "{}"]);
    assert_eq!(failed.code, Some(1));
    assert_eq!(parsed(&failed)["error"]["code"], "invalid");
}

#[test]
fn a_call_runs_in_the_context_that_its_options_name() {
    let shell = Shell::new(&Setup::new());
    let run = shell.run(&["call", "hostile__caller", "--session", "s", "--assistant", "a", "--thread", "t"]);
    let told: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((&told["session"], &told["assistant"], &told["thread"]), (&json!("s"), &json!("a"), &json!("t")));
    let illegal = shell.run(&["call", "hostile__caller", "--session", "a b"]);
    assert_eq!(illegal.code, Some(2));
    assert!(illegal.err.contains("1 to 128 bytes"), "{illegal:?}");
}

#[test]
fn tools_are_listed_in_one_order_and_refused_plugins_are_named() {
    let shell = Shell::new(&Setup::new());
    let run = shell.run(&["tools"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let names: Vec<_> = run.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(names.is_sorted() && names.contains(&"echo__echo") && names.contains(&"hostile__spin"), "{names:?}");
    let listed = parsed(&shell.run(&["tools", "--json"]));
    let as_json: Vec<_> = listed["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(json!(as_json), json!(names));
    assert_eq!(listed["rejected"], json!([]));

    let bad = Data::alone();
    let path = bad.write("bad.wasm", "no component");
    let shell = Shell::new(&Setup::new().plugin("bad", &path, ""));
    let run = shell.run(&["tools"]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("bad") && run.out.contains("echo__echo"), "{run:?}");
    let listed = parsed(&shell.run(&["tools", "--json"]));
    assert_eq!(listed["rejected"][0]["plugin"], "bad");
}

#[test]
fn a_plugin_that_is_refused_is_told_once_and_a_command_leaves_no_line_of_audit_for_it() {
    let files = Data::alone();
    let path = files.write("bad.wasm", "no component");
    let pinned = component("guest-offering");
    let digest = format!("digest = \"blake3:{}\"\n[plugin.pinned.grants.state]\nreason = \"r\"", "0".repeat(64));
    let shell = Shell::new(&Setup::new().plugin("bad", &path, "").plugin("pinned", &pinned, &digest));
    for command in [&["tools"][..], &["doctor"]] {
        let run = shell.run(command);
        let all = format!("{}{}", run.out, run.err);
        assert_eq!(all.matches("no Wasm component").count(), 1, "{command:?}: {run:?}");
    }
    let run = shell.run(&["tools"]);
    assert_eq!(run.err.matches("has none of its grants").count(), 1, "{run:?}");
    let run = shell.run(&["call", "echo__echo", r#"{"text":"hello"}"#]);
    assert_eq!(run.err.matches("no Wasm component").count(), 1, "{run:?}");
    let audit = shell.run(&["audit", "--json"]);
    assert!(audit.out.contains("echo") && !audit.out.contains("rejected"), "{audit:?}");
    // A host that serves does leave one.
    let client = Client::connect(shell.command(&["serve", "--stdio"]));
    assert_eq!(client.leave().2, Some(0));
    let audit = shell.run(&["audit", "--json"]);
    assert_eq!(audit.out.matches("\"rejected\"").count(), 1, "{audit:?}");
}

#[test]
fn the_nearest_names_come_first_where_a_tool_is_unknown() {
    let shell = Shell::new(&Setup::new().planning());
    for (slip, meant) in [
        ("planning__mark_tood", "planning__mark_todo"),
        ("planing__mark_todo", "planning__mark_todo"),
        ("planing__mark_todos", "planning__mark_todo"),
        ("planning__set_goals", "planning__"),
        ("echo__ecko", "echo__echo"),
        ("hostile__cpu_spin", "hostile__spin"),
    ] {
        let run = shell.run(&["call", slip, "{}"]);
        let told = run.err.split_once("there are: ").unwrap_or_else(|| panic!("{slip}: {run:?}")).1;
        assert!(told.starts_with(meant), "{slip}: {told}");
        assert!(told.split(", ").count() <= 10, "{slip}: {told}");
    }
}

#[test]
fn a_client_that_names_no_tool_is_told_why_and_what_to_do() {
    let files = Data::alone();
    let broken = files.write("broken.wasm", "no component");
    // Without a table of its own, `workspace` is on and granted nothing, so it is off.
    let setup = Setup::new().planning().bundled("workspace", "").plugin("broken", &broken, "");
    let shell = Shell::new(&setup);
    let mut client = Client::connect(shell.command(&["serve", "--stdio"]));
    for (name, told) in [
        ("planning__create_gaol", "there are: planning__create_goal"),
        ("create_goal", "there are: planning__create_goal"),
        ("workspace__execute_shell", "plugin `workspace` is off, since it is granted nothing; the operator grants it"),
        ("broken__run", "plugin `broken` could not be loaded; `wharf plugin list`"),
        ("browser__open_page", "switched off: wharf.toml says `enabled = false` under [plugin.browser]"),
        // A slip in the name of a plugin that has no tools leads to the reason for that.
        ("workspce__execute_shell", "did you mean one of `workspace`? plugin `workspace` is off"),
    ] {
        let answer = client.request("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(&format!("there is no tool `{name}`; ")) && message.contains(told), "{message}");
        // The command says the same.
        let run = shell.run(&["call", name, "{}"]);
        assert!(run.err.contains(told), "{name}: {run:?}");
    }
    // A call of a tool that does not exist is recorded, too.
    assert_eq!(client.leave().2, Some(0));
    let audit = shell.run(&["audit", "--json"]);
    assert!(audit.out.lines().any(|line| line.contains("broken__run") && line.contains("not-found")), "{audit:?}");
}

#[test]
fn inspect_says_what_a_component_is_and_leaves_nothing_behind() {
    let files = Data::alone();
    let path = files.write("some_guest.wasm", wharf_tests::bytes("guest-hostile"));
    let name = path.to_str().expect("a path");
    let run = wharf(["inspect", name]).env("HOME", files.path().to_str().expect("a path")).run();
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    for word in ["digest", "hostile", "wharf:plugin/state", "[plugin.some-guest.grants.state]", "grants.events"] {
        assert!(run.out.contains(word) || word == "hostile", "{word}: {}", run.out);
    }
    let inspected = parsed(&wharf(["inspect", "--json", name]).run());
    assert_eq!(inspected["grants"], json!(["events", "process", "state", "terminal", "webview", "workspace"]));
    assert_eq!(inspected["bytes"], json!(wharf_tests::bytes("guest-hostile").len()));
    assert!(inspected["digest"].as_str().is_some_and(|digest| digest.starts_with("blake3:")));
    let kept = std::fs::read_dir(files.path()).expect("read").count();
    assert_eq!(kept, 1, "inspecting made files");
    let echo = parsed(&wharf(["inspect", "--json", component("guest-echo").to_str().expect("a path")]).run());
    assert_eq!(echo["tools"][0]["name"], "echo");
}

#[test]
fn what_takes_long_is_said_on_standard_error_unless_it_is_to_be_quiet() {
    let files = Data::alone();
    let path = files.write("some_guest.wasm", wharf_tests::bytes("content-store"));
    let name = path.to_str().expect("a path");
    let run = wharf(["inspect", name]).env("WHARF_QUIET", "").run();
    assert!(run.err.starts_with("compiling some-guest ("), "{run:?}");
    assert!(!run.out.contains("compiling"), "{run:?}");
    for (flags, variable) in [(&["--quiet"][..], ""), (&[], "1"), (&[], "true")] {
        let run = wharf([&["inspect", name], flags].concat()).env("WHARF_QUIET", variable).run();
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    }
    let run = wharf(["inspect", name]).env("WHARF_QUIET", "0").run();
    assert!(run.err.starts_with("compiling some-guest ("), "{run:?}");
}

#[test]
fn arguments_that_are_no_text_are_wrong_usage_too() {
    let data = Data::alone();
    let script = "printf '{\"goal\":\"\\377\"}' | \"$@\"";
    let run = wharf(["call", "planning__create_goal", "-"]).data(data.path()).through(script).run();
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
    assert!(run.err.contains("no JSON object"), "{run:?}");
    let file = format!("goal={}", data.write("latin", b"\xe9").display());
    let run = wharf(["call", "planning__create_goal", "--text", &file]).data(data.path()).run();
    assert!(run.code == Some(2) && run.err.contains("is not UTF-8"), "{run:?}");
}

#[test]
fn the_page_of_limits_is_what_the_command_prints() {
    let run = wharf(["config", "limits", "--markdown"]).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/configuration/limits.md");
    let page = std::fs::read_to_string(page).expect("the page of limits is there");
    assert!(page == run.out, "write it again: wharf config limits --markdown > docs/src/configuration/limits.md");
    let plain = wharf(["config", "limits"]).run();
    let further =
        [ProcessLimits::TABLE, TerminalLimits::TABLE, StreamLimits::TABLE, RequestLimits::TABLE, HttpLimits::TABLE]
            .concat();
    for row in CallLimits::TABLE.iter().chain(HostLimits::TABLE).chain(&further) {
        assert!(run.out.contains(&format!("`{}`", row.name)) && plain.out.contains(row.name), "{}", row.name);
    }
}

#[test]
fn the_reference_of_the_configuration_is_what_the_command_prints() {
    let run = wharf(["config", "schema", "--markdown"]).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/configuration/reference.md");
    let page = std::fs::read_to_string(page).expect("the reference is there");
    assert!(page == run.out, "write it again: wharf config schema --markdown > docs/src/configuration/reference.md");
}

#[test]
fn config_check_as_json_says_what_differs_from_the_defaults() {
    let shell = Shell::new(&Setup::new().limit("output_bytes", 5).state(""));
    let checked = parsed(&shell.run(&["config", "check", "--json"]));
    assert_eq!(checked["limits"], json!({"output_bytes": 5}));
    assert_eq!(checked["plugins"]["hostile"]["enabled"], json!(true));
    assert!(checked["plugins"]["hostile"]["grants"]["state"]["reason"].is_string(), "{checked}");
    assert_eq!(checked["data"], json!(shell.data.path()));
}

#[test]
fn help_teaches_each_command() {
    for (arguments, words) in [
        (vec!["--help"], vec!["Examples:", "Exit codes:", "--data", "--config", "WHARF_CONFIG"]),
        (vec!["serve", "--help"], vec!["--stdio", "--session", "WHARF_SESSION"]),
        (vec!["call", "--help"], vec!["--session", "--assistant", "--thread", "--json", "standard input"]),
        (vec!["tools", "--help"], vec!["--json"]),
        (vec!["inspect", "--help"], vec!["--json", "sandbox"]),
        (vec!["config", "--help"], vec!["check", "limits"]),
        (vec!["config", "limits", "--help"], vec!["--markdown"]),
        (vec!["config", "schema", "--help"], vec!["--markdown"]),
    ] {
        let run = wharf(&arguments).run();
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        for word in words {
            assert!(run.out.contains(word), "{arguments:?} does not say {word}:\n{}", run.out);
        }
    }
    assert!(wharf(["--version"]).run().out.starts_with("wharf "));
}

#[test]
fn a_reader_that_has_gone_ends_a_command_well() {
    let shell = Shell::new(&Setup::new());
    for arguments in [&["tools"][..], &["tools", "--json"], &["config", "schema"], &["config", "limits", "--markdown"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = shell.command(arguments).started_into(std::fs::File::from(std::os::fd::OwnedFd::from(writer)));
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let none: [&str; 0] = [];
    assert_eq!(wharf(none).run().code, Some(2));
    for arguments in [
        vec!["no-such-command"],
        vec!["tools", "--no-such-option"],
        vec!["call"],
        vec!["serve"],
        vec!["tools", "--log", "a=b=c"],
    ] {
        let run = wharf(&arguments).run();
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.err.contains("--"), "{arguments:?}: {run:?}");
    }
    let run = wharf(["serve"]).run();
    assert!(run.err.contains("--stdio") && run.err.contains("--http"), "{run:?}");
}

#[test]
fn lines_that_are_no_messages_do_not_end_a_server() {
    let shell = Shell::new(&Setup::new());
    let mut client = Client::connect(shell.command(&["serve", "--stdio"]));
    for line in [
        "",
        "not json",
        "{",
        "[]",
        "7",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"id\":1}",
        "\u{0}\u{1}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}",
    ] {
        client.send_raw(line);
    }
    client.send_raw(&format!("{{\"jsonrpc\":\"2.0\",\"x\":\"{}\"", "x".repeat(1 << 20)));
    client.send_raw(&"[".repeat(100_000));
    let answer = client.call("echo__echo", json!({"text": "still here"}), json!({}));
    assert_eq!(answer["content"][0]["text"], "still here");
    let unknown = client.request("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], json!(-32601), "{unknown}");
    let unknown = client.request("tools/call", json!({"name": "echo__nothing", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("echo__echo")), "{unknown}");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn a_system_without_address_space_for_a_pool_runs_calls_all_the_same() {
    let shell = Shell::new(&Setup::new());
    // A pool reserves terabytes; this leaves room for the binary and a guest.
    let call = shell.command(&["call", "echo__echo", r#"{"text":"in little space"}"#]);
    let run = call.through("ulimit -v 4000000; exec \"$@\"").run();
    assert_eq!((run.code, run.out.as_str()), (Some(0), "in little space\n"), "{run:?}");
    assert!(run.err.contains("no room for pooled instances"), "{run:?}");
}

#[test]
fn a_call_of_a_plugin_that_could_not_be_loaded_says_so_and_not_why() {
    let files = Data::alone();
    let path = files.write("broken.wasm", "no component");
    let shell = Shell::new(&Setup::new().plugin("broken", &path, ""));
    let run = shell.run(&["call", "broken__run", "{}", "--json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let message = parsed(&run)["error"]["message"].as_str().map(str::to_owned).expect("a message");
    assert!(message.contains("could not be loaded"), "{message}");
    // The reason names files of the operator's.
    assert!(!message.contains("broken.wasm") && !message.contains("no Wasm component"), "{message}");
    assert!(run.err.contains("no Wasm component"), "{run:?}");
}
