//! What plugins keep in their state, for the operator: counted, exported, cleared.

use std::io::{self, Write};

use wharf_core::{
    Code, Error,
    service::operator::{BucketReport, BucketsReport, StateReport, StateSelection},
    text::with_causes,
};
use wharf_state::{BucketGroup, BucketSelection, BucketSummary, Inventory, InventoryError};

use super::blocking::blocking;
use crate::{
    Configuration,
    host::Host,
    inventory::{self, MissingStore},
};

/// Groups that are told of at most, the largest; and buckets, the first.
const MOST: usize = 1_000;

/// Bytes of an export: it is in memory.
const MOST_BYTES: usize = 16 << 20;

/// What is kept, by tenant, plugin and scope, beside the quotas. Nothing where the host keeps nothing
/// on a disk.
pub(super) async fn list(host: &Host) -> Result<Vec<StateReport>, Error> {
    let Some((configuration, _)) = host.kept() else { return Ok(Vec::new()) };
    let groups = of(host, |inventory| inventory.groups(&BucketSelection::default())).await?;
    let mut reports: Vec<_> = groups.into_iter().map(|group| report(group, &configuration)).collect();
    reports.sort_by_key(|report| std::cmp::Reverse(report.bytes));
    reports.truncate(MOST);
    Ok(reports)
}

/// The buckets of a selection.
pub(super) async fn buckets(host: &Host, selection: StateSelection) -> Result<BucketsReport, Error> {
    if host.kept().is_none() {
        return Ok(BucketsReport::default());
    }
    of(host, move |inventory| {
        let mut report = BucketsReport::default();
        inventory.buckets(&chosen(selection), &mut |bucket| {
            if report.buckets.len() < MOST {
                report.buckets.push(of_bucket(bucket));
            } else {
                report.left_off += 1;
            }
            Ok(())
        })?;
        Ok(report)
    })
    .await
}

/// The lines of an export.
pub(super) async fn export(host: &Host, selection: StateSelection) -> Result<String, Error> {
    let written = of(host, move |inventory| {
        let mut out = Bounded(Vec::new());
        match inventory.export(&chosen(selection), &mut out) {
            Ok(_) => Ok(Some(out.0)),
            Err(InventoryError::Write(error)) if error.kind() == io::ErrorKind::FileTooLarge => Ok(None),
            Err(error) => Err(error),
        }
    });
    let lines = written.await?.ok_or_else(|| {
        let problem =
            format!("this is more than {} MiB: write it to a file with `wharf state export`", MOST_BYTES >> 20);
        Error::new(Code::Limit, problem)
    })?;
    String::from_utf8(lines).map_err(|error| Error::new(Code::Internal, error.to_string()))
}

/// How many entries went.
pub(super) async fn clear(host: &Host, selection: StateSelection) -> Result<u64, Error> {
    Ok(of(host, move |inventory| inventory.clear(&chosen(selection))).await?.entries)
}

fn chosen(selection: StateSelection) -> BucketSelection {
    let StateSelection { tenant, plugin, scope, session } = selection;
    BucketSelection { tenant: Some(tenant), plugin, kind: scope, session, ..BucketSelection::default() }
}

/// Asks the store, which blocks.
async fn of<T: Send + 'static>(
    host: &Host,
    ask: impl FnOnce(&dyn Inventory) -> Result<T, InventoryError> + Send + 'static,
) -> Result<T, Error> {
    let (configuration, data) =
        host.kept().ok_or_else(|| Error::new(Code::Unavailable, "this host keeps nothing on a disk"))?;
    let asking = blocking(move || ask(&*inventory::open(&configuration, &data, MissingStore::Refuse)?));
    asking.await?.map_err(|error| Error::retryable(Code::Unavailable, with_causes(&error)))
}

/// Takes so many bytes and no more.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn of_bucket(BucketSummary { scope, entries, bytes, expires }: BucketSummary) -> BucketReport {
    BucketReport {
        plugin: scope.plugin.to_string(),
        scope: scope.kind.as_str().to_owned(),
        session: scope.session.as_ref().map(ToString::to_string),
        assistant: scope.assistant.as_ref().map(ToString::to_string),
        thread: scope.thread.as_ref().map(ToString::to_string),
        bucket: scope.bucket.to_string(),
        entries,
        bytes,
        expires,
    }
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
