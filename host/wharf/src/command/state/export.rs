//! `wharf state export`: buckets as lines of JSON.

use std::{
    fs,
    io::{BufWriter, Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::{Inventory, Selection, Totals};

use super::{Filters, Global, open, size, unusable};

/// Write buckets with all their entries as lines of JSON
///
/// What is written is of one moment, even while hosts go on. The first line
/// names the format; then each bucket has a line, followed by one for each of
/// its entries, whose value is text where it is UTF-8 and base64 otherwise; the
/// last line counts them, so that a cut file is noticed. The same state is
/// always the same bytes.
///
/// A bucket carries the moment at which it expires unless it is used before.
/// Revisions are not carried: what is imported gets new ones.
///
/// The export holds everything that plugins keep in the clear. Treat it like
/// the data directory.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    filters: Filters,

    /// Write to this file, which appears once it is whole and is readable by its owner alone [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let inventory = open(global)?;
        let selection = self.filters.selection();
        let Some(path) = self.output else {
            let mut out = BufWriter::new(stdout().lock());
            inventory.export(&selection, &mut out).map_err(unusable)?;
            out.flush().context("the output cannot be written")?;
            return Ok(ExitCode::SUCCESS);
        };
        let totals = write(&inventory, &selection, &path)?;
        eprintln!(
            "{}: {} buckets with {} entries, {}",
            path.display(),
            totals.buckets,
            totals.entries,
            size(totals.bytes)
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn write(inventory: &Inventory, selection: &Selection, path: &Path) -> Result<Totals> {
    let cannot = || format!("cannot write {}", path.display());
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Readable by its owner alone from the beginning, and gone if this fails.
    let file = tempfile::NamedTempFile::new_in(directory).with_context(cannot)?;
    let mut out = BufWriter::new(file);
    let totals = inventory.export(selection, &mut out).map_err(unusable).with_context(cannot)?;
    let file = out.into_inner().map_err(|error| error.into_error()).with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(path).map_err(|error| error.error).with_context(cannot)?;
    // The name is durable once its directory is.
    #[cfg(unix)]
    fs::File::open(directory).and_then(|directory| directory.sync_all()).with_context(cannot)?;
    Ok(totals)
}
