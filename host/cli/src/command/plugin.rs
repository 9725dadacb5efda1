//! `wharf plugin`: plugins added, replaced, switched and removed, while hosts serve and
//! while none does.

mod add;
mod change;
mod denied;
mod installation;
mod materials;
mod operated;
mod proposal;
mod search;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use wharf::PluginName;

use self::installation::Installation;
pub(super) use self::operated::change as change_by_operator;
use crate::global::Global;

/// Add plugins, list, replace, switch and remove them, also while hosts serve
///
/// What is added is kept in the data directory: hosts that serve on it take it at once,
/// and tell their clients; others have it when they start. Calls in flight finish on
/// what they began with. A plugin that was added may use nothing until wharf.toml
/// grants it something under [plugin.NAME.grants]; `wharf grant NAME` asks and writes
/// that.
///
/// Where wharf.toml names a cluster, what is added, replaced, switched or removed is so at
/// all its hosts: they read it from the database within seconds, and a host that was away
/// before it serves. `wharf grant` then grants at all of them, too.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf plugin add greeter.wasm                           a file, under the name `greeter`
  wharf plugin add https://example.com/g.wasm --name g \\
    --digest blake3:1f3a...                               a download that must be this component
  wharf plugin add oci://ghcr.io/team/greeter:1.2         what a registry has under this tag
  wharf plugin add oci://ghcr.io/team/greeter@sha256:9c8...
                                                          exactly this, whatever its tags say
  wharf plugin search weather --index https://example.com/plugins.json
                                                          what an index lists, and how to add it
  wharf plugin list                                       every plugin, and what became of it
  wharf plugin info greeter                               its receipt: source, digest, tools, grants
  wharf plugin update greeter                             fetch it again from where it came
  wharf plugin update greeter new.wasm --confirm          and let it have the grants of the one before
  wharf plugin add greeter.wasm --cluster                 at all hosts of the cluster, or not at all
  wharf plugin disable greeter                            until `wharf plugin enable greeter`
  wharf plugin remove greeter")]
pub(super) struct PluginArguments {
    #[command(subcommand)]
    command: Command,

    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,

    /// Fail where wharf.toml names no cluster, instead of changing the data directory alone
    #[arg(long, global = true)]
    cluster: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a plugin from a file, an https: address or an OCI registry
    ///
    /// A registry that asks for a login gets the one that `auths` in Docker's config.json
    /// has for it ($DOCKER_CONFIG, or ~/.docker), and no other; credential helpers are not
    /// started.
    Add(add::Add),
    /// Search indexes for plugins that could be added
    ///
    /// An index is a JSON file that lists plugins with the source and the digest of each
    /// version: a path, an https: address, or an artifact in an OCI registry. There is no
    /// index by default: name one, or write `indexes` under [plugins] in wharf.toml. What an
    /// index says of a plugin is unverified.
    Search(search::Search),
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
    /// Show the list of what must not run, that `[plugins.deny]` names
    Denied {
        /// Fetch it now, and have running hosts take it
        #[arg(long)]
        refresh: bool,
    },
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

impl PluginArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let installation = || Installation::find(global, self.json);
        let to_change = || Installation::to_change(global, self.json, self.cluster);
        match self.command {
            Command::Add(add) => add.run(&to_change()?),
            Command::Update(update) => update.run(&to_change()?),
            Command::Search(search) => search.run(&installation()?),
            Command::List => show::list(&installation()?),
            Command::Info { name } => show::info(&installation()?, &name),
            Command::Denied { refresh } => denied::show(&installation()?, refresh),
            Command::Remove { name } => change::remove(&to_change()?, &name),
            Command::Enable { name } => change::switch(&to_change()?, &name, true),
            Command::Disable { name } => change::switch(&to_change()?, &name, false),
        }
    }
}
