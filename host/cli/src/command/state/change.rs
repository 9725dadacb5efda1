//! `wharf state import` and `wharf state clear`: what changes the store.

use std::{
    fs::File,
    io::{BufRead, BufReader, stdin},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{ArgGroup, Args};
use wharf::inventory::{ImportMode, MissingStore};

use super::{
    show,
    store::{Filters, open, open_or, unusable},
};
use crate::{bytes::size, exit::FAILED, global::Global, operated};

/// Read an export back, all of it or nothing
///
/// An export that is cut, changed in its counts, or of a later version is
/// refused, and so is one with a bucket that has content already. Hosts cannot
/// write while it runs; they wait, or answer that the state is busy.
///
/// Buckets expire when they would have where they were exported; those whose
/// time is over are left out. Entries get revisions that were never given
/// before, so that nothing that was decided on other content is written over
/// them. Quotas are not asked.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The export; `-` reads it from standard input
    file: PathBuf,

    /// Replace what buckets of the export hold; other buckets stay as they are
    #[arg(long)]
    replace: bool,
}

impl Import {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let existing = if self.replace { ImportMode::Replace } else { ImportMode::Refuse };
        let mut from: Box<dyn BufRead> = if self.file.as_os_str() == "-" {
            Box::new(stdin().lock())
        } else {
            let file = File::open(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?;
            Box::new(BufReader::new(file))
        };
        let inventory = open_or(global, MissingStore::Make)?;
        let importing = global.progress().step("importing");
        let imported = inventory.import(&mut *from, existing).map_err(unusable)?;
        drop(importing);
        operated::tell_of(global, "import-state", &self.file.display().to_string())?;
        let written = imported.written;
        println!("Imported {} buckets with {} entries, {}.", written.buckets, written.entries, size(written.bytes));
        if imported.replaced > 0 {
            println!("{} of them had other content before.", imported.replaced);
        }
        if imported.expired > 0 {
            println!("{} more were left out: they have expired since the export.", imported.expired);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Remove buckets with all their entries
///
/// Without --yes it shows what would go, and ends with exit code 1. There is no
/// way back but an export made before. Hosts may go on meanwhile; plugins find
/// nothing, as where they never wrote.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("chosen")
    .args(["tenant", "plugin", "scope", "session", "assistant", "thread", "bucket", "all"])
    .required(true)
    .multiple(true))]
pub(super) struct Clear {
    #[command(flatten)]
    filters: Filters,

    /// Everything, of every tenant
    #[arg(long, conflicts_with_all = ["tenant", "plugin", "scope", "session", "assistant", "thread", "bucket"])]
    all: bool,

    /// Do it
    #[arg(long)]
    yes: bool,
}

impl Clear {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let (inventory, selection) = (open(global)?, self.filters.selection());
        if !self.yes {
            let holdings = inventory.groups(&selection).map_err(unusable)?;
            show::table(&holdings, &global.configuration()?)?;
            if holdings.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            eprintln!("nothing was cleared; the same command with --yes clears this for good");
            return Ok(ExitCode::from(FAILED));
        }
        let cleared = inventory.clear(&selection).map_err(unusable)?;
        operated::tell_of(global, "clear-state", &self.filters.named())?;
        println!("Cleared {} buckets with {} entries, {}.", cleared.buckets, cleared.entries, size(cleared.bytes));
        Ok(ExitCode::SUCCESS)
    }
}
