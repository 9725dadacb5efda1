//! The processes below another one: finds, counts, signals and describes them.
//!
//! Reads /proc, which counts children in other sessions and groups, too.

mod description;

use std::{collections::HashMap, fs};

use rustix::process::{Pid, Signal, getpid, kill_process};

pub(crate) use description::describe;

/// A living process below another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeMember {
    pub(crate) pid: Pid,
    pub(crate) group: i32,
}

/// All living processes below this one, in no order. Zombies, which have ended and
/// wait to be reaped, do not count.
pub(crate) fn members() -> Vec<TreeMember> {
    members_below(getpid())
}

fn members_below(top: Pid) -> Vec<TreeMember> {
    let mut by_parent = by_parent();
    let mut found = Vec::new();
    let mut next = vec![top];
    while let Some(parent) = next.pop() {
        let children = by_parent.remove(&parent).unwrap_or_default();
        next.extend(children.iter().map(|member| member.pid));
        found.extend(children);
    }
    found
}

/// The living children of this process alone.
pub(crate) fn children() -> Vec<TreeMember> {
    by_parent().remove(&getpid()).unwrap_or_default()
}

fn by_parent() -> HashMap<Pid, Vec<TreeMember>> {
    let mut by_parent: HashMap<Pid, Vec<TreeMember>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        // A process that is gone by now is no member.
        let Ok(stat) = fs::read(entry.path().join("stat")) else { continue };
        if let Some((parent, group)) = parse(&String::from_utf8_lossy(&stat))
            && let Some(parent) = Pid::from_raw(parent)
        {
            by_parent.entry(parent).or_default().push(TreeMember { pid, group });
        }
    }
    by_parent
}

/// The number of processes and threads of a user, as the system counts
/// them against a limit.
pub(crate) fn threads_of(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()));
    let counts = processes.filter_map(|entry| -> Option<u64> {
        let status = fs::read(entry.path().join("status")).ok()?;
        let status = String::from_utf8_lossy(&status);
        let field = |name| -> Option<u64> {
            status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
        };
        (field("Uid:")? == u64::from(user)).then(|| field("Threads:"))?
    });
    counts.sum()
}

/// Parent and group of a process, unless it has ended. Its name comes in
/// brackets and may hold anything, brackets included.
fn parse(stat: &str) -> Option<(i32, i32)> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Sends a signal to all of these. A process that has ended since costs nothing: the system
/// gives out all other process ids before it reuses one.
pub(crate) fn signal(members: &[TreeMember], signal: Signal) {
    for member in members {
        let _ = kill_process(member.pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_cannot_forge_their_parents() {
        assert_eq!(parse("12 (a) S 1 1 (b) R 7 9 3 0"), Some((7, 9)));
        assert_eq!(parse("12 (sh) Z 7 9 3 0"), None);
        assert_eq!(parse("nothing"), None);
    }
}
