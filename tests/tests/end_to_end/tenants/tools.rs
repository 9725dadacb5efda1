//! Every tool.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf_tests::{Data, Setup, Site};

use super::{Expected, Tenant, Two, belongings, cases, check};

/// Of what this machine has no program for, nothing can be made.
pub(super) fn browses() -> bool {
    let names = ["chromium-headless-shell", "chromium", "google-chrome-stable"];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| names.iter().any(|name| folder.join(name).exists()))
}

/// Everything that the binary carries, as a developer has it.
pub(super) fn everything(files: &Data) -> Setup {
    let dock = files.path().display();
    let names = ["browser", "content-store", "planning", "playbook", "terminal"];
    let setup = names.iter().fold(Setup::bare().with("profile = \"developer\""), |setup, name| setup.bundled(name, ""));
    // Many cases in a moment are a lot for one client.
    setup
        .bundled("workspace", "")
        .with_tables(&format!(
            "[plugin.workspace.grants.process]\nreason = \"a test\"\nprograms = [\"*\"]\nshell = true\n\
             [plugin.workspace.grants.workspace]\nreason = \"a test\"\n\
             exchange = [{{ name = \"dock\", path = \"{dock}\", access = \"write\" }}]"
        ))
        .http_limit("requests_per_second", 10_000)
        // A call waits for its front end all the while.
        .limit("wall_time_milliseconds", 600_000)
}

fn listed(two: &mut Two) -> BTreeSet<String> {
    let answer = two.ask(Tenant::Second, "tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn by_no_tool_does_a_tenant_reach_what_another_one_has() {
    let (files, site) = (Data::alone(), Site::start());
    let mut two = Two::start(everything(&files));
    let tried: BTreeSet<_> = cases::all().iter().map(|(tool, ..)| (*tool).to_owned()).collect();
    assert_eq!(listed(&mut two), tried, "each tool that is listed has a case, and no other");

    let pages = browses();
    let (names, _connected) = belongings::make(&mut two, pages.then_some(&site));
    assert_eq!(listed(&mut two), tried, "tools of the first one's front end are not listed");
    let before = belongings::state(&mut two, &names, pages);
    for (tool, case, expected) in cases::all() {
        if !pages && tool.starts_with("browser__") {
            continue;
        }
        let what = format!("{tool} {case}");
        let mut ask = |arguments: Value| two.call(Tenant::Second, tool, &arguments).to_string();
        let (told, made_up) = (ask(names.real(&case)), ask(names.made_up(&case)));
        check(&what, expected, &names, &told, &made_up);
        assert!(expected == Expected::OwnAlone || told.contains("not-found"), "{what}: {told}");
    }
    assert_eq!(belongings::state(&mut two, &names, pages), before, "all of it is as it was");
}
