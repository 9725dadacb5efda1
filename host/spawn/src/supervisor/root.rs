//! The root of the supervisors: forks one for each order of the host, and ends
//! when the host is gone and the last supervisor has ended.
//!
//! Never runs a program itself, and holds no descriptor of a child.

use std::{collections::HashMap, io, os::fd::OwnedFd};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, Signal, WaitOptions, getpid, set_child_subreaper, setsid, wait},
};

use super::{
    contain::{self, BlankSandbox, Ids},
    groups::{ControlGroups, TreeGroups},
    launch::seal,
    settings::SystemSettings,
    supervise,
    system::{self, ForkSide},
};
use crate::{
    filter, outside,
    packet::{self, Packet},
    tree,
    wire::{StartStep, SupervisorReport, SupervisorSpec, SupervisorTask},
};

/// The living supervisors, and the groups of their trees.
type Supervisors = HashMap<Pid, TreeGroups>;

/// Runs until the host is gone.
pub(super) fn run(control: OwnedFd) -> ! {
    let Ok(control) = keep_only(control) else { system::leave() };
    system::heed_signals();
    let _ = setsid();
    let _ = rustix::thread::set_name(c"wharf-root");
    let _ = set_child_subreaper(Some(getpid()));
    seal();
    let Ok(children) = system::watch_children() else { system::leave() };
    if packet::send(&control, &SupervisorReport::Started, &[]).is_err() {
        system::leave();
    }
    // Before the first copy of this process.
    filter::prepare();
    let mut supervisors = Supervisors::new();
    let mut ended: Vec<TreeGroups> = Vec::new();
    let mut groups = None;
    let mut settings = SystemSettings::default();
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
        ended.extend(reap(&mut supervisors));
        ended.retain_mut(|groups| !groups.remove());
        if !asked {
            continue;
        }
        match packet::receive::<SupervisorSpec>(&control) {
            Ok(Some(Packet { message, mut descriptors, .. })) => {
                let Some(child) = descriptors.pop() else { continue };
                let made = message.group.map(|bounds| groups.get_or_insert_with(ControlGroups::find).make(bounds));
                let made = match made.unwrap_or_else(|| Ok(TreeGroups::default())) {
                    Ok(made) => made,
                    Err(error) => {
                        refuse(&child, &failed(StartStep::Bound, &error));
                        continue;
                    }
                };
                if matches!(message.task, SupervisorTask::Contain { .. }) {
                    settings.refresh();
                }
                match fork(message.task) {
                    Ok((ForkSide::Parent(pid), _)) => drop(supervisors.insert(pid, made)),
                    Ok((ForkSide::Child, sandbox)) => {
                        drop((control, children, descriptors));
                        if let Err(error) = made.enter() {
                            refuse(&child, &failed(StartStep::Bound, &error));
                            std::process::exit(0)
                        }
                        become_supervisor(sandbox, &settings, child)
                    }
                    Err(report) => {
                        ended.push(made);
                        refuse(&child, &report);
                    }
                }
            }
            Ok(None) => host_is_there = false,
            // Too many descriptors, or a packet that this program never sends.
            Err(_) => {}
        }
    }
    std::process::exit(0)
}

/// Runs parts of a confined host until that is gone.
pub(super) fn keep(control: OwnedFd) -> ! {
    let Ok(control) = keep_only(control) else { system::leave() };
    let _ = setsid();
    let _ = rustix::thread::set_name(c"wharf-keeper");
    seal();
    outside::keep_for(&control);
    std::process::exit(0)
}

fn failed(step: StartStep, error: &io::Error) -> SupervisorReport {
    SupervisorReport::Failed { step, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

/// Tells the host why a child gets no supervisor.
fn refuse(child: &OwnedFd, report: &SupervisorReport) {
    // The host may be gone, and then no side needs the report.
    let _ = packet::send(child, report, &[]);
}

/// Closes all descriptors of the host, except for the socket.
fn keep_only(control: OwnedFd) -> io::Result<OwnedFd> {
    rustix::stdio::dup2_stdin(&control)?;
    drop(control);
    system::close_all();
    let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    system::forget_streams();
    Ok(kept)
}

/// Reaps all processes that have ended. A killed supervisor leaves its tree
/// to the root, which kills the tree. Returns the groups of the supervisors that ended.
fn reap(supervisors: &mut Supervisors) -> Vec<TreeGroups> {
    let (mut look, mut ended) = (false, Vec::new());
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        match supervisors.remove(&pid) {
            Some(groups) => {
                ended.push(groups);
                look |= status.exit_status() != Some(0);
            }
            // A stray has ended, and the root adopts its children.
            None => look = true,
        }
    }
    if look {
        let mut strays = tree::children();
        strays.retain(|stray| !supervisors.contains_key(&stray.pid));
        tree::signal(&strays, Signal::KILL);
    }
    ended
}

/// Turns this process into a supervisor; never returns to the loop of the root.
fn become_supervisor(sandbox: Option<(Ids, bool)>, settings: &SystemSettings, control: OwnedFd) -> ! {
    match sandbox.map(|(own, network)| BlankSandbox::make(own, network, settings)).transpose() {
        Ok(blank) => supervise::run(control, blank),
        Err(failure) => {
            refuse(&control, &SupervisorReport::NoSandbox(failure));
            std::process::exit(0)
        }
    }
}

/// Forks this process, into namespaces where the task says so; else the report of the failure.
fn fork(task: SupervisorTask) -> Result<(ForkSide, Option<(Ids, bool)>), SupervisorReport> {
    match task {
        SupervisorTask::Supervise => match system::fork() {
            Ok(side) => Ok((side, None)),
            Err(error) => Err(failed(StartStep::Prepare, &error)),
        },
        SupervisorTask::Contain { network } => match contain::fork(network) {
            Ok((side, own)) => Ok((side, Some((own, network)))),
            Err(failure) => Err(SupervisorReport::NoSandbox(failure)),
        },
    }
}
