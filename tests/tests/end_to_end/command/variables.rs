//! Variables of the environment: which are read, and what goes before them.

use serde_json::json;
use wharf_tests::{Client, Setup, wharf};

use super::{Shell, parsed};

/// Every variable that the command reads.
const VARIABLES: [&str; 12] = [
    "WHARF_CONFIG",
    "WHARF_DATA",
    "WHARF_PROFILE",
    "WHARF_LOG",
    "WHARF_LOG_JSON",
    "WHARF_HTTP",
    "WHARF_HTTP_TOKEN_FILE",
    "WHARF_PLUGINS",
    "WHARF_SESSION",
    "WHARF_POLL_THRESHOLD",
    "WHARF_POLL_GUIDANCE",
    "WHARF_LANGUAGE",
];

#[test]
fn a_variable_that_is_empty_counts_as_not_set() {
    let shell = Shell::new(&Setup::new());
    for name in VARIABLES {
        let run = shell.command(&["tools"]).env(name, "").run();
        assert!(run.code == Some(0) && run.out.contains("echo__echo"), "{name}: {run:?}");
        // Without any flag: no file, and the defaults of everything.
        let run = wharf(["config", "check"]).env(name, "").run();
        assert_eq!(run.code, Some(0), "{name}: {run:?}");
    }
    let all = VARIABLES.iter().fold(shell.command(&["serve", "--stdio"]), |command, name| command.env(name, ""));
    let mut client = Client::connect(all);
    let answer = client.call("hostile__caller", json!({}), json!({}));
    assert!(answer["content"][0]["text"].as_str().is_some_and(|told| told.contains("\"default\"")), "{answer}");
}

#[test]
fn a_flag_goes_before_its_variable_wherever_it_stands_and_whatever_that_says() {
    let shell = Shell::new(&Setup::new());
    let (config, data) = (shell.data.path().join("wharf.toml"), shell.data.path().to_owned());
    let [config, data] = [&config, &data].map(|path| path.to_str().expect("UTF-8"));
    let elsewhere = "/nonexistent/wharf";
    let flags = ["--config", config, "--data", data, "--profile", "default", "--log", "warn", "--log-json"];
    for arguments in [[&flags[..], &["config", "check"]].concat(), [&["config", "check"], &flags[..]].concat()] {
        for (name, value) in [
            ("WHARF_CONFIG", elsewhere),
            ("WHARF_DATA", elsewhere),
            ("WHARF_PROFILE", "nonsense"),
            ("WHARF_LOG", "a=b=c"),
            ("WHARF_LOG_JSON", "nonsense"),
        ] {
            let run = wharf(&arguments).env(name, value).run();
            assert!(run.code == Some(0) && run.out.contains("hostile"), "{name} {arguments:?}: {run:?}");
        }
    }
    // Beside no flag they are read, and what they say is checked.
    for (name, code) in [("WHARF_CONFIG", 3), ("WHARF_PROFILE", 2)] {
        let run = wharf(["config", "check"]).env(name, elsewhere).run();
        assert_eq!(run.code, Some(code), "{name}: {run:?}");
    }
    let run = wharf(["config", "check", "--json"]).env("WHARF_CONFIG", config).env("WHARF_DATA", data).run();
    assert_eq!(parsed(&run)["data"], data);
}
