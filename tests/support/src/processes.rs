//! Whether processes live. Knows `/proc`, so it is there on Linux alone.

use std::fs;

use crate::blocking;

/// State and parent of a process; nothing where there is none.
#[must_use]
pub fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold whatever it likes.
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// The parent of a process.
///
/// # Panics
/// Where there is no such process.
#[must_use]
#[track_caller]
pub fn parent(pid: u32) -> u32 {
    state_and_parent(pid).expect("a process").1
}

/// How many children a process has, those included that have ended and are still to be waited for.
#[must_use]
pub fn children_of(parent: u32) -> usize {
    all().filter(|pid| state_and_parent(*pid).is_some_and(|(_, other)| other == parent)).count()
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc is there");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// All descendants of a process, those included that have ended and are still to be waited for.
#[must_use]
pub fn below(ancestor: u32) -> Vec<u32> {
    let is_below = |pid: &u32| {
        let parent = |pid: &u32| state_and_parent(*pid).map(|(_, parent)| parent).filter(|parent| *parent != 0);
        std::iter::successors(parent(pid), parent).any(|parent| parent == ancestor)
    };
    all().filter(is_below).collect()
}

/// Whether a process lives. One that has ended and is still to be waited for does not.
#[must_use]
pub fn lives(pid: u32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// Waits until a process is dead: the kernel takes it down in its own time, and tells
/// nobody but its parent.
///
/// # Panics
/// Where it lives on.
#[track_caller]
pub fn until_dead(pid: u32) {
    blocking::until(format_args!("process {pid} is dead"), || !lives(pid));
}
