//! What the doctor says of the machine below the host: the disk, the kernel, and other hosts.

use std::path::Path;

use wharf::{Configuration, control::running_hosts, disk, processes::Capabilities};

use super::finding::Finding;
use crate::bytes::size;

/// As few files as this are soon made.
const FEW_ENTRIES: u64 = 20_000;

/// Whether the disk has room for what limits let be stored there; nothing where nobody can say.
pub(super) fn disk(configuration: &Configuration, data: &Path) -> Option<Finding> {
    const WHAT: &str = "disk";
    let room = disk::room(data).ok()?;
    let demand = configuration.storage_demand();
    let says = format!("{} of {} free", size(room.free_bytes), size(room.total_bytes));
    if room.free_bytes < demand.session_bytes {
        let says = format!(
            "{says} in {}; limits and grants let one session take up to {}",
            data.display(),
            size(demand.session_bytes)
        );
        let advice = "make room, place the data directory on another disk, or lower limits such as `workspace_bytes`";
        return Some(Finding::doubtful(WHAT, says, advice));
    }
    let few = FEW_ENTRIES.min(demand.session_entries.max(1_000));
    if let Some(left) = room.free_entries.filter(|left| *left < few) {
        let says = format!("{says} in {}, and {left} further files (inodes) can be made", data.display());
        return Some(Finding::doubtful(WHAT, says, "remove files, or place the data directory on another disk"));
    }
    let all = format!("; limits let all sessions together take up to {}", size(demand.total_bytes));
    Some(Finding::well(WHAT, format!("{says}{all}")))
}

/// The hosts that serve on this data directory, and whether they are of the version of this command.
pub(super) fn hosts(data: &Path) -> Option<Finding> {
    const WHAT: &str = "hosts";
    let running = running_hosts(data).ok()?;
    let own = env!("CARGO_PKG_VERSION");
    let others: Vec<_> = running
        .iter()
        .map(|host| host.version().unwrap_or_else(|| "an unknown version".to_owned()))
        .filter(|version| version != own)
        .collect();
    let number = running.len();
    let says = match number {
        0 => return None,
        1 => "1 serves on this data directory".to_owned(),
        number => format!("{number} serve on this data directory"),
    };
    if others.is_empty() {
        return Some(Finding::well(WHAT, says));
    }
    let says = format!("{says}, of which {} not of this version, {own}: {}", others.len(), others.join(", "));
    Some(Finding::doubtful(WHAT, says, "start them again with the program that is installed now"))
}

/// What the kernel has of what containment and limits need.
pub(super) fn kernel(capabilities: &Capabilities) -> Vec<Finding> {
    const WHAT: &str = "kernel";
    let features = capabilities.kernel_features();
    let there: Vec<_> =
        features.iter().filter(|feature| feature.missing.is_none()).map(|feature| feature.name).collect();
    let all = (!there.is_empty()).then(|| Finding::well(WHAT, there.join(", ")));
    let missing = features.iter().filter_map(|feature| {
        let why = feature.missing.as_ref()?;
        let says =
            format!("no {}: {why}; needed for {}; otherwise, {}", feature.name, feature.needed_for, feature.without);
        Some(Finding::well(WHAT, says))
    });
    all.into_iter().chain(missing).collect()
}
