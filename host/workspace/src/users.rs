//! The users of sessions: where the host is root, each workspace has one of its own.
//!
//! The system counts processes by user, and does not count root's. A user is drawn by chance when
//! its workspace is made, and no other workspace has it: a client names its sessions as it likes,
//! and finds no name that leads to the user of another one. The owner of the directory says who
//! it is from then on, so nothing else is kept.

use std::{collections::HashSet, io, path::Path};

use crate::system::{is_root, owner_of};

/// The first of a range that neither systems nor containers use by themselves (systemd's
/// UIDS-GIDS leaves it free).
const FIRST: u32 = 1_879_048_192;
const NUMBER: u32 = 268_000_000;
/// The user of trials, and of directories that belong to nobody in the range: it has no files of
/// anybody, and is never the host's.
pub(crate) const SHARED: u32 = FIRST + NUMBER;

/// The user that owns a directory of a workspace; none where children are the host's own user.
pub(crate) fn user_of(directory: &Path) -> Option<u32> {
    if !is_root() {
        return None;
    }
    let owner = owner_of(directory).ok().filter(|owner| (FIRST..SHARED).contains(owner));
    // Such as one that a host which was not root made: root has it no more than others.
    Some(owner.unwrap_or(SHARED))
}

/// A user that is not taken.
pub(crate) fn draw(taken: &HashSet<u32>) -> io::Result<u32> {
    draw_from(taken, || getrandom::u32().map_err(io::Error::other))
}

fn draw_from(taken: &HashSet<u32>, mut random: impl FnMut() -> io::Result<u32>) -> io::Result<u32> {
    loop {
        let user = FIRST + random()? % NUMBER;
        if !taken.contains(&user) {
            return Ok(user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_that_is_taken_is_drawn_again() {
        let mut numbers = [5, NUMBER + 5, 7].into_iter();
        let taken = [FIRST + 5, SHARED].into();
        let drawn = draw_from(&taken, || numbers.next().ok_or_else(|| io::ErrorKind::Other.into()));
        assert_eq!(drawn.expect("one that is free"), FIRST + 7);
        assert!(draw_from(&taken, || Err(io::ErrorKind::Other.into())).is_err());
    }
}
