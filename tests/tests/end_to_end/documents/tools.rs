//! The tools that the documents name, beside those that there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use wharf_tests::{Client, Data, wharf};

use super::pages::pages;

/// The tools of bundled plugins, by plugin.
fn tools() -> BTreeMap<String, BTreeSet<String>> {
    let data = Data::new();
    let serve = ["serve", "--stdio", "--session", "new", "--profile", "developer"];
    let mut client = Client::connect(wharf(serve).data(data.path()));
    let listed = client.request("tools/list", json!({}));
    let mut tools = BTreeMap::<_, BTreeSet<_>>::new();
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        let (plugin, name) = tool["name"].as_str().and_then(|name| name.split_once("__")).expect("a full name");
        tools.entry(plugin.to_owned()).or_default().insert(name.to_owned());
    }
    tools
}

#[test]
fn the_chapter_of_a_plugin_has_a_row_for_each_of_its_tools_and_for_nothing_else() {
    let pages = pages();
    for (plugin, tools) in tools() {
        let path = format!("docs/src/plugins/{plugin}.md");
        let page = pages.iter().find(|page| page.path == path).unwrap_or_else(|| panic!("{path} is missing"));
        let (_, section) = page.text.split_once("\n## Tools\n").expect("a section on tools");
        let section = section.split("\n## ").next().unwrap_or_default();
        let cells = section.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
        let rows: BTreeSet<_> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
        assert_eq!(rows, tools, "{path}");
    }
}

#[test]
fn every_tool_that_is_named_in_full_is_there() {
    let tools = tools();
    let legal = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    for page in pages() {
        for word in page.text.split(|letter| !legal(letter)) {
            // Others are of plugins that the reader writes.
            if let Some((plugin, tool)) = word.split_once("__")
                && let Some(known) = tools.get(plugin)
            {
                assert!(known.contains(tool), "{}: `{word}`", page.path);
            }
        }
    }
}
