//! Processes in plain words, for the operator, who sees them all.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use wharf_process::{Owner, Snapshot};

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A process, whose it is, and how it was polled.
pub(crate) fn shown(owner: &Owner, process: &Snapshot) -> Value {
    let polls = &process.polls;
    let intervals = polls.intervals.map(|intervals| {
        json!({
            "count": intervals.count,
            "mean_milliseconds": milliseconds(intervals.mean),
            "deviation_milliseconds": milliseconds(intervals.deviation),
            "shortest_milliseconds": milliseconds(intervals.shortest),
        })
    });
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
        "polls": {
            "total": polls.polls,
            "last": polls.last.map(time),
            "in_a_row": polls.consecutive,
            "first_in_a_row": polls.first_consecutive.map(time),
            "intervals": intervals,
        },
    })
}
