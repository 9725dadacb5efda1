//! One process in plain words, for the operator.

use std::path::Path;

use wharf_core::{
    Error,
    service::operator::{ContainmentReport, ProcessLimitsReport, ProcessLookReport, TreeProcessReport},
};
use wharf_process::{Containment, ProcessBounds, ProcessLook, SandboxMechanism, TreeProcess};

use super::{missing::none, report};
use crate::host::Host;

/// What a process may use up and reach, and all that runs of it.
pub(super) async fn look(host: &Host, process: &str) -> Result<ProcessLookReport, Error> {
    let id = process.parse().map_err(|_| none("process"))?;
    let processes = host.processes().ok_or_else(|| none("process"))?;
    let ProcessLook { owner, process, bounds, mechanism, tree } =
        processes.look(id).await.ok_or_else(|| none("process"))?;
    Ok(ProcessLookReport {
        process: report::of_process(&owner, &process),
        limits: bounds.as_ref().map(limits),
        containment: bounds.as_ref().map(|bounds| containment(bounds, mechanism)),
        tree: tree.map(|tree| tree.into_iter().map(of_tree).collect()),
    })
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
        Containment::Required(sandbox) => sandbox,
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
