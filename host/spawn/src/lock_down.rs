//! For programs of the host itself that compute on what nobody vouches for.

use std::io;

use crate::{
    filter::{self, Refused},
    landlock,
};

/// Has the calling process, all its threads and all that it starts give up
/// opening and changing files by path, making sockets, becoming another program
/// and signalling others. What is open stays open. It cannot be undone.
///
/// Refused is refused with "operation not permitted", so code that can do
/// without goes on. Where there is Landlock it holds the calling thread and
/// those that it starts afterwards a second time.
///
/// # Errors
/// Where the system has no filters for system calls; the process may then have
/// given up a part.
pub fn lock_down() -> io::Result<()> {
    let program = filter::program(Refused::LockedDown { itself: std::process::id() })?;
    // Not all systems have it, and the filter alone is enough.
    if let Err(error) = landlock::give_up_all() {
        tracing::debug!(%error, "without Landlock");
    }
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
}
