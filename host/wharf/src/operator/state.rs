//! What plugins keep in their state, for the operator.

use wharf_core::{Code, Error, service::operator::StateReport, text::with_causes};
use wharf_state::{BucketGroup, BucketSelection, InventoryError};

use super::blocking::blocking;
use crate::{
    Configuration,
    host::Host,
    inventory::{self, MissingStore},
};

/// What is told of at most: the largest.
const MOST: usize = 1_000;

/// What is kept, by tenant, plugin and scope, beside the quotas. Nothing where the host keeps nothing
/// on a disk.
pub(super) async fn list(host: &Host) -> Result<Vec<StateReport>, Error> {
    let Some((configuration, data)) = host.kept() else { return Ok(Vec::new()) };
    let counting = blocking(move || {
        let inventory = inventory::open(&configuration, &data, MissingStore::Refuse)?;
        let groups = inventory.groups(&BucketSelection::default())?;
        let mut reports: Vec<_> = groups.into_iter().map(|group| report(group, &configuration)).collect();
        reports.sort_by_key(|report| std::cmp::Reverse(report.bytes));
        reports.truncate(MOST);
        Ok::<_, InventoryError>(reports)
    });
    counting.await?.map_err(|error| Error::retryable(Code::Unavailable, with_causes(&error)))
}

fn report(group: BucketGroup, configuration: &Configuration) -> StateReport {
    let grant = configuration.state_grant(&group.plugin);
    StateReport {
        tenant: group.tenant.to_string(),
        plugin: group.plugin.to_string(),
        scope: group.kind.as_str().to_owned(),
        buckets: group.buckets,
        entries: group.entries,
        bytes: group.bytes,
        most_entries: group.most_entries,
        most_bytes: group.most_bytes,
        quota_entries: grant.as_ref().map(|grant| grant.quota_entries),
        quota_bytes: grant.as_ref().map(|grant| grant.quota_bytes),
    }
}
