//! Sessions, by what each has; and the end of what one runs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use wharf_core::{Code, Error, SessionId, TenantId, WorkspaceKey, service::operator::SessionReport, text::with_causes};
use wharf_process::Status;

use super::{blocking::blocking, missing::none, report::time};
use crate::host::Host;

/// How long what a session runs has to end by itself.
const GRACE: Duration = Duration::from_secs(2);

type Reports = BTreeMap<(String, String), SessionReport>;

fn of<'r>(all: &'r mut Reports, tenant: &impl ToString, session: &impl ToString) -> &'r mut SessionReport {
    let key = (tenant.to_string(), session.to_string());
    all.entry(key.clone()).or_insert_with(|| SessionReport::new(key.0, key.1))
}

/// The sessions of one host, by tenant and id.
pub(super) async fn list(host: &Host) -> Result<Vec<SessionReport>, Error> {
    let mut all = Reports::new();
    for call in host.running_calls().list() {
        of(&mut all, &call.tenant, &call.session).calls += 1;
    }
    if let Some(processes) = host.processes() {
        for (owner, process) in processes.all().await {
            let report = of(&mut all, &owner.tenant, &owner.session);
            report.processes += u64::from(matches!(process.status, Status::Starting | Status::Running));
        }
    }
    for (owner, info) in host.terminals().map(|terminals| terminals.all()).unwrap_or_default() {
        of(&mut all, &owner.tenant, &owner.session).terminals += u64::from(info.ended.is_none());
    }
    for (owner, info) in host.webviews().map(|webviews| webviews.all()).unwrap_or_default() {
        of(&mut all, &owner.tenant, &owner.session).pages += u64::from(info.closed_because.is_none());
    }
    if let Some(workspaces) = host.workspaces().map(Arc::clone) {
        let quota = workspaces.quota_bytes();
        // Measured on the disk.
        let listing = blocking(move || workspaces.list()).await?;
        let listing = listing.map_err(|error| Error::retryable(Code::Unavailable, with_causes(&error)))?;
        for one in listing.workspaces {
            let report = of(&mut all, &one.key.tenant, &one.key.session);
            (report.file_bytes, report.files_used) = (Some(one.usage.bytes), Some(time(one.used.into())));
            report.file_quota_bytes = Some(quota);
        }
    }
    Ok(all.into_values().collect())
}

/// What several hosts have of the same sessions, as one list.
pub(super) fn merged(lists: Value) -> Value {
    let reports: Vec<SessionReport> = serde_json::from_value(lists).unwrap_or_default();
    let mut all = Reports::new();
    for report in reports {
        of(&mut all, &report.tenant, &report.session).add(report);
    }
    serde_json::to_value(all.into_values().collect::<Vec<_>>()).unwrap_or_default()
}

/// Ends what a session runs on one host. How many ended.
pub(super) async fn end(host: &Host, tenant: &TenantId, session: &SessionId) -> Result<Value, Error> {
    let mut ended = host.running_calls().cancel_session(tenant, session);
    if let Some(processes) = host.processes() {
        for (owner, process) in processes.all().await {
            let runs = matches!(process.status, Status::Starting | Status::Running);
            if owner.tenant == *tenant && owner.session == *session && runs {
                ended += u64::from(processes.stop(&owner, process.id, GRACE).await.is_ok());
            }
        }
    }
    if let Some(terminals) = host.terminals() {
        for (owner, info) in terminals.all() {
            if owner.tenant == *tenant && owner.session == *session && info.ended.is_none() {
                ended += u64::from(terminals.close_for_operator(info.id, GRACE).await.is_some());
            }
        }
    }
    if let Some(webviews) = host.webviews() {
        ended += webviews.end_session(tenant, session, GRACE).await as u64;
    }
    Ok(ended.into())
}

/// Removes the files of a session, which no host uses now.
pub(super) async fn remove_files(host: &Host, tenant: TenantId, session: SessionId) -> Result<Value, Error> {
    let workspaces = Arc::clone(host.workspaces().ok_or_else(|| none("session with files"))?);
    let key = WorkspaceKey::restored(tenant, session);
    blocking(move || workspaces.remove(&key)).await??;
    Ok(Value::Null)
}
