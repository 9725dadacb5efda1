//! The host's side of the process that forks the supervisors.
//!
//! Knows nothing of requests.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    outside,
    packet::{self, Packet},
    supervisor,
    wire::{SupervisorReport, SupervisorSpec},
};

/// Seconds within which the root must say that it runs: much more than
/// it needs, for a busy machine.
const PATIENCE_SECONDS: i64 = 10;

/// The process that forks the supervisors.
#[derive(Debug)]
pub(crate) struct RootSupervisor {
    control: OwnedFd,
    /// Absent where the keeper of a confined host runs it.
    process: Option<std::process::Child>,
}

impl RootSupervisor {
    /// Runs this program again, as the root, and waits until it says that it runs. A
    /// program without this library would not.
    pub(crate) fn start() -> io::Result<Self> {
        let (control, other) = packet::pair()?;
        let process = outside::run_again(supervisor::ROOT, other)?;
        let mut root = Self { control, process };
        let patience = Timespec { tv_sec: PATIENCE_SECONDS, tv_nsec: 0 };
        let answered = poll(&mut [PollFd::new(&root.control, PollFlags::IN)], Some(&patience))?;
        if answered == 1
            && let Some(Packet { message: SupervisorReport::Started, .. }) = packet::receive(&root.control)?
        {
            return Ok(root);
        }
        if let Some(process) = &mut root.process {
            let _ = process.kill();
        }
        Err(io::Error::other("this program, run again, is no supervisor: it may have been loaded as a library"))
    }

    /// Hands the root a child's socket.
    pub(crate) fn fork_supervisor(&self, spec: &SupervisorSpec, child: &OwnedFd) -> io::Result<()> {
        packet::send(&self.control, spec, &[child.as_fd()])
    }
}

impl Drop for RootSupervisor {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        let Some(mut process) = self.process.take() else { return };
        // The root ends after the last child, which may be long after; this thread waits
        // for it then.
        let reaper = std::thread::Builder::new().name("wharf-root".into());
        if let Err(error) = reaper.spawn(move || process.wait()) {
            tracing::warn!(%error, "nobody asks for the root of the supervisors when it ends");
        }
    }
}
