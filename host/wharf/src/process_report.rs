//! Processes in plain words, for the operator, who sees them all.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use wharf_process::{Owner, ProcessSnapshot};

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A process, whose it is, and how it was polled.
pub(crate) fn shown(owner: &Owner, process: &ProcessSnapshot) -> Value {
    json!({
        "id": process.id.to_string(),
        "tenant": owner.tenant,
        "plugin": owner.plugin,
        "session": owner.session,
        "command": process.command,
        "status": process.status.as_str(),
        "pid": process.pid,
        "started": time(process.started),
        "finished": process.finished.map(time),
        "exit": process.exit,
        "reason": process.reason,
        "descendants": process.descendants,
        "stdout_bytes": process.stdout.bytes,
        "stderr_bytes": process.stderr.bytes,
        "polls": process.polls.to_contract(),
    })
}
