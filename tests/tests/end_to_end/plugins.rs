//! Plugins that come, change and go: their names in the list, what is kept of them, and
//! what happens to calls meanwhile.

mod addresses;
pub(crate) mod commands;
mod endings;
mod folder;
mod granting;
mod library;
mod materials;
mod policies;
mod prefix;
pub(crate) mod registries;
mod sealed;
mod searching;
mod signed;
mod swaps;

use serde_json::{Value, json};
use wharf::{Host, ToolService as _};
use wharf_tests::{Client, Crafted, CraftedTool, blocking, viewer};

/// A component with a tool of each of these names.
fn with_tools(names: &[&str]) -> Vec<u8> {
    Crafted { tools: names.iter().map(|name| CraftedTool::new(name)).collect(), ..Crafted::default() }.bytes()
}

/// A component whose tool `run` answers `yes` or `no`.
pub(crate) fn saying(yes: bool) -> Vec<u8> {
    Crafted { call: format!("i32.const {}", i32::from(yes)), ..Crafted::default() }.bytes()
}

/// The names of the tools that are listed.
fn listed(host: &Host) -> Vec<String> {
    host.tools(viewer()).iter().map(|tool| tool.name.clone()).collect()
}

/// The names of the tools that a client sees.
fn seen(client: &mut Client) -> Vec<String> {
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// How often the client was told that the list of tools has changed.
fn told(client: &Client) -> usize {
    let messages = client.seen.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter(|message| message["method"] == "notifications/tools/list_changed").count()
}

/// Waits until something is so of a client; each look is a request.
fn eventually(client: &mut Client, what: &str, mut is_so: impl FnMut(&mut Client) -> bool) {
    blocking::until(what, || if is_so(client) { Ok(()) } else { Err(client.log()) });
}
