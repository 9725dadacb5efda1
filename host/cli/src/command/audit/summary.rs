//! `wharf audit summary`: many lines in few.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use wharf::{
    audit::{AuditEntry, AuditSummary},
    text,
};

use super::{
    filters::{Filters, tell_skipped, unreadable},
    show::taken,
};
use crate::{bytes::size, global::Global, listing::Listing, print};

/// Count lines by plugin, tool or function, and outcome, with their times
///
/// The times are those below which half, and 95 of 100, were; to 13 %. Memory is the most
/// that one call had.
#[derive(Debug, Args)]
pub(super) struct ShowSummary {
    #[command(flatten)]
    filters: Filters,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl ShowSummary {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let (filter, mut reader) = (self.filters.filter(), self.filters.reader(global)?);
        let mut summary = AuditSummary::default();
        let add = |entry: AuditEntry| {
            if filter.accepts(&entry) {
                summary.add(entry);
            }
            true
        };
        reader.read(add).map_err(|error| unreadable(&error))?;
        reader.finish();
        if self.json {
            as_json(&summary)?
        } else {
            table(&summary)?
        }
        tell_skipped(reader.skipped());
        Ok(ExitCode::SUCCESS)
    }
}

fn as_json(summary: &AuditSummary) -> io::Result<()> {
    let mut out = print::listing();
    for (group, figures) in &summary.groups {
        let line = json!({
            "kind": group.kind,
            "plugin": group.plugin,
            "name": group.name,
            "outcome": group.outcome,
            "count": figures.count,
            "microseconds": figures.microseconds,
            "p50_microseconds": figures.quantile(0.5),
            "p95_microseconds": figures.quantile(0.95),
            "longest_microseconds": figures.longest,
            "bytes_in": figures.bytes_in,
            "bytes_out": figures.bytes_out,
            "memory_bytes": figures.memory_bytes,
        });
        writeln!(out, "{line}")?;
    }
    if summary.dropped > 0 {
        writeln!(out, "{}", json!({"kind": "dropped", "count": summary.dropped}))?;
    }
    out.flush()
}

fn table(summary: &AuditSummary) -> io::Result<()> {
    let mut out = print::listing();
    if summary.groups.is_empty() && summary.dropped == 0 {
        writeln!(out, "There is nothing.")?;
        return out.flush();
    }
    let mut listing = Listing::new(
        ["kind", "plugin", "tool or function", "outcome", "count", "half", "95 %", "longest", "in", "out", "memory"],
        4..11,
    );
    for (group, figures) in &summary.groups {
        // The files may hold anything.
        let [kind, plugin, name, outcome] =
            [(&group.kind, 9), (&group.plugin, 16), (&group.name, 26), (&group.outcome, 14)]
                .map(|(text, bytes)| text::line(text, bytes));
        let [half, most, longest] = [figures.quantile(0.5), figures.quantile(0.95), figures.longest].map(taken);
        let [bytes_in, bytes_out, memory] = [figures.bytes_in, figures.bytes_out, figures.memory_bytes].map(size);
        let memory = if figures.memory_bytes == 0 { String::new() } else { memory };
        listing.row([
            &kind,
            &plugin,
            &name,
            &outcome,
            &figures.count,
            &half,
            &most,
            &longest,
            &bytes_in,
            &bytes_out,
            &memory,
        ]);
    }
    write!(out, "{listing}")?;
    if summary.dropped > 0 {
        writeln!(out, "{} line(s) could not be kept by their hosts", summary.dropped)?;
    }
    out.flush()
}
