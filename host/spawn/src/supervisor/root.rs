//! The root of the supervisors: forks one for each order of the host, and ends
//! when the host is gone and the last supervisor has ended.
//!
//! Never runs a program itself, and holds no descriptor of a child.

use std::{
    collections::HashMap,
    ffi::{CString, OsStr},
    fs::File,
    io::{self, Seek as _, Write as _},
    os::{
        fd::{IntoRawFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{MemfdFlags, memfd_create},
    io::FdFlags,
    process::{Pid, Signal, WaitOptions, getpid, set_child_subreaper, setsid, wait},
};

use super::{
    SUPERVISOR, confine,
    groups::{ControlGroups, TreeGroups},
    launch::seal,
    stage, supervise,
    system::{self, ForkSide},
    tree,
};
use crate::{
    packet::{self, Packet},
    wire::{BubblewrapCommand, StartStep, SupervisorReport, SupervisorSpec, SupervisorTask},
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
    let mut supervisors = Supervisors::new();
    let mut ended: Vec<TreeGroups> = Vec::new();
    let mut groups = None;
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
                        refuse(&child, StartStep::Bound, &error);
                        continue;
                    }
                };
                match system::fork() {
                    Ok(ForkSide::Parent(pid)) => drop(supervisors.insert(pid, made)),
                    Ok(ForkSide::Child) => {
                        let errors = descriptors.pop();
                        drop((control, children, descriptors));
                        if let Err(error) = made.enter() {
                            refuse(&child, StartStep::Bound, &error);
                            std::process::exit(0)
                        }
                        become_supervisor(message.task, child, errors)
                    }
                    Err(error) => {
                        ended.push(made);
                        refuse(&child, StartStep::Prepare, &error);
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

/// Tells the host why a child gets no supervisor.
fn refuse(child: &OwnedFd, step: StartStep, error: &io::Error) {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    // The host may be gone, and then no side needs the report.
    let _ = packet::send(child, &SupervisorReport::Failed { step, errno }, &[]);
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
fn become_supervisor(task: SupervisorTask, control: OwnedFd, errors: Option<OwnedFd>) -> ! {
    match task {
        SupervisorTask::Supervise => supervise::run(control),
        SupervisorTask::Contain(sandbox) => {
            // The end of the socket reports a failure; the program inside reports
            // its own end.
            if let Some(errors) = errors {
                let _ = rustix::stdio::dup2_stderr(&errors);
            }
            if let Err(error) = contain(sandbox, control) {
                let _ = writeln!(io::stderr(), "{error}");
            }
            system::leave()
        }
    }
}

/// Becomes bubblewrap, with this program at the end of its command. A descriptor names this
/// program: the sandbox does not show its path, and an update may have
/// replaced it.
fn contain(sandbox: BubblewrapCommand, control: OwnedFd) -> io::Result<()> {
    let _ = setsid();
    let mut command = sandbox.command;
    // The user that this process becomes below may not be able to open these files.
    for path in sandbox.copies {
        let Ok(file) = File::open(Path::new(OsStr::from_bytes(&path))) else { continue };
        let words = [b"--perms".to_vec(), b"0444".to_vec(), b"--file".to_vec(), number_for_a_program(file)?, path];
        command.extend(words);
    }
    for (path, contents) in sandbox.made {
        let mut file = File::from(memfd_create("wharf-made", MemfdFlags::CLOEXEC)?);
        file.write_all(&contents)?;
        file.rewind()?;
        command.extend([b"--perms".to_vec(), b"0444".to_vec(), b"--file".to_vec(), number_for_a_program(file)?, path]);
    }
    command.extend(sandbox.rest);
    let itself = number_for_a_program(File::open("/proc/self/exe")?)?;
    command.push([b"/proc/self/fd/", &itself[..]].concat());
    command.push(SUPERVISOR.into());
    rustix::stdio::dup2_stdin(&control)?;
    if let Some(user) = sandbox.user {
        stage::show(&sandbox.staged)?;
        confine::become_user(user)?;
    }
    system::accept_signals();
    let command = command.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
    let Some(program) = command.first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let libraries = std::env::var("LD_LIBRARY_PATH").ok();
    let environment = libraries.map(|path| CString::new(format!("LD_LIBRARY_PATH={path}"))).transpose()?;
    Err(system::execute(program, &command, environment.as_slice()))
}

/// Leaves a file open for the program that this process becomes, and returns
/// its number.
fn number_for_a_program(file: File) -> io::Result<Vec<u8>> {
    rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file.into_raw_fd().to_string().into_bytes())
}
