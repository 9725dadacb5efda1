//! A write: one call of one function of the database, which makes all changes or none.

use std::time::{Duration, Instant};

use tokio_postgres::{CancelToken, Row, types::ToSql};
use tokio_postgres_rustls::MakeRustlsConnect;
use wharf_core::ScopeKey;
use wharf_state::{Ceilings, ScopePolicy, StateChange, StateError, TOMBSTONE_LIFETIME, duration_milliseconds};

use crate::{
    error::{Effect, is_undone, storage_error},
    read::signed,
    store::{Times, Work},
};

const APPLY: &str = "SELECT outcome, at, actual, used, wanted, revision
    FROM wharf.apply_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
/// How often a write is sent again that the database undid, since another had to go first.
const ATTEMPTS: usize = 5;
/// How long a write whose time is over may take to be cancelled. Past it nobody knows whether
/// it was made.
const CANCELLING: Duration = Duration::from_secs(2);

/// The changes of one call, as the function takes them.
pub(crate) struct Changes<'c> {
    keys: Vec<&'c [u8]>,
    contents: Vec<Option<&'c [u8]>>,
    expected: Vec<Option<i64>>,
}

impl<'c> Changes<'c> {
    pub(crate) fn new(changes: &'c [StateChange]) -> Self {
        Self {
            keys: changes.iter().map(|change| change.key.as_bytes()).collect(),
            contents: changes.iter().map(|change| change.value.as_deref()).collect(),
            expected: changes.iter().map(|change| change.if_revision.map(signed)).collect(),
        }
    }
}

pub(crate) async fn apply(
    work: &Work<'_>,
    scope: &ScopeKey,
    policy: &ScopePolicy,
    changes: &[StateChange],
    ceilings: &Ceilings,
    until: Instant,
) -> Result<Vec<u64>, StateError> {
    let (names, given, times) = (scope.parts().to_vec(), Changes::new(changes), &work.times);
    let idle = policy.idle_expiry.map(duration_milliseconds);
    let lifetime = duration_milliseconds(TOMBSTONE_LIFETIME);
    let (quota_entries, quota_bytes) = (signed(policy.quota_entries), signed(policy.quota_bytes));
    let (most_scopes, most_tenant_bytes) = (signed(ceilings.scopes_per_tenant), signed(ceilings.bytes_per_tenant));
    let most_bytes = signed(ceilings.bytes);
    let Times { passed, stamp } = times;
    let parameters: [&(dyn ToSql + Sync); 13] = [
        &names,
        &given.keys,
        &given.contents,
        &given.expected,
        &quota_entries,
        &quota_bytes,
        &idle,
        &most_scopes,
        &most_tenant_bytes,
        &most_bytes,
        &lifetime,
        passed,
        stamp,
    ];
    let mut attempt = 1;
    let answer = loop {
        match call(work, &parameters, until).await? {
            Ok(answer) => break answer,
            Err(error) if is_undone(&error) && attempt < ATTEMPTS && Instant::now() < until => attempt += 1,
            Err(error) => return Err(storage_error(error, Effect::Change)),
        }
    };
    outcome(&answer, scope, changes, policy, ceilings)
}

/// Calls the function, and has the database cancel it once its time is over, or once nobody
/// waits for it.
async fn call(
    work: &Work<'_>,
    parameters: &[&(dyn ToSql + Sync)],
    until: Instant,
) -> Result<Result<Row, tokio_postgres::Error>, StateError> {
    let statement = match tokio::time::timeout_at(until.into(), work.client.prepare_cached(APPLY)).await {
        Ok(Ok(statement)) => statement,
        Ok(Err(error)) => return Ok(Err(error)),
        Err(_) => return Err(StateError::Busy),
    };
    let mut cancelling = CancelOnDrop(Some((work.client.cancel_token(), work.tls.clone())));
    let answer = work.client.query_one(&statement, parameters);
    tokio::pin!(answer);
    let answered = match tokio::time::timeout_at(until.into(), &mut answer).await {
        Ok(answered) => answered,
        Err(_) => {
            cancelling.cancel();
            // Its answer says whether it was made. Without one, nobody knows.
            match tokio::time::timeout(CANCELLING, answer).await {
                Ok(answered) => answered,
                Err(_) => return Err(StateError::Stopped),
            }
        }
    };
    cancelling.0 = None;
    Ok(answered)
}

/// Has the database stop what it still runs for a caller who has gone.
struct CancelOnDrop(Option<(CancelToken, MakeRustlsConnect)>);

impl CancelOnDrop {
    fn cancel(&mut self) {
        if let Some((token, tls)) = self.0.take() {
            tokio::spawn(async move {
                let cancelled = tokio::time::timeout(CANCELLING, token.cancel_query(tls)).await;
                if !matches!(cancelled, Ok(Ok(()))) {
                    tracing::debug!("a write of state could not be cancelled");
                }
            });
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // Without a runtime the connection ends with the process.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.cancel();
        }
    }
}

fn outcome(
    answer: &Row,
    scope: &ScopeKey,
    changes: &[StateChange],
    policy: &ScopePolicy,
    ceilings: &Ceilings,
) -> Result<Vec<u64>, StateError> {
    let number = |column| answer.get::<_, Option<i64>>(column).unwrap_or_default().cast_unsigned();
    let plugin = || scope.plugin.clone();
    let (used, wanted) = (number("used"), number("wanted"));
    Err(match answer.get("outcome") {
        "done" => {
            let revision = number("revision");
            return Ok(changes.iter().map(|change| if change.value.is_some() { revision } else { 0 }).collect());
        }
        "conflict" => {
            let at = usize::try_from(number("at").saturating_sub(1)).unwrap_or(usize::MAX);
            let conflicting = changes.get(at);
            StateError::Conflict {
                key: conflicting.map(|change| change.key.clone()).unwrap_or_default(),
                expected: conflicting.and_then(|change| change.if_revision).unwrap_or_default(),
                found: number("actual"),
            }
        }
        "quota_entries" => StateError::QuotaEntries { plugin: plugin(), used, wanted, quota: policy.quota_entries },
        "quota_bytes" => StateError::QuotaBytes { plugin: plugin(), used, wanted, quota: policy.quota_bytes },
        "tenant_scopes" => StateError::TenantScopes { ceiling: ceilings.scopes_per_tenant },
        "tenant_bytes" => StateError::TenantBytes { used, wanted, ceiling: ceilings.bytes_per_tenant },
        "host_bytes" => StateError::HostBytes { ceiling: ceilings.bytes },
        other => StateError::Failed { source: format!("the database answered a write with {other:?}").into() },
    })
}
