//! `wharf tools`: what there is to call.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use wharf::{TenantId, ToolService, Viewer};

use crate::{
    exit::UNUSABLE,
    global::{Global, runtime},
    print::print_json,
};

/// List the tools, in the order in which a client sees them
#[derive(Debug, Args)]
pub(super) struct ToolsArguments {
    /// Print a JSON object with every schema
    #[arg(long)]
    json: bool,
}

impl ToolsArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let host = runtime()?.block_on(global.open(configuration))?;
        let tenant = TenantId::local();
        let (tools, rejected) = (host.tools(Viewer::of_tenant(&tenant)), host.rejected());
        if self.json {
            let rejected: Vec<_> =
                rejected.iter().map(|plugin| json!({"plugin": plugin.name, "reason": plugin.reason})).collect();
            print_json(&json!({"tools": &*tools, "rejected": rejected}))?;
        } else {
            for tool in tools.iter() {
                println!("{}\n    {}", tool.name, first_sentence(&tool.description));
            }
            for installed in host.installed() {
                if let Some(withheld) = installed.withheld {
                    eprintln!("plugin {} has none of its grants: {withheld}", withheld.plugin);
                }
            }
            for plugin in &rejected {
                eprintln!("plugin {} cannot be loaded: {}", plugin.name, plugin.reason);
            }
        }
        Ok(if rejected.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) })
    }
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}
