//! Which processes are in front, and their threads.
//!
//! Never knows what they do.

use std::fs;

/// With more below one session nothing is said: looking would take too long.
const MAX_PROCESSES: usize = 128;
/// The same for the threads of a process.
const MAX_THREADS: usize = 128;

/// A flag of a process that the system is taking apart (`PF_EXITING` in Linux's
/// `include/linux/sched.h`): it closes its descriptors before it counts as ended.
const EXITING: u32 = 0x4;

/// Whether a process has ended, or is about to.
pub(super) fn ends(process: u32) -> bool {
    ProcessStat::of(process).is_none_or(|stat| stat.has_ended || stat.is_exiting)
}

/// The processes of a group below the supervisor of `leader`, which adopts all
/// that its program leaves behind.
pub(super) fn of_group(leader: u32, group: u32) -> Option<Vec<u32>> {
    let supervisor = ProcessStat::of(leader)?.parent;
    let mut below = children(supervisor)?;
    let mut next = 0;
    let mut found = Vec::new();
    while let Some(&process) = below.get(next) {
        next += 1;
        // It may just have ended.
        let Some(stat) = ProcessStat::of(process) else { continue };
        if stat.group == group && !stat.has_ended {
            found.push(process);
        }
        below.extend(children(process).unwrap_or_default());
        if below.len() > MAX_PROCESSES {
            return None;
        }
    }
    Some(found)
}

/// The threads of a process; none of one that has just ended.
pub(super) fn threads(process: u32) -> Option<Vec<u32>> {
    let Ok(directory) = fs::read_dir(format!("/proc/{process}/task")) else { return Some(Vec::new()) };
    let names = directory.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let threads: Vec<u32> = names.take(MAX_THREADS + 1).collect();
    (threads.len() <= MAX_THREADS).then_some(threads)
}

fn children(process: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for thread in threads(process)? {
        let children = fs::read_to_string(format!("/proc/{process}/task/{thread}/children")).ok()?;
        all.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(all)
}

/// A part of what the system says of a process.
struct ProcessStat {
    has_ended: bool,
    is_exiting: bool,
    parent: u32,
    group: u32,
}

impl ProcessStat {
    fn of(process: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name before may hold anything.
        let mut fields = stat.rsplit_once(") ")?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        // Behind the session, the terminal and the terminal's group (proc_pid_stat(5)).
        let flags: u32 = fields.nth(3)?.parse().ok()?;
        Some(Self { has_ended: matches!(state, "Z" | "X"), is_exiting: flags & EXITING != 0, parent, group })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use wharf_test_support::blocking::until;

    use super::*;

    #[test]
    fn a_process_ends_before_anybody_is_told() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let process = child.id();
        assert!(!ends(process));
        drop(child.stdin.take());
        // Nobody asks how it ended until here.
        until("it ends", || ends(process));
        child.wait().expect("it ended");
        assert!(ends(process), "there is none");
    }
}
