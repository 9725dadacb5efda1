//! What Linux says of the program's end of a terminal.
//!
//! Never reads from it.

use std::{fs::File, os::fd::AsFd, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::fstat,
    termios::{LocalModes, SpecialCodeIndex, tcgetattr},
};

use super::end::{SlaveState, TerminalDevice};

/// What is at the program's end; nothing where it cannot be said.
pub(super) fn slave_state(program: &File) -> Option<SlaveState> {
    let has_unread_input = is_readable(program);
    let (found, settings) = (fstat(program).ok()?, tcgetattr(program).ok()?);
    let codes = &settings.special_codes;
    let waits_for_some = settings.local_modes.contains(LocalModes::ICANON) || codes[SpecialCodeIndex::VMIN] > 0;
    let tenths = u64::from(codes[SpecialCodeIndex::VTIME]);
    let read_limit = (!waits_for_some).then(|| Duration::from_millis(tenths * 100));
    let device = TerminalDevice { number: found.st_rdev, file_system: found.st_dev };
    Some(SlaveState { device, has_unread_input, read_limit })
}

/// Whether there is something to read now. What is on its way inside of the
/// system arrives first.
pub(super) fn is_readable(terminal: impl AsFd) -> bool {
    let mut asked = [PollFd::new(&terminal, PollFlags::IN)];
    let found = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    found.is_ok_and(|count| count > 0) && asked[0].revents().contains(PollFlags::IN)
}
