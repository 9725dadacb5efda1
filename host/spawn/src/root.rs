//! The host's side of the process that forks the supervisors.
//!
//! Knows nothing of requests.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    process::{Command, Stdio},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    packet::{self, Packet},
    supervisor,
    wire::{Charge, Report},
};

/// How long the root may take to say that it runs, in seconds. Much more than
/// it needs, on a machine that does much else.
const PATIENCE_SECONDS: i64 = 10;

/// The process that forks the supervisors.
#[derive(Debug)]
pub(crate) struct Root {
    control: OwnedFd,
    process: Option<std::process::Child>,
}

impl Root {
    /// Runs this program again, as the root, and waits until it says so. A
    /// program that does not hold this library would not.
    pub(crate) fn start() -> io::Result<Self> {
        let (control, other) = packet::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(supervisor::ROOT).env_clear().current_dir("/").stdin(Stdio::from(other));
        if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
            // The program itself may need it; its children do not get it.
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // The command holds the other end, whose closing says that it failed.
        drop(command);
        let mut root = Self { control, process: Some(process) };
        let patience = Timespec { tv_sec: PATIENCE_SECONDS, tv_nsec: 0 };
        let answered = poll(&mut [PollFd::new(&root.control, PollFlags::IN)], Some(&patience))?;
        if answered == 1
            && let Some(Packet { message: Report::Started, .. }) = packet::receive(&root.control)?
        {
            return Ok(root);
        }
        if let Some(process) = &mut root.process {
            let _ = process.kill();
        }
        Err(io::Error::other("this program, run again, is no supervisor: it may have been loaded as a library"))
    }

    /// Hands a child's socket to it, and where what makes its sandbox writes its
    /// errors to, if anybody reads them.
    pub(crate) fn charge(&self, charge: &Charge, child: &OwnedFd, errors: Option<&OwnedFd>) -> io::Result<()> {
        let given: Vec<_> = errors.into_iter().chain([child]).map(|given| given.as_fd()).collect();
        packet::send(&self.control, charge, &given)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        let Some(mut process) = self.process.take() else { return };
        // It ends after the last child, which may be long after; somebody has
        // to ask for it then.
        let reaper = std::thread::Builder::new().name("wharf-root".into());
        if let Err(error) = reaper.spawn(move || process.wait()) {
            tracing::warn!(%error, "nobody asks for the root of the supervisors when it ends");
        }
    }
}
