//! Room on the disk that holds a data directory, beside what limits and grants let be stored there.

use std::{io, path::Path};

use wharf_core::{Grants, PluginName, grant::Capability};

use crate::{bundled, configuration::Configuration};

/// What is left of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskRoom {
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// All of them.
    pub total_bytes: u64,
    /// Files and directories that this user may still make; nothing where the file system counts none.
    pub free_entries: Option<u64>,
}

/// What limits and grants let be stored in a data directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageDemand {
    /// Bytes that one session may take up, with what plugins keep for it and with the audit.
    pub session_bytes: u64,
    /// Files and directories of one session.
    pub session_entries: u64,
    /// Bytes that all sessions together may take up.
    pub total_bytes: u64,
}

/// What is left of the file system that holds `directory`, which has to be there.
///
/// # Errors
/// Where the system does not say, as none does that is not Unix.
pub fn room(directory: &Path) -> io::Result<DiskRoom> {
    #[cfg(unix)]
    {
        let about = rustix::fs::statvfs(directory)?;
        let bytes = |blocks: u64| blocks.saturating_mul(about.f_frsize);
        Ok(DiskRoom {
            free_bytes: bytes(about.f_bavail),
            total_bytes: bytes(about.f_blocks),
            free_entries: (about.f_files > 0).then_some(about.f_favail),
        })
    }
    #[cfg(not(unix))]
    {
        let _ = directory;
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Configuration {
    /// What the plugins of this configuration may store in its data directory, as far as it says so
    /// itself: without the plugins of a folder and those that were added without a table.
    #[must_use]
    pub fn storage_demand(&self) -> StorageDemand {
        let written = self.plugins.iter().filter(|(_, settings)| settings.enabled);
        let written = written.map(|(name, settings)| self.grants(name, settings));
        let is_written = |name: &PluginName| self.plugins.contains_key(name);
        let unwritten = bundled::names().filter(|name| !is_written(name));
        let unwritten = unwritten.map(|name| self.profile.grants(name.as_str()));
        let grants: Vec<Grants> = written.chain(unwritten).chain([self.host_grants()]).collect();
        let is_granted = |capability| grants.iter().any(|grants| grants.names(capability));
        let mut demand = StorageDemand::default();
        if self.audit.enabled {
            demand.add(self.audit.rotate_bytes.saturating_mul(self.audit.keep_files as u64), 0);
        }
        if self.state.database_file.is_none() {
            let quotas = grants.iter().filter_map(|grants| grants.state.as_ref()).map(|grant| grant.quota_bytes);
            demand.add(quotas.fold(0, u64::saturating_add), self.host_limits.state_bytes);
        }
        let processes = is_granted(Capability::Process);
        if processes || is_granted(Capability::Workspace) {
            let limits = &self.process_limits;
            demand.add(limits.workspace_bytes, limits.workspace_total_bytes);
            demand.session_entries = limits.workspace_entries;
        }
        if processes {
            demand.add(self.process_limits.output_disk_bytes_per_session, self.process_limits.output_disk_bytes);
        }
        demand
    }
}

impl StorageDemand {
    fn add(&mut self, of_session: u64, of_all: u64) {
        self.session_bytes = self.session_bytes.saturating_add(of_session);
        self.total_bytes = self.total_bytes.saturating_add(of_all.max(of_session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_stored_follows_grants_and_limits() {
        let demand = |text: &str| Configuration::parse(text, Path::new("/")).expect("parses").storage_demand();
        let small = demand("[audit]\nenabled = false\n[plugin.content-store]\nenabled = false\n");
        assert_eq!(small.session_entries, 0, "no plugin has files");
        let audited =
            demand("[audit]\nrotate_bytes = 131072\nkeep_files = 2\n[plugin.content-store]\nenabled = false\n");
        assert_eq!(audited.session_bytes - small.session_bytes, 2 * 131_072);
        let limits = "[process.limits]\nworkspace_bytes = 1000000\nworkspace_entries = 77\n\
                      output_disk_bytes_per_session = 500000\n";
        let files = demand(&format!(
            "{limits}[audit]\nenabled = false\n[plugin.content-store]\nenabled = false\n[plugin.x]\nsource = \"x\"\n\
             [plugin.x.grants.process]\nreason = \"r\"\n"
        ));
        assert_eq!((files.session_bytes - small.session_bytes, files.session_entries), (1_500_000, 77));
        assert!(files.total_bytes >= files.session_bytes);
        let database = demand(
            "[state]\ndatabase_file = \"f\"\n[audit]\nenabled = false\n[plugin.content-store]\nenabled = false\n",
        );
        assert_eq!(database, StorageDemand::default(), "the server has it");
    }

    #[test]
    #[cfg(unix)]
    fn there_is_as_much_room_as_the_file_system_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let room = room(directory.path()).expect("known");
        assert!(room.free_bytes > 0 && room.total_bytes >= room.free_bytes, "{room:?}");
        super::room(&directory.path().join("absent")).expect_err("not there");
    }
}
