//! Locks down programs of the host itself that compute on untrusted input.

use std::io;

use crate::{
    filter::{self, SyscallFilter},
    landlock, supervisor,
};

/// Makes the calling process, with all its threads and descendants, give up
/// opening and changing files by path, making sockets, running programs
/// and signalling other processes. Open descriptors stay open. It cannot be undone.
///
/// Refused calls fail with "operation not permitted", so code that can do
/// without them goes on. Landlock, where the system has it, restricts the calling thread and
/// the threads that it starts afterwards a second time.
///
/// # Errors
/// Where the system has no filters for system calls; the process may then have
/// given up a part.
pub fn lock_down() -> io::Result<()> {
    let program = filter::program(SyscallFilter::LockedDown { itself: std::process::id() })?;
    // Not all systems have Landlock, and the filter alone is enough.
    if let Err(error) = landlock::give_up_all() {
        tracing::debug!(%error, "without Landlock");
    }
    // Nor does another process of the user read its memory.
    supervisor::seal();
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
}
