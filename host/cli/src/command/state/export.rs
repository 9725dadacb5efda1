//! `wharf state export`: buckets as lines of JSON.

use std::{
    io::{BufWriter, Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::inventory::{BucketSelection, BucketTotals, Inventory};

use super::store::{Filters, open, unusable};
use crate::{bytes::size, global::Global, operated, output_file::OutputFile};

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

    /// Write to this file, which appears once it is whole and is readable by its owner alone; into a device or a pipe as it comes [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let inventory = open(global)?;
        let selection = self.filters.selection();
        let exporting = global.progress().step("exporting");
        let Some(path) = self.output else {
            // A cut export must not pass for a whole one, so a reader that goes is an error.
            let mut out = BufWriter::new(stdout().lock());
            inventory.export(&selection, &mut out).map_err(unusable)?;
            out.flush().context("the output cannot be written")?;
            operated::tell_of(global, "export-state", &self.filters.named())?;
            return Ok(ExitCode::SUCCESS);
        };
        let totals = write(&*inventory, &selection, &path)?;
        operated::tell_of(global, "export-state", &self.filters.named())?;
        drop(exporting);
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

fn write(inventory: &dyn Inventory, selection: &BucketSelection, path: &Path) -> Result<BucketTotals> {
    let cannot = || format!("cannot write {}", path.display());
    let mut output = OutputFile::open(path).with_context(cannot)?;
    let totals = inventory.export(selection, &mut output).map_err(unusable).with_context(cannot)?;
    output.finish().with_context(cannot)?;
    Ok(totals)
}
