//! The supervisor of one child: starts it, says how it ended and what it left,
//! passes signals on, and ends the whole tree when it is told to or when the
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
    launch::{self, seal},
    system, tree,
};
use crate::{
    packet::{self, Packet},
    wire::{How, Order, Report},
};

/// How long after a kill the tree is looked at again: a process below another
/// one ends without a word to the supervisor.
const AGAIN: Duration = Duration::from_millis(10);

/// One child and the state of its end.
struct Supervisor {
    control: OwnedFd,
    children: SignalFd,
    leader: Pid,
    leader_lives: bool,
    /// When those that are left are killed.
    kill_at: Option<Instant>,
}

/// Runs until nothing of the tree is left.
pub(super) fn run(control: OwnedFd) -> ! {
    system::heed_signals();
    let _ = setsid();
    let _ = rustix::thread::set_name(c"wharf-supervise");
    let _ = set_child_subreaper(Some(getpid()));
    seal();
    let Ok(children) = system::watch_children() else { system::leave() };
    // May come long after: a sandbox is made before a child needs it.
    let mut descriptors = match packet::receive(&control) {
        Ok(Some(Packet { message: Order::Launch, descriptors, .. })) => descriptors,
        // Nobody needs it, which is no failure.
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
    match launch::start(launch, &control, descriptors) {
        Ok(leader) => {
            let _ = packet::send(&control, &Report::Started, &[]);
            Supervisor { control, children, leader, leader_lives: true, kill_at: None }.watch()
        }
        Err(launch::Failure { step, errno }) => {
            let _ = packet::send(&control, &Report::Failed { step, errno }, &[]);
            std::process::exit(0)
        }
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
        self.say(&Report::Gone);
        std::process::exit(0)
    }

    /// Whether the host has said something, be it that it is gone.
    fn wait_for_news(&self) -> bool {
        let left = self.kill_at.map(|at| timespec(at.saturating_duration_since(Instant::now())));
        let mut watched = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&self.children, PollFlags::IN)];
        poll(&mut watched, left.as_ref()).is_ok() && !watched[0].revents().is_empty()
    }

    /// Asks for all that have ended, the leader and what it left alike.
    fn reap(&mut self) {
        while let Ok(Some(_)) = self.children.read_signal() {}
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid != self.leader || !self.leader_lives {
                continue;
            }
            let how = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => How::Exited(code),
                (_, Some(signal)) => How::Signaled(signal),
                // Stopped or continued, which is no end.
                (None, None) => continue,
            };
            self.leader_lives = false;
            self.say(&Report::Ended { how, descendants: count(&tree::members()) });
        }
    }

    /// Does what the host says. False when there is no host any more.
    fn obey(&mut self) -> bool {
        match packet::receive(&self.control) {
            Ok(Some(Packet { message: Order::Signal(signal), .. })) => self.signal_group(system::signal(signal)),
            Ok(Some(Packet { message: Order::Stop { grace_milliseconds }, .. })) => {
                tree::signal(&tree::members(), Signal::TERM);
                // Whoever is stopped would not hear of it.
                tree::signal(&tree::members(), Signal::CONT);
                let at = Instant::now().checked_add(Duration::from_millis(grace_milliseconds));
                // A second stop may only bring the end nearer.
                self.kill_at = [self.kill_at, at].into_iter().flatten().min();
            }
            Ok(Some(Packet { message: Order::Count, .. })) => {
                let others = tree::members().len().saturating_sub(usize::from(self.leader_lives));
                self.say(&Report::Descendants(u32::try_from(others).unwrap_or(u32::MAX)));
            }
            Ok(Some(Packet { message: Order::Launch, .. })) => {}
            Ok(None) | Err(_) => return false,
        }
        true
    }

    fn signal_group(&self, signal: Signal) {
        // Without a member the number may already belong to somebody else.
        let group = self.leader.as_raw_nonzero().get();
        if self.leader_lives || tree::members().iter().any(|member| member.group == group) {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    /// Kills until nothing is left. A tree may fork while it is read, so one
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

    fn say(&self, report: &Report) {
        // Where the host is gone, its end of the socket says so.
        let _ = packet::send(&self.control, report, &[]);
    }
}

fn count(members: &[tree::Member]) -> u32 {
    u32::try_from(members.len()).unwrap_or(u32::MAX)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}
