//! Lines of the audit, for the operator.

use std::{
    collections::VecDeque,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use chrono::DateTime;
use serde_json::Value;
use tokio::sync::Semaphore;
use wharf_audit::{AuditFilter, AuditReader};
use wharf_core::{Code, Error, service::operator::AuditQuery, text::with_causes};

use super::blocking::blocking;

/// What an answer has where the question does not say.
const USUAL: usize = 200;
const MOST: usize = 2_000;
/// Bytes of the lines of an answer.
const MOST_BYTES: usize = 4 << 20;
/// How far back is read where the question does not say: the files hold months.
const USUAL_SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// One reads at a time: it takes a processor, and the disk.
static READING: Semaphore = Semaphore::const_new(1);

pub(super) async fn read(directory: Option<PathBuf>, query: AuditQuery) -> Result<Value, Error> {
    let Some(directory) = directory else {
        return Err(Error::new(Code::Unavailable, "this host keeps no audit in files: see [audit] in wharf.toml"));
    };
    let since = since(&query)?;
    let _turn = READING.acquire().await;
    blocking(move || lines(AuditReader::new(&directory, Some(since)), since, query)).await?
}

fn since(query: &AuditQuery) -> Result<SystemTime, Error> {
    let Some(since) = &query.since else {
        return Ok(SystemTime::now().checked_sub(USUAL_SPAN).unwrap_or(SystemTime::UNIX_EPOCH));
    };
    let time = DateTime::parse_from_rfc3339(since);
    time.map(Into::into).map_err(|_| Error::new(Code::Invalid, "`since` is a time such as `2026-11-28T17:00:00.000Z`"))
}

fn lines(mut reader: AuditReader, since: SystemTime, query: AuditQuery) -> Result<Value, Error> {
    let most = query.last.unwrap_or(USUAL).clamp(1, MOST);
    let filter = AuditFilter {
        plugin: query.plugin,
        tool: query.tool,
        session: query.session,
        tenant: query.tenant,
        function: query.function,
        outcome: query.outcome,
        kind: query.kind,
        id: query.id,
        since: Some(wharf_audit::stamp(since)),
        until: query.until,
    };
    let (mut kept, mut bytes) = (VecDeque::new(), 0);
    let read = reader.read(|entry| {
        if filter.accepts(&entry) {
            bytes += entry.line.len();
            kept.push_back(entry.line);
            while kept.len() > most || bytes > MOST_BYTES {
                bytes -= kept.pop_front().map_or(bytes, |line: String| line.len());
            }
        }
        true
    });
    read.map_err(|error| Error::retryable(Code::Unavailable, with_causes(&error)))?;
    Ok(kept.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect())
}
