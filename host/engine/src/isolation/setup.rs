//! What the host tells a worker at its start.

use wharf_core::HostLimits;

use crate::compile::CompileTarget;

/// First argument that makes this program a worker. No user types it.
pub(super) const WORKER: &str = "wharf-engine:worker";
/// The descriptors that it has.
pub(super) const FRAMES: u32 = 3;
pub(super) const CODES: u32 = 4;

/// How a worker is set up.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct WorkerSetup {
    pub(super) target: CompileTarget,
    pub(super) calls_in_flight: u64,
    pub(super) table_elements: u64,
}

impl WorkerSetup {
    /// For code that was compiled for this host.
    pub(crate) fn new(limits: &HostLimits, table_elements: u64, target: CompileTarget) -> Self {
        let calls_in_flight = limits.calls_in_flight_per_tenant.min(limits.calls_in_flight);
        Self { target, calls_in_flight, table_elements }
    }
}
