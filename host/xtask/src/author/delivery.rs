//! What becomes of a plugin when it is done: its author publishes it, an operator adds it to a host
//! that serves, grants what it needs, and replaces it by its second version. In every language, in
//! one host, beside components that know nothing of wharf.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::client::Client;
use super::plugin::AuthoredPlugin;
use crate::command::{self, say};
use crate::foreign::ForeignComponent;
use crate::registry::LocalRegistry;
use crate::workspace::Workspace;

/// The operator of the host, with a configuration and data of their own.
struct Operator {
    wharf: PathBuf,
    home: PathBuf,
}

impl Operator {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut wharf = Command::new(&self.wharf);
        wharf.args(arguments).current_dir(&self.home);
        command::as_new_user(&mut wharf, &self.home);
        wharf
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        command::run_and_capture(&mut self.command(arguments))
    }
}

/// `here` is an empty folder. Says so where no registry can be had.
pub(super) fn check(
    workspace: &Workspace,
    here: &Path,
    plugins: &[AuthoredPlugin],
    foreign: &[ForeignComponent],
) -> Result<()> {
    say("Publishing each plugin, and adding it to a host that serves a client");
    let Some(registry) = LocalRegistry::start(workspace, here)? else {
        println!("author: NOT TESTED: publishing and what follows it: docker-registry cannot be had here");
        return Ok(());
    };
    let operator = Operator { wharf: workspace.binary("debug", "wharf"), home: here.to_owned() };
    let mut client = Client::start(&mut operator.command(&["serve", "--stdio"]))?;
    for plugin in plugins {
        first_version(plugin, &registry, &operator, &mut client)
            .with_context(|| format!("the first version in {} is not served", plugin.language.name))?;
    }
    for component in foreign {
        let path = component.path.to_string_lossy();
        operator.run(&["plugin", "add", "--functions", "--name", component.language, &path])?;
        let greet = format!("{}__greet", component.language);
        client.until_described(&greet, "")?;
        client.expect(&greet, &json!({ "name": "Ada" }), "Hello, Ada.")?;
    }
    for plugin in plugins {
        second_version(plugin, &registry, &operator, &mut client)
            .with_context(|| format!("the second version in {} is not served", plugin.language.name))?;
    }
    // What was there before is there still, beside what came later.
    for component in foreign {
        client.expect(&format!("{}__greet", component.language), &json!({ "name": "Bob" }), "Hello, Bob.")?;
    }
    client.end()?;
    let languages: Vec<_> = plugins.iter().map(|plugin| plugin.language.name).collect();
    println!(
        "author: plugins in {} are published, added to a host that serves, granted, called and replaced, beside {} \
         components of others",
        languages.join(", "),
        foreign.len()
    );
    Ok(())
}

fn first_version(
    plugin: &AuthoredPlugin,
    registry: &LocalRegistry,
    operator: &Operator,
    client: &mut Client,
) -> Result<()> {
    let repository = publish(plugin, registry)?;
    operator.run(&["plugin", "add", &format!("{repository}:0.1.0")])?;
    is_served_without_grants(plugin, client, "Edited.", "Good day, Ada.")?;
    operator.run(&["grant", plugin.name, "--allow", "state", "--reason", "counts visits"])?;
    client.expect(&plugin.tool("count_visit"), &visitor(), "Visit 1 of Ada.")
}

fn second_version(
    plugin: &AuthoredPlugin,
    registry: &LocalRegistry,
    operator: &Operator,
    client: &mut Client,
) -> Result<()> {
    plugin.change(Path::new(plugin.language.manifest), |text| text.replacen("0.1.0", "0.2.0", 1))?;
    plugin
        .change(&plugin.greeting(), |text| text.replace("Edited.", "Second.").replace("Good day,", "Hello again,"))?;
    let repository = publish(plugin, registry)?;
    operator.run(&["plugin", "update", plugin.name, &format!("{repository}:0.2.0")])?;
    // A grant belongs to one component.
    is_served_without_grants(plugin, client, "Second.", "Hello again, Ada.")?;
    operator.run(&["grant", plugin.name, "--confirm"])?;
    client.expect(&plugin.tool("count_visit"), &visitor(), "Visit 2 of Ada.")
}

fn visitor() -> Value {
    json!({ "visitor": "Ada" })
}

/// Publishes it under its version: where that is.
fn publish(plugin: &AuthoredPlugin, registry: &LocalRegistry) -> Result<String> {
    let repository = format!("oci://{}/{}", registry.address, plugin.name);
    command::run_and_capture(&mut plugin.wharf(["publish", &repository]))?;
    Ok(repository)
}

/// It is listed and answers, and what needs a grant is refused.
fn is_served_without_grants(
    plugin: &AuthoredPlugin,
    client: &mut Client,
    description: &str,
    greeting: &str,
) -> Result<()> {
    let greet = plugin.tool("greet");
    client.until_described(&greet, description)?;
    client.expect(&greet, &json!({ "name": "Ada" }), greeting)?;
    let refused = client.call(&plugin.tool("count_visit"), &visitor())?;
    ensure!(refused.is_err(), "what is not granted to this component is done: {refused:?}");
    Ok(())
}
