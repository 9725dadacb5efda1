//! Leaders that outlived their host, told from later processes that were given
//! the same number.
//!
//! Their supervisors should have ended them. This is for the one that was
//! killed together with the host.

use serde::{Deserialize, Serialize};

/// One process of one boot of the machine, and no other ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaderIdentity {
    pid: u32,
    boot: String,
    /// In ticks since that boot.
    started: u64,
}

impl LeaderIdentity {
    /// The identity of a process that runs.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold anything, also `)`; 20 fields on is the start.
        let (_, fields) = stat.rsplit_once(')')?;
        let started = fields.split_whitespace().nth(19)?.parse().ok()?;
        Some(Self { pid, boot, started })
    }

    /// Kills it and its group, unless its number now belongs to another process. A confined host, which signals no
    /// other process, has a part outside of its confinement do so.
    #[cfg(target_os = "linux")]
    pub(super) fn kill(&self) {
        if !wharf_spawn::confine::is_confined() {
            return self.kill_here();
        }
        let ended = wharf_spawn::OutsidePart::start(END).and_then(|part| part.ask::<_, ()>(self));
        if let Err(error) = ended {
            tracing::warn!(%error, pid = self.pid, "a process that was left cannot be killed");
        }
    }

    #[cfg(target_os = "linux")]
    fn kill_here(&self) {
        use rustix::process::{Pid, PidfdFlags, Signal, getpgid, kill_process_group, pidfd_open, pidfd_send_signal};
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        // First hold on to it, then look which one it is: the number cannot pass on
        // to another while it is looked at.
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::of(self.pid).as_ref() != Some(self) {
            return;
        }
        // The group first: its number is taken as long as its leader is.
        if getpgid(Some(pid)) == Ok(pid)
            && let Err(error) = kill_process_group(pid, Signal::KILL)
        {
            tracing::warn!(%error, pid = self.pid, "the group of a process that was left cannot be killed");
        }
        if let Err(error) = pidfd_send_signal(&held, Signal::KILL) {
            tracing::debug!(%error, pid = self.pid, "a process that was left has just ended");
        }
    }

    /// Only Linux tells a process from a later one of its number, so elsewhere none is known.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill(&self) {}
}

/// First argument that makes this program end what was left. No user types it.
#[cfg(target_os = "linux")]
const END: &str = "wharf-process:end";

/// Decides, before `main`, whether this process is here to end one that was left.
#[cfg(target_os = "linux")]
#[ctor::ctor(unsafe)]
fn before_main() {
    wharf_spawn::serve_outside(END, |leader: LeaderIdentity| leader.kill_here());
}
