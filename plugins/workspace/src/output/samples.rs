//! Processes for the tests of this folder.

use wharf_sdk::process::{Outcome, OutcomeKind, ProcessInfo, Status, StreamProgress};

pub(super) fn info(status: Status, outcome: Option<Outcome>) -> ProcessInfo {
    ProcessInfo {
        id: "p1".to_owned(),
        command: "make\n  \x1b[31mall".to_owned(),
        pid: Some(7),
        status,
        outcome,
        started: "2026-01-01T00:00:00.000Z".to_owned(),
        finished: None,
        stdout: StreamProgress { bytes: 4, ..StreamProgress::default() },
        stderr: StreamProgress::default(),
        descendants: None,
        meta: None,
    }
}

pub(super) fn outcome(
    kind: OutcomeKind,
    code: Option<i32>,
    signal: Option<u32>,
    reason: Option<&str>,
) -> Option<Outcome> {
    Some(Outcome { kind, code, signal, reason: reason.map(str::to_owned) })
}
