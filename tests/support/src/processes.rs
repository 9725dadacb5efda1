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
