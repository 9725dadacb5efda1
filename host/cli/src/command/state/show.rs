//! `wharf state usage` and `wharf state list`: which state is stored.

use std::{collections::BTreeMap, io::Write as _, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use wharf::{
    Configuration, TenantId,
    inventory::{BucketGroup, BucketSummary, BucketTotals},
};

use super::store::{Filters, open, unusable};
use crate::{bytes::size, global::Global, listing::Listing, print};

/// Show how much plugins keep, by tenant, plugin and scope, beside their quotas
///
/// A quota is for each bucket, so it stands beside the largest one.
#[derive(Debug, Args)]
pub(super) struct Usage {
    #[command(flatten)]
    filters: Filters,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// List the buckets that have content, in the order of their names
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    filters: Filters,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl Usage {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let holdings = open(global)?.groups(&self.filters.selection()).map_err(unusable)?;
        if self.json {
            let mut out = print::listing();
            for holding in &holdings {
                writeln!(out, "{}", as_json(holding, &configuration)?)?;
            }
            out.flush()?;
        } else {
            table(&holdings, &configuration)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn as_json(holding: &BucketGroup, configuration: &Configuration) -> Result<Value> {
    let mut shown = serde_json::to_value(holding)?;
    if let Some(grant) = configuration.state_grant(&holding.plugin) {
        shown["quotaBytes"] = json!(grant.quota_bytes);
        shown["quotaEntries"] = json!(grant.quota_entries);
    }
    Ok(shown)
}

/// Holdings for people.
pub(super) fn table(holdings: &[BucketGroup], configuration: &Configuration) -> Result<()> {
    let mut out = print::listing();
    if holdings.is_empty() {
        writeln!(out, "There is nothing.")?;
        return Ok(out.flush()?);
    }
    let head = ["tenant", "plugin", "scope", "buckets", "entries", "size", "largest bucket"];
    let mut listing = Listing::new(head, 3..6);
    let mut tenants: BTreeMap<&TenantId, BucketTotals> = BTreeMap::new();
    for holding in holdings {
        let (bytes, entries) = (size(holding.most_bytes), holding.most_entries);
        let largest = match configuration.state_grant(&holding.plugin) {
            Some(grant) => {
                format!("{bytes} of {}, {entries} entries of {}", size(grant.quota_bytes), grant.quota_entries)
            }
            None => format!("{bytes}, {entries} entries"),
        };
        let BucketGroup { tenant, plugin, kind, buckets, entries, bytes, .. } = holding;
        listing.row([tenant, plugin, &kind.as_str(), buckets, entries, &size(*bytes), &largest]);
        let total = tenants.entry(&holding.tenant).or_default();
        total.buckets += holding.buckets;
        total.bytes += holding.bytes;
    }
    write!(out, "{listing}")?;
    let limits = &configuration.host_limits;
    for (tenant, BucketTotals { buckets, bytes, .. }) in tenants {
        writeln!(
            out,
            "{tenant} in all: {buckets} buckets of {}, {} of {}",
            limits.scopes_per_tenant,
            size(bytes),
            size(limits.state_bytes_per_tenant)
        )?;
    }
    Ok(out.flush()?)
}

impl List {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let inventory = open(global)?;
        let mut out = print::listing();
        if !self.json {
            writeln!(
                out,
                "{:<16} {:<16} {:>9} {:>10}  {:<24}  bucket",
                "tenant", "plugin", "entries", "size", "expires"
            )?;
        }
        let shown = |bucket: &BucketSummary| if self.json { serde_json::to_string(bucket) } else { Ok(line(bucket)) };
        inventory
            .buckets(&self.filters.selection(), &mut |bucket| Ok(writeln!(out, "{}", shown(&bucket)?)?))
            .map_err(unusable)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn line(bucket: &BucketSummary) -> String {
    let scope = &bucket.scope;
    let mut name = format!("{} {}", scope.kind.as_str(), scope.bucket);
    let ids = [
        ("session", scope.session.as_ref().map(ToString::to_string)),
        ("assistant", scope.assistant.as_ref().map(ToString::to_string)),
        ("thread", scope.thread.as_ref().map(ToString::to_string)),
    ];
    for (what, id) in ids {
        if let Some(id) = id {
            name.push_str(&format!(" {what}={id}"));
        }
    }
    format!(
        "{:<16} {:<16} {:>9} {:>10}  {:<24}  {name}",
        scope.tenant.as_str(),
        scope.plugin.as_str(),
        bucket.entries,
        size(bucket.bytes),
        bucket.expires.as_deref().unwrap_or("never"),
    )
}
