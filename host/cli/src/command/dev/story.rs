//! What happens in a host, as lines for the person who writes a plugin.

use std::collections::HashMap;

use parking_lot::Mutex;
use wharf::audit::{AuditId, AuditKind, AuditRecord, AuditSink, AuditSubject};

use crate::{bytes::size, tables};

/// Calls whose host calls are counted at a time: more run where the plugin is not just tried.
const MOST_CALLS: usize = 1_000;

/// Prints a line for each call, and how to allow what was denied.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// Host calls of the calls that run.
    // A blocking lock: held for a look-up.
    running: Mutex<HashMap<AuditId, u64>>,
}

impl AuditSink for Story {
    fn record(&self, record: AuditRecord) {
        match record.kind {
            AuditKind::HostCall => self.count(&record),
            AuditKind::Denied => {
                self.count(&record);
                eprintln!("{}", denied(&record));
            }
            AuditKind::Call | AuditKind::Offer => {
                let asked = self.running.lock().remove(&record.subject.id).unwrap_or_default();
                eprintln!("{}", called(&record, asked));
            }
            _ => {}
        }
    }
}

impl Story {
    fn count(&self, record: &AuditRecord) {
        let mut running = self.running.lock();
        if running.len() < MOST_CALLS || running.contains_key(&record.subject.id) {
            *running.entry(record.subject.id).or_default() += record.count;
        }
    }
}

fn called(record: &AuditRecord, asked: u64) -> String {
    let AuditRecord { subject, outcome, took, bytes_in, bytes_out, memory_bytes, .. } = record;
    let session = subject.context.as_ref().map(|context| context.session.to_string()).unwrap_or_default();
    let took = took.as_secs_f64() * 1e3;
    let memory = memory_bytes.map(|bytes| format!(", {} of memory", size(bytes))).unwrap_or_default();
    format!(
        "{} {}: {took:.1} ms, {bytes_in} bytes in, {bytes_out} out{memory}, {asked} host calls, session {session}",
        subject.tool,
        outcome.as_str()
    )
}

/// What was denied, and the lines of wharf.toml that would allow it.
fn denied(record: &AuditRecord) -> String {
    let AuditRecord { subject, function, asked, .. } = record;
    let AuditSubject { plugin, tool, .. } = &**subject;
    let function = function.as_deref().unwrap_or_default();
    let of = asked.as_deref().map(|asked| format!(" of {asked}")).unwrap_or_default();
    let told = format!("{tool} was denied {function}{of}");
    let capability = function.split('.').next().filter(|capability| !capability.is_empty());
    match (plugin, capability) {
        (Some(plugin), Some(capability)) => {
            let table = tables::of_grant(plugin, capability, None);
            format!(
                "{told}; in wharf.toml this allows it, or more of it where the table is there:\n{}",
                table.trim_end()
            )
        }
        _ => told,
    }
}
