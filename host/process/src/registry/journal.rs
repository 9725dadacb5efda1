//! What is on disk, so that the next host finds it.
//!
//! ```text
//! DIRECTORY/lock                 held while a host looks for what others left
//! DIRECTORY/HOST/lock            held while that host lives
//! DIRECTORY/HOST/ID/record.json  what the process is; replaced as a whole
//! DIRECTORY/HOST/ID/stdout
//! DIRECTORY/HOST/ID/stderr
//! ```
//!
//! A record is written before its process is started, when it runs and when it
//! has ended: three small files in its life. It survives the host, not the
//! machine, and after the machine nothing of the process runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{OnceLock, atomic::AtomicU32},
};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use wharf_core::{grant::GrantClock, handle::Handle};
use wharf_files::host_directory::HostDirectory;

use super::{leader::LeaderIdentity, process::Process, quotas::ProcessQuotas, state::ProcessState};
use crate::{Exit, KilledBy, Owner, ProcessId, output::CapturedOutput, polls::Polls};

const RECORD: &str = "record.json";
/// A record that is larger was not written here: a command has less.
const MAX_RECORD_BYTES: u64 = 16 << 20;

/// A process as the next host finds it.
#[derive(Debug, Serialize, Deserialize)]
struct ProcessRecord {
    id: ProcessId,
    owner: Owner,
    command: String,
    started: DateTime<Utc>,
    pid: Option<u32>,
    /// Tells the leader from a later process of the same number.
    leader: Option<LeaderIdentity>,
    state: ProcessState,
}

/// Makes a directory for this host below `root`, and moves everything there that
/// ended hosts left. Says of each process whether it was running.
pub(super) fn open(
    root: &Path,
    quotas: &ProcessQuotas,
    clock: &GrantClock,
) -> io::Result<(HostDirectory, Vec<(Process, bool)>)> {
    let mut found = Vec::new();
    let directory = HostDirectory::open(root, &Handle::random()?.to_string(), |abandoned, own| {
        found.extend(adopt(abandoned, own, quotas, clock)?);
        Ok(())
    })?;
    Ok((directory, found))
}

/// Takes over what an abandoned directory holds, and removes it. What cannot be taken over
/// for now, since the disk is full say, stays for the next host.
fn adopt(abandoned: &Path, own: &Path, quotas: &ProcessQuotas, clock: &GrantClock) -> io::Result<Vec<(Process, bool)>> {
    let (mut found, mut all) = (Vec::new(), true);
    for entry in fs::read_dir(abandoned)? {
        let entry = entry?;
        let from = entry.path();
        if !from.is_dir() {
            continue;
        }
        match adopt_one(&from, own, quotas, clock) {
            Ok(Some(process)) => found.push(process),
            // It is removed with the directory.
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "a process of an earlier host cannot be taken over now; the next host tries again");
                all = false;
            }
        }
    }
    if all {
        fs::remove_dir_all(abandoned)?;
    }
    Ok(found)
}

/// Nothing where it is no process, or not a whole one: its host died while it made or
/// removed it.
fn adopt_one(
    from: &Path,
    own: &Path,
    quotas: &ProcessQuotas,
    clock: &GrantClock,
) -> io::Result<Option<(Process, bool)>> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let bytes = match quotas.disk.at_rest().read(&from.join(RECORD), MAX_RECORD_BYTES) {
        Err(error) if is_gone(&error) => return Ok(None),
        read => read?,
    };
    let Ok(record) = serde_json::from_slice::<ProcessRecord>(&bytes) else { return Ok(None) };
    let to = own.join(record.id.to_string());
    fs::rename(from, &to)?;
    match revive(record, to.clone(), quotas, clock) {
        Err(error) if is_gone(&error) => {
            tracing::warn!(%error, "a process of an earlier host is not complete, and is removed");
            fs::remove_dir_all(&to)?;
            Ok(None)
        }
        revived => revived.map(Some),
    }
}

fn revive(
    record: ProcessRecord,
    directory: PathBuf,
    quotas: &ProcessQuotas,
    clock: &GrantClock,
) -> io::Result<(Process, bool)> {
    let ProcessRecord { id, owner, command, started, pid, leader, mut state } = record;
    let was_running = !state.status.has_ended();
    if was_running {
        if let Some(leader) = leader {
            leader.kill();
        }
        let reason = "the host ended while it ran".to_owned();
        state = ProcessState::ended(Exit::Killed { by: KilledBy::HostLost }, Some(reason), clock.now().into());
    }
    let reopen = |name| {
        let claim = quotas.disk.inherit(&owner.tenant, &owner.session);
        CapturedOutput::reopen(&directory.join(name), claim)
    };
    let process = Process {
        id,
        command,
        started,
        clock: clock.clone(),
        began: Instant::now(),
        stdout: reopen(Process::STDOUT)?,
        stderr: reopen(Process::STDERR)?,
        slot: quotas.ended_slot(&owner),
        stay: Mutex::new(None),
        owner,
        directory,
        state: watch::Sender::new(state.clone()),
        polls: Mutex::new(Polls::default()),
        input: tokio::sync::Mutex::new(None),
        pid: pid.map_or_else(OnceLock::new, OnceLock::from),
        bounds: None,
        mechanism: OnceLock::new(),
        looks: std::sync::Arc::default(),
        child: Mutex::new(None),
        descendants: AtomicU32::new(0),
        ends: std::sync::Arc::default(),
        // Nobody follows it: there is nothing to stop.
        stops: mpsc::channel(1).0,
    };
    // What is known of it does not depend on whether that can be written: the next host finds
    // that it ran, and ended with its host.
    if let Err(error) = process.write_record(&state) {
        tracing::warn!(process = %process.id, %error, "how a process of an earlier host ended cannot be written");
    }
    Ok((process, was_running))
}

impl Process {
    pub(super) const STDOUT: &str = "stdout";
    pub(super) const STDERR: &str = "stderr";

    /// Replaces the record of this process.
    pub(super) fn write_record(&self, state: &ProcessState) -> io::Result<()> {
        let pid = self.pid.get().copied();
        let record = ProcessRecord {
            id: self.id,
            owner: self.owner.clone(),
            command: self.command.clone(),
            started: self.started,
            pid,
            leader: if state.status.has_ended() { None } else { pid.and_then(LeaderIdentity::of) },
            state: state.clone(),
        };
        self.stdout.at_rest().replace(&self.directory.join(RECORD), &serde_json::to_vec(&record)?)
    }

    /// Removes its files. Readers that have them open read on.
    pub(super) fn remove_files(&self) {
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            tracing::error!(process = %self.id, %error, "the files of a process cannot be removed");
        }
    }
}
