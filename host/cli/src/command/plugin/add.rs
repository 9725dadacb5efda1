//! `wharf plugin add` and `wharf plugin update`: fetch, inspect, keep, tell.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, bail};
use clap::Args;
use wharf::{Digest, PluginName, added::AddedError, sources::PluginSource};

use super::{
    change,
    installation::{Installation, source, unusable},
    proposal::Proposal,
    show,
};
use crate::{exit::Unusable, hosts::HostAnswers};

#[derive(Debug, Args)]
pub(super) struct Add {
    /// A file, an https: address, or oci://REGISTRY/NAME:TAG (or @sha256:HEX)
    #[arg(value_parser = source)]
    pub(super) source: PluginSource,

    /// What it is called [default: the name of the file without its ending, or the last part of NAME]
    #[arg(long)]
    pub(super) name: Option<PluginName>,

    /// Accept this component alone, now and at updates
    #[arg(long, value_name = "blake3:HEX")]
    pub(super) digest: Option<Digest>,

    /// A signature of it, by minisign or as a sigstore bundle, beside those that lie where it comes from; several times for
    /// several
    #[arg(long, value_name = "FILE")]
    pub(super) signature: Vec<PathBuf>,

    /// Make a tool of each function that it exports, for a component that was made for another host
    #[arg(long)]
    pub(super) functions: bool,
}

#[derive(Debug, Args)]
pub(super) struct Update {
    /// Which one
    pub(super) name: PluginName,

    /// Another file, address or reference than it came from
    #[arg(value_parser = source)]
    pub(super) source: Option<PluginSource>,

    /// Accept this component alone
    #[arg(long, value_name = "blake3:HEX")]
    pub(super) digest: Option<Digest>,

    /// A signature of it, as for `wharf plugin add`
    #[arg(long, value_name = "FILE")]
    pub(super) signature: Vec<PathBuf>,

    /// Let it have what wharf.toml grants the one before, as `wharf grant NAME --confirm` does
    #[arg(long)]
    pub(super) confirm: bool,
}

impl Add {
    pub(super) fn run(self, installation: &Installation) -> Result<ExitCode> {
        let proposal = Proposal::to_add(self, installation)?;
        proposal.apply(installation)?;
        let hosts = HostAnswers::reload(&installation.data)?;
        if !installation.json {
            println!("Added {}.", proposal.receipt.name);
        }
        show::changed(installation, &proposal.receipt, &hosts)
    }
}

impl Update {
    pub(super) fn run(self, installation: &Installation) -> Result<ExitCode> {
        let Some(proposal) = Proposal::to_update(&self, installation, false)? else {
            return self.reread(installation);
        };
        proposal.apply(installation)?;
        let hosts = HostAnswers::reload(&installation.data)?;
        let (name, new) = (&self.name, proposal.newly_wanted());
        if !installation.json {
            match proposal.is_same() {
                true => println!("{name} is the same component as before."),
                false => println!("Replaced {name}."),
            }
            if !new.is_empty() {
                println!("It asks for more than before: {}.", new.join(", "));
            }
        }
        show::changed(installation, &proposal.receipt, &hosts)
    }

    /// A plugin that was not added: running hosts look at its file again.
    fn reread(&self, installation: &Installation) -> Result<ExitCode> {
        let name = &self.name;
        if self.confirm {
            bail!(Unusable(format!(
                "no plugin {name} was added; `wharf grant {name} --confirm` confirms what is there"
            )));
        }
        if self.source.is_some() || self.digest.is_some() {
            bail!(Unusable(format!("no plugin {name} was added; `wharf plugin add SOURCE --name {name}` adds one")));
        }
        let hosts = HostAnswers::reload(&installation.data)?;
        if !hosts.know(name) && !change::is_known(installation, name) {
            return Err(unusable(&AddedError::Unknown { name: name.clone() }));
        }
        show::told(installation, name, &hosts)
    }
}
