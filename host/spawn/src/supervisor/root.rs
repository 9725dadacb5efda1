//! The root of the supervisors: forks one for each charge of the host, and ends
//! when the host is gone and the last of them has ended.
//!
//! Never runs a program of anybody, and holds no descriptor of any child.

use std::{
    ffi::CString,
    fs::File,
    os::fd::{AsRawFd as _, OwnedFd},
    path::Path,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::FdFlags,
    process::{Pid, Signal, WaitOptions, getpid, set_child_subreaper, setsid, wait},
};

use super::{
    SUPERVISOR,
    launch::seal,
    supervise,
    system::{self, Side},
    tree,
};
use crate::{
    packet::{self, Packet},
    wire::{Charge, Report},
};

/// Runs until the host is gone.
pub(super) fn run(control: OwnedFd) -> ! {
    let Ok(control) = keep_only(control) else { system::leave() };
    let _ = setsid();
    let _ = rustix::thread::set_name(c"wharf-root");
    let _ = set_child_subreaper(Some(getpid()));
    seal();
    let Ok(children) = system::watch_children() else { system::leave() };
    if packet::send(&control, &Report::Started, &[]).is_err() {
        system::leave();
    }
    let mut supervisors: Vec<Pid> = Vec::new();
    let mut host_is_there = true;
    while host_is_there || !supervisors.is_empty() {
        let mut watched = vec![PollFd::new(&children, PollFlags::IN)];
        if host_is_there {
            watched.push(PollFd::new(&control, PollFlags::IN));
        }
        if poll(&mut watched, None).is_err() {
            continue;
        }
        let asked = watched.get(1).is_some_and(|control| !control.revents().is_empty());
        while let Ok(Some(_)) = children.read_signal() {}
        reap(&mut supervisors);
        if !asked {
            continue;
        }
        match packet::receive::<Charge>(&control) {
            Ok(Some(Packet { message, mut descriptors, .. })) => {
                let Some(child) = descriptors.pop() else { continue };
                match system::fork() {
                    Ok(Side::Parent(pid)) => supervisors.push(pid),
                    Ok(Side::Child) => {
                        drop((control, children, descriptors));
                        become_supervisor(message, child)
                    }
                    // The host sees the socket of the child end.
                    Err(_) => {}
                }
            }
            Ok(None) => host_is_there = false,
            // Too many descriptors, or a packet that this program never sends.
            Err(_) => {}
        }
    }
    std::process::exit(0)
}

/// Closes what the host has open, except for the socket.
fn keep_only(control: OwnedFd) -> std::io::Result<OwnedFd> {
    rustix::stdio::dup2_stdin(&control)?;
    drop(control);
    system::close_all();
    let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    system::forget_streams();
    Ok(kept)
}

/// Asks for all that have ended. A supervisor that was killed leaves its tree
/// to the root, which ends it.
fn reap(supervisors: &mut Vec<Pid>) {
    let mut look = false;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        match supervisors.iter().position(|supervisor| *supervisor == pid) {
            Some(place) => {
                supervisors.swap_remove(place);
                look |= status.exit_status() != Some(0);
            }
            // A stray has ended, and its own children come here.
            None => look = true,
        }
    }
    if !look {
        return;
    }
    let strays: Vec<_> = tree::children().into_iter().filter(|stray| !supervisors.contains(&stray.pid)).collect();
    tree::signal(&strays, Signal::KILL);
}

/// Never returns to the loop of the root.
fn become_supervisor(charge: Charge, control: OwnedFd) -> ! {
    match charge {
        Charge::Supervise => supervise::run(control),
        Charge::Contain { command } => {
            // Reported by the end of the socket; what the program inside says
            // of itself comes from there.
            let _ = contain(command, control);
            system::leave()
        }
    }
}

/// Becomes the command, with this program at its end. The program is named by a
/// descriptor: the sandbox does not show its path, and an update may have
/// replaced it.
fn contain(mut command: Vec<Vec<u8>>, control: OwnedFd) -> std::io::Result<()> {
    let _ = setsid();
    let itself = File::open(Path::new("/proc/self/exe"))?;
    rustix::io::fcntl_setfd(&itself, FdFlags::empty())?;
    command.push(format!("/proc/self/fd/{}", itself.as_raw_fd()).into_bytes());
    command.push(SUPERVISOR.into());
    rustix::stdio::dup2_stdin(&control)?;
    system::accept_signals();
    let command = command.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
    let Some(program) = command.first() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    let libraries = std::env::var("LD_LIBRARY_PATH").ok();
    let environment = libraries.map(|path| CString::new(format!("LD_LIBRARY_PATH={path}"))).transpose()?;
    Err(system::execute(program, &command, environment.as_slice()))
}
