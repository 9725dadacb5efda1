//! The supervisor of one child: starts it, reports its end and the descendants that
//! outlived it, passes signals on, and ends the whole tree on the host's order or when the
//! host is gone.
//!
//! Knows nothing of whether it runs in a sandbox.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use nix::sys::signalfd::SignalFd;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, WaitOptions, getpid, kill_process_group, set_child_subreaper, setsid, wait},
};

use super::{
    contain::BlankSandbox,
    launch::{self, seal},
    system,
};
use crate::{
    packet::{self, Packet},
    tree,
    wire::{Enclosure, SandboxFailure, SupervisorOrder, SupervisorReport, WaitStatus},
};

/// Pause between two looks at a tree that is being killed: the supervisor gets no signal
/// when a process below another one ends.
const AGAIN: Duration = Duration::from_millis(10);

/// One child and the state of its end.
struct Supervisor {
    control: OwnedFd,
    children: SignalFd,
    leader: Pid,
    leader_lives: bool,
    /// When the supervisor kills the rest of the tree.
    kill_at: Option<Instant>,
}

/// Runs until nothing of the tree is left. The child enters the blank sandbox where its launch
/// says so.
pub(super) fn run(control: OwnedFd, blank: Option<BlankSandbox>) -> ! {
    let _ = setsid();
    let _ = rustix::thread::set_name(c"wharf-supervise");
    let _ = set_child_subreaper(Some(getpid()));
    seal();
    let Ok(children) = system::watch_children() else { system::leave() };
    // The launch may come late: the spawner prepares sandboxes before a child needs them.
    let mut descriptors = match packet::receive(&control) {
        Ok(Some(Packet { message: SupervisorOrder::Launch, descriptors, .. })) => descriptors,
        // No child took this supervisor, which is no failure.
        Ok(None) => std::process::exit(0),
        _ => system::leave(),
    };
    if descriptors.len() < 4 {
        system::leave();
    }
    let Some(launch) = launch::read(descriptors.remove(0)) else { system::leave() };
    if descriptors.len() != 3 + launch.descriptors.len() {
        system::leave();
    }
    if let Some(failure) = enter(&launch.enclosure, blank) {
        let _ = packet::send(&control, &SupervisorReport::NoSandbox(failure), &[]);
        std::process::exit(0)
    }
    match launch::start(launch, &control, descriptors) {
        Ok(leader) => {
            let _ = packet::send(&control, &SupervisorReport::Started, &[]);
            Supervisor { control, children, leader, leader_lives: true, kill_at: None }.watch()
        }
        Err(launch::StartFailure { step, errno }) => {
            let _ = packet::send(&control, &SupervisorReport::Failed { step, errno }, &[]);
            std::process::exit(0)
        }
    }
}

/// Enters the sandbox of an enclosure; the failure where there is one.
fn enter(enclosure: &Enclosure, blank: Option<BlankSandbox>) -> Option<SandboxFailure> {
    match (enclosure, blank) {
        (Enclosure::Around(view), Some(blank)) => blank.enter(view).err(),
        (Enclosure::None | Enclosure::Landlock(_) | Enclosure::Files(_), None) => None,
        // The spawner never sends it.
        _ => Some(SandboxFailure { why: "the launch is for another supervisor".into(), forbidden: false }),
    }
}

impl Supervisor {
    fn watch(mut self) -> ! {
        loop {
            let ready = self.wait_for_news();
            self.reap();
            if ready && !self.obey() {
                self.kill_all();
                break;
            }
            if self.kill_at.is_some_and(|at| at <= Instant::now()) {
                self.kill_all();
            }
            if !self.leader_lives && tree::members().is_empty() {
                break;
            }
        }
        self.say(&SupervisorReport::Gone);
        std::process::exit(0)
    }

    /// Waits for a packet, the end of the host or a signal; whether the socket is ready.
    fn wait_for_news(&self) -> bool {
        let left = self.kill_at.map(|at| timespec(at.saturating_duration_since(Instant::now())));
        let mut watched = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
        poll(&mut watched, left.as_ref()).is_ok() && !watched[0].revents().is_empty()
    }

    /// Reaps all processes that have ended, the leader and its descendants alike.
    fn reap(&mut self) {
        while let Ok(Some(_)) = self.children.read_signal() {}
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid != self.leader || !self.leader_lives {
                continue;
            }
            let status = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => WaitStatus::Exited(code),
                (_, Some(signal)) => WaitStatus::Signaled(signal),
                // Stopped or continued, which is no end.
                (None, None) => continue,
            };
            self.leader_lives = false;
            self.say(&SupervisorReport::Ended { status, descendants: count(&tree::members()) });
        }
    }

    /// Carries out an order of the host. False when the host is gone.
    fn obey(&mut self) -> bool {
        match packet::receive(&self.control) {
            Ok(Some(Packet { message: SupervisorOrder::Signal(signal), .. })) => {
                self.signal_group(system::signal(signal))
            }
            Ok(Some(Packet { message: SupervisorOrder::Stop { grace_milliseconds }, .. })) => {
                tree::signal(&tree::members(), Signal::TERM);
                // A stopped process would not handle SIGTERM.
                tree::signal(&tree::members(), Signal::CONT);
                let at = Instant::now().checked_add(Duration::from_millis(grace_milliseconds));
                // A second stop may only bring the end nearer.
                self.kill_at = [self.kill_at, at].into_iter().flatten().min();
            }
            Ok(Some(Packet { message: SupervisorOrder::Count, .. })) => {
                let others = tree::members().len().saturating_sub(usize::from(self.leader_lives));
                self.say(&SupervisorReport::Descendants(u32::try_from(others).unwrap_or(u32::MAX)));
            }
            Ok(Some(Packet { message: SupervisorOrder::Launch, .. })) => {}
            Ok(None) | Err(_) => return false,
        }
        true
    }

    fn signal_group(&self, signal: Signal) {
        // Without a member the number may already belong to another group.
        let group = self.leader.as_raw_nonzero().get();
        if self.leader_lives || tree::members().iter().any(|member| member.group == group) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    /// Kills until the tree is gone. A tree may fork during a look at it, so one
    /// look is not enough.
    fn kill_all(&mut self) {
        loop {
            self.reap();
            let members = tree::members();
            if members.is_empty() && !self.leader_lives {
                return;
            }
            tree::signal(&members, Signal::KILL);
            let mut watched = [PollFd::new(&self.children, PollFlags::IN)];
            let _ = poll(&mut watched, Some(&timespec(AGAIN)));
        }
    }

    fn say(&self, report: &SupervisorReport) {
        // The next read of the socket notices a host that is gone.
        let _ = packet::send(&self.control, report, &[]);
    }
}

fn count(members: &[tree::TreeMember]) -> u32 {
    u32::try_from(members.len()).unwrap_or(u32::MAX)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}
