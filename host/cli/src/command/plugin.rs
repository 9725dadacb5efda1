//! `wharf plugin`: plugins added, replaced, switched and removed, while hosts serve and
//! while none does.

mod add;
mod change;
mod show;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, Subcommand};
use wharf::{AddedPlugins, Configuration, Digest, PluginName, sources::PluginSource};

use super::{Global, Unusable};

/// Add plugins, list, replace, switch and remove them, also while hosts serve
///
/// What is added is kept in the data directory: hosts that serve on it take it at once,
/// and tell their clients; others have it when they start. Calls in flight finish on
/// what they began with. A plugin that was added may use nothing until wharf.toml
/// grants it something under [plugin.NAME.grants]; `wharf grant NAME` asks and writes
/// that.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf plugin add greeter.wasm                           a file, under the name `greeter`
  wharf plugin add https://example.com/g.wasm --name g \\
    --digest blake3:1f3a...                               a download that must be this component
  wharf plugin add oci://ghcr.io/team/greeter:1.2         what a registry has under this tag
  wharf plugin add oci://ghcr.io/team/greeter@sha256:9c8...
                                                          exactly this, whatever its tags say
  wharf plugin list                                       every plugin, and what became of it
  wharf plugin info greeter                               its receipt: source, digest, tools, grants
  wharf plugin update greeter                             fetch it again from where it came
  wharf plugin update greeter new.wasm --confirm          and let it have the grants of the one before
  wharf plugin disable greeter                            until `wharf plugin enable greeter`
  wharf plugin remove greeter")]
pub(super) struct Plugin {
    #[command(subcommand)]
    command: Command,

    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a plugin from a file, an https: address or an OCI registry
    ///
    /// A registry that asks for a login gets the one that `auths` in Docker's config.json
    /// has for it ($DOCKER_CONFIG, or ~/.docker), and no other; credential helpers are not
    /// started.
    Add(add::Add),
    /// List every plugin, where it comes from and what became of it
    List,
    /// Show one plugin: its receipt, and what running hosts say of it
    Info {
        /// Which one
        name: PluginName,
    },
    /// Fetch a plugin again, or put another component in its place
    ///
    /// One that was added is fetched from where it came, or from SOURCE. For others,
    /// running hosts read its file and wharf.toml again.
    Update(add::Update),
    /// Remove a plugin that was added
    Remove {
        /// Which one
        name: PluginName,
    },
    /// Switch a plugin on again
    Enable {
        /// Which one
        name: PluginName,
    },
    /// Switch a plugin off, whatever it came from, until it is switched on
    Disable {
        /// Which one
        name: PluginName,
    },
}

/// What each of them works on.
struct Place {
    configuration: Configuration,
    /// The file of it, which may not be there.
    file: PathBuf,
    data: PathBuf,
    added: AddedPlugins,
    json: bool,
}

impl Plugin {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let file = global.configuration_target()?;
        let place = Place { added: AddedPlugins::of(&data), configuration, file, data, json: self.json };
        match self.command {
            Command::Add(add) => add.run(&place),
            Command::Update(update) => update.run(&place),
            Command::List => show::list(&place),
            Command::Info { name } => show::info(&place, &name),
            Command::Remove { name } => change::remove(&place, &name),
            Command::Enable { name } => change::switch(&place, &name, true),
            Command::Disable { name } => change::switch(&place, &name, false),
        }
    }
}

/// What an operator mends.
fn unusable(error: &dyn std::error::Error) -> anyhow::Error {
    Unusable(wharf::with_causes(error)).into()
}

/// A source as it is kept: a path that is the same wherever the next command runs.
fn absolute(source: PluginSource) -> Result<PluginSource> {
    Ok(match source {
        PluginSource::File(path) => PluginSource::File(std::path::absolute(path)?),
        other @ (PluginSource::Address(_) | PluginSource::Registry(_)) => other,
    })
}

/// Refuses a component that is another one than was named.
fn check_digest(found: Digest, named: Option<Digest>) -> Result<()> {
    match named.filter(|named| *named != found) {
        Some(named) => {
            Err(Unusable(format!("its digest is {found}, and you named {named}; nothing was changed")).into())
        }
        None => Ok(()),
    }
}
