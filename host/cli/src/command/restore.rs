//! `wharf restore`: a data directory made of a backup.

use std::{
    fs::File,
    io::{Read, Write as _, stdin},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use wharf::backup::{RestoreError, restore};

use super::backup::tell_manifest;
use crate::{
    bytes::size,
    exit::Unusable,
    global::Global,
    operated,
    print::{self, print_json},
};

/// Make a data directory of a backup
///
/// The data directory, which --data or wharf.toml names, must not be there or be
/// empty. The backup is unpacked aside and verified as a whole, and takes its
/// place then: where anything is wrong with it, nothing appears.
///
/// Restore as the user of the hosts. Where that is root, each session's files
/// belong to a user of its own again, whose number is new; else they all belong
/// to that user. State of a session expires when it would have; a restore counts
/// as a use of each workspace. Hosts make new tokens at their start.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf restore wharf.backup                            into the data directory of wharf.toml
  wharf restore wharf.backup --data elsewhere           into another one, to look at it
  ssh elsewhere 'cat wharf.backup' | wharf restore -    through a pipe
  sudo -u wharf wharf restore /tmp/wharf.backup --data /var/lib/wharf
  wharf audit verify --data elsewhere                   whether the restored audit is whole")]
pub(super) struct RestoreArguments {
    /// What `wharf backup` wrote; `-` reads it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print one JSON object that says what was restored
    #[arg(long)]
    json: bool,
}

impl RestoreArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let mut from: Box<dyn Read> = if self.file.as_os_str() == "-" {
            Box::new(stdin().lock())
        } else {
            Box::new(File::open(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?)
        };
        let step = global.progress().step(format!("restoring {}", data.display()));
        let restored = restore(&configuration, &data, &mut *from, &mut |bytes| step.came(bytes));
        drop(step);
        let report = restored.map_err(|error| match error {
            RestoreError::Occupied { .. } | RestoreError::Owner { .. } | RestoreError::Storage { .. } => {
                anyhow::Error::from(Unusable(wharf::with_causes(&error)))
            }
            _ => error.into(),
        })?;
        operated::tell(&configuration, &data, "restore", &self.file.display().to_string());
        if self.json {
            let mut told = serde_json::to_value(&report)?;
            told["data"] = json!(data);
            print_json(&told)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = print::listing();
        let made = wharf::text::line(&report.manifest.made, 64);
        writeln!(
            out,
            "{}: {} files and directories, {}, as they were at {made}",
            data.display(),
            report.entries,
            size(report.bytes)
        )?;
        if report.workspaces > 0 {
            let whose = match report.session_users {
                true => "each belongs to a user of its own",
                false => "all belong to this user",
            };
            writeln!(out, "{} sessions have files; {whose}", report.workspaces)?;
        }
        tell_manifest(&mut out, &report.manifest)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
