//! Processes of any owner, for the operator: looked at, read, stopped.

use std::{path::Path, sync::Arc, time::Duration};

use wharf_core::{
    Error,
    service::operator::{
        ContainmentReport, ProcessLimitsReport, ProcessLookReport, ProcessOutput, ProcessReport, ProcessStream,
        TreeProcessReport,
    },
};
use wharf_process::{
    Containment, Owner, ProcessBounds, ProcessId, ProcessLook, Processes, SandboxMechanism, StreamName, TreeProcess,
};

use super::{blocking::blocking, missing::none, report};
use crate::host::Host;

/// What a process may use up and reach, and all that runs of it.
pub(super) async fn look(host: &Host, process: &str) -> Result<ProcessLookReport, Error> {
    let (processes, id) = processes_with(host, process)?;
    let ProcessLook { owner, process, bounds, mechanism, tree } =
        processes.look(id).await.ok_or_else(|| none("process"))?;
    Ok(ProcessLookReport {
        process: report::of_process(&owner, &process),
        limits: bounds.as_ref().map(limits),
        containment: bounds.as_ref().map(|bounds| containment(bounds, mechanism)),
        tree: tree.map(|tree| tree.into_iter().map(of_tree).collect()),
    })
}

/// What a process has printed: the end of it, or from a cursor on.
pub(super) async fn output(
    host: &Host,
    process: &str,
    stream: ProcessStream,
    from: Option<u64>,
    bytes: usize,
) -> Result<ProcessOutput, Error> {
    let (processes, owner, id) = process_of(host, process)?;
    let stream = match stream {
        ProcessStream::Stdout => StreamName::Stdout,
        ProcessStream::Stderr => StreamName::Stderr,
    };
    // It may be on the disk.
    let piece = blocking(move || match from {
        Some(from) => processes.read(&owner, id, stream, from, bytes),
        None => processes.tail(&owner, id, stream, usize::MAX, bytes),
    });
    let piece = piece.await??;
    Ok(ProcessOutput { from: piece.from, next: piece.next(), text: piece.text() })
}

/// Ends a process, which has so many milliseconds for it.
pub(super) async fn stop(host: &Host, process: &str, grace: u64) -> Result<ProcessReport, Error> {
    let (processes, owner, id) = process_of(host, process)?;
    Ok(report::of_process(&owner, &processes.stop(&owner, id, Duration::from_millis(grace)).await?))
}

fn processes_with<'h>(host: &'h Host, id: &str) -> Result<(&'h Arc<Processes>, ProcessId), Error> {
    let id = id.parse().map_err(|_| none("process"))?;
    Ok((host.processes().ok_or_else(|| none("process"))?, id))
}

fn process_of(host: &Host, id: &str) -> Result<(Arc<Processes>, Owner, ProcessId), Error> {
    let (processes, id) = processes_with(host, id)?;
    let owner = processes.owner_of(id).ok_or_else(|| none("process"))?;
    Ok((Arc::clone(processes), owner, id))
}

fn limits(bounds: &ProcessBounds) -> ProcessLimitsReport {
    ProcessLimitsReport {
        seconds: bounds.lifetime.as_secs(),
        silence_seconds: bounds.silence.map(|silence| silence.as_secs()),
        cpu_seconds: bounds.limits.cpu_seconds,
        memory_bytes: bounds.limits.memory_bytes,
        open_files: bounds.limits.open_files,
        processes: bounds.limits.processes,
        file_size_bytes: bounds.limits.file_size_bytes,
    }
}

fn containment(bounds: &ProcessBounds, mechanism: Option<SandboxMechanism>) -> ContainmentReport {
    let user = bounds.user;
    let sandbox = match &bounds.containment {
        Containment::Required(sandbox) | Containment::Files(sandbox) => sandbox,
        Containment::None => {
            let mechanism = Some("none".to_owned());
            return ContainmentReport { mechanism, network: true, user, writable: Vec::new(), readable: Vec::new() };
        }
    };
    let shown = |path: &Path| path.display().to_string();
    ContainmentReport {
        mechanism: mechanism.map(|mechanism| mechanism.as_str().to_owned()),
        network: sandbox.network,
        user,
        writable: sandbox.writable.iter().map(|bind| shown(&bind.source)).collect(),
        readable: sandbox.readable.iter().map(|bind| shown(&bind.source)).collect(),
    }
}

fn of_tree(process: TreeProcess) -> TreeProcessReport {
    TreeProcessReport {
        pid: process.pid,
        parent: process.parent,
        name: process.name,
        command: process.command,
        state: process.state.to_owned(),
        threads: process.threads,
        resident_bytes: process.resident_bytes,
        cpu_milliseconds: u64::try_from(process.computed.as_millis()).unwrap_or(u64::MAX),
    }
}
