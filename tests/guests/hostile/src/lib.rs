//! A plugin whose every tool is an attack on the host, or a look at what the
//! wall lets through. Numbers are arguments, so that a test can go to a limit
//! and to one beyond.
//!
//! It speaks the raw contract: the SDK would not let it say most of this. Every
//! tool that survives answers one text: JSON of what it found.

mod answers;
mod attack;
mod clocks;
mod compute;
mod events;
mod files;
mod http;
mod memory;
mod outside;
mod process;
mod state;
mod terminal;
mod webview;

use serde_json::Value;
use wharf_sdk::bindings::exports::wharf::plugin::tools::{Answer, Guest, Tool};
use wharf_sdk::bindings::wharf::plugin::types::Error;

use attack::{Attack, error};

/// The attacker.
#[derive(Debug, Clone, Copy)]
pub struct Hostile;

fn attacks() -> impl Iterator<Item = &'static Attack> {
    [
        compute::ATTACKS,
        clocks::ATTACKS,
        memory::ATTACKS,
        state::ATTACKS,
        events::ATTACKS,
        outside::ATTACKS,
        answers::ATTACKS,
        process::ATTACKS,
        files::ATTACKS,
        terminal::ATTACKS,
        webview::ATTACKS,
        http::ATTACKS,
    ]
    .into_iter()
    .flatten()
}

impl Guest for Hostile {
    fn list_tools() -> Vec<Tool> {
        // Tried here as well, where nothing may be granted; a test reads it.
        let found = serde_json::json!({ "whileListing": state::probe_imports() }).to_string();
        let mut tools: Vec<Tool> = attacks().map(Attack::definition).collect();
        for tool in tools.iter_mut().filter(|tool| tool.name == "probe_imports") {
            tool.meta = Some(found.clone());
        }
        tools
    }

    fn call_tool(name: String, arguments: String) -> Result<Answer, Error> {
        let arguments: Value =
            serde_json::from_str(&arguments).map_err(|cause| error("invalid", &cause.to_string()))?;
        match attacks().find(|attack| attack.name == name) {
            Some(attack) => (attack.run)(&arguments),
            None => Err(error("not-found", &name)),
        }
    }
}

#[cfg(target_family = "wasm")]
wharf_sdk::bindings::export!(Hostile with_types_in wharf_sdk::bindings);
