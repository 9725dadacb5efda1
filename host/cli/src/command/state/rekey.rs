//! `wharf state rekey` and `wharf state read`: what is on disk under the keys of the configuration.

use std::{
    io::{Write as _, stdout},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::encryption::{self, EncryptionError, NOT_ENCRYPTED, RekeyReport};

use crate::{bytes::size, exit::Unusable, global::Global, operated, print::print_json};

/// Encrypt what is on disk anew, under a new data key
///
/// Encrypts state, the output and records of processes and terminals, and
/// recordings under a new data key, which the master key of [encryption.key] in
/// wharf.toml wraps. Hosts of the data directory have to be stopped meanwhile.
///
/// Run it after [encryption.key] was written, to encrypt what is there; after the
/// master key was replaced, with the one before under [encryption.previous_key];
/// and whenever a data key is to be replaced. A run that was killed is completed by
/// the next.
///
/// In the clear stay the files of sessions, the audit, plugins and tokens.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  openssl rand -hex 32 > /etc/wharf/master-key          a master key: keep a copy elsewhere
  wharf state rekey                                     encrypt what there is, once wharf.toml names the key
  wharf state rekey --decrypt                           store everything in the clear again")]
pub(super) struct Rekey {
    /// Decrypt everything instead; take [encryption] out of wharf.toml then
    #[arg(long)]
    decrypt: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Rekey {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let step = global.progress().step(format!("storing {} anew", data.display()));
        let mut progress = |bytes| step.came(bytes);
        let stored = match self.decrypt {
            true => encryption::decrypt(&configuration, &data, &mut progress),
            false => encryption::rekey(&configuration, &data, &mut progress),
        };
        drop(step);
        let report = stored.map_err(unusable)?;
        let to = if self.decrypt { "in the clear" } else { "a new data key" };
        operated::tell(&configuration, &data, "rekey-state", to);
        if self.json {
            print_json(&serde_json::to_value(&report)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let RekeyReport { state, files, bytes, .. } = report;
        let state = if state { "the state, and " } else { "" };
        let how = if self.decrypt { "in the clear" } else { "encrypted under a new data key" };
        println!("{}: {state}{files} files with {} are {how}.", data.display(), size(bytes));
        if self.decrypt {
            println!("Take [encryption] out of wharf.toml before a host starts.");
        } else {
            println!("In the clear stay {NOT_ENCRYPTED}.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Print what an encrypted recording, or the output of a process, holds
///
/// Decrypts it under the keys of the data directory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf state read DATA/recordings/20261129T101500.000Z-bash.cast > bash.cast    a recording, for a player")]
pub(super) struct ReadFile {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl ReadFile {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let mut out = stdout().lock();
        encryption::read_file(&configuration, &data, &self.file, &mut out).map_err(unusable)?;
        out.flush().context("cannot write")?;
        Ok(ExitCode::SUCCESS)
    }
}

fn unusable(error: EncryptionError) -> anyhow::Error {
    Unusable(wharf::with_causes(&error)).into()
}
