//! What the processes of a group have behind their descriptors.
//!
//! Never reads nor opens what is behind one.

use std::{cell::OnceCell, collections::HashSet, fs, os::unix::fs::MetadataExt as _};

use rustix::{
    fs::{AtFlags, CWD, StatxFlags, makedev, statx},
    net::{SocketAddrUnix, getpeername},
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use crate::pty::TerminalDevice;

/// `/dev/tty`: for the program in front, the terminal of the session.
const OWN_TERMINAL: (u32, u32) = (5, 0);
/// Of a process with more descriptors some are not looked at.
const MAX_DESCRIPTORS: usize = 256;
/// The permission to write, of a link of `/proc`.
const MAY_WRITE: u32 = 0o200;

/// What is behind a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DescriptorKind {
    /// The terminal of the session.
    Terminal,
    /// Something by which the processes of the group wake each other: a pipe
    /// that one of them writes to, or the like.
    Own,
    /// A pipe that somebody else writes to.
    Pipe,
    /// A service of this machine, by its name: it can be handed descriptors.
    Service,
    /// Anything else.
    Other,
}

/// The descriptors of the processes in front.
#[derive(Debug)]
pub(super) struct GroupDescriptors<'g> {
    group: &'g [u32],
    terminal: TerminalDevice,
    /// The pipes that they write to.
    written: OnceCell<HashSet<String>>,
}

impl<'g> GroupDescriptors<'g> {
    pub(super) fn new(group: &'g [u32], terminal: TerminalDevice) -> Self {
        Self { group, terminal, written: OnceCell::new() }
    }

    /// Nothing where it cannot be said.
    pub(super) fn kind(&self, process: u32, descriptor: u32) -> Option<DescriptorKind> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let link = fs::read_link(&path).ok()?;
        let link = link.to_str().unwrap_or_default();
        if link.starts_with("pipe:") {
            let written = self.written.get_or_init(|| self.group.iter().copied().flat_map(pipes_written).collect());
            return Some(if written.contains(link) { DescriptorKind::Own } else { DescriptorKind::Pipe });
        }
        if matches!(link, "anon_inode:[eventfd]" | "anon_inode:[signalfd]") {
            return Some(DescriptorKind::Own);
        }
        if link.starts_with("socket:") {
            return Some(if is_of_service(process, descriptor)? {
                DescriptorKind::Service
            } else {
                DescriptorKind::Other
            });
        }
        // Asked in a way that makes no file system fetch anything.
        let found = statx(CWD, &*path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
        let number = (found.stx_rdev_major, found.stx_rdev_minor);
        let file_system = makedev(found.stx_dev_major, found.stx_dev_minor);
        let device = TerminalDevice { number: makedev(number.0, number.1), file_system };
        let is_terminal = number == OWN_TERMINAL || device == self.terminal;
        Some(if is_terminal { DescriptorKind::Terminal } else { DescriptorKind::Other })
    }
}

/// Whether a socket goes to a service of this machine.
fn is_of_service(process: u32, descriptor: u32) -> Option<bool> {
    let process = Pid::from_raw(process.try_into().ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    let socket = pidfd_getfd(process, descriptor.try_into().ok()?, PidfdGetfdFlags::empty()).ok()?;
    // One that goes nowhere has no peer.
    let Ok(Some(peer)) = getpeername(&socket) else { return Some(false) };
    let peer = SocketAddrUnix::try_from(peer).ok();
    Some(peer.is_some_and(|peer| peer.path_bytes().is_some() || peer.abstract_name().is_some()))
}

/// The descriptors that a set of them, an epoll, waits for.
pub(super) fn watched_by(process: u32, set: u32) -> Option<Vec<u32>> {
    let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{set}")).ok()?;
    let lines = info.lines().filter_map(|line| line.strip_prefix("tfd:"));
    lines.map(|line| line.split_ascii_whitespace().next()?.parse().ok()).collect()
}

/// The pipes that a process has the writing end of.
fn pipes_written(process: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let pipes = entries.take(MAX_DESCRIPTORS).filter_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok()?;
        let is_pipe = link.starts_with("pipe:");
        (is_pipe && fs::symlink_metadata(entry.path()).ok()?.mode() & MAY_WRITE != 0).then_some(link)
    });
    pipes.collect()
}
