//! System calls that no library offers without a wrapper that falls back to something else.

use std::io;

/// Makes a system call with these arguments.
#[expect(unsafe_code, reason = "an attempt to escape takes calls that libraries do not offer")]
pub(crate) fn call(number: libc::c_long, arguments: [usize; 6]) -> io::Result<usize> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: every call is either refused, or has arguments that touch no memory of this program but what its
    // caller keeps for it.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Ends the new process at once where a call made one, which it must not.
#[expect(unsafe_code, reason = "a copy of a process with threads may not run what this one does at its end")]
pub(crate) fn forked(result: io::Result<usize>) -> io::Result<()> {
    if let Ok(0) = result {
        // SAFETY: it ends this process, and runs nothing before.
        unsafe { libc::_exit(0) }
    }
    result.map(drop)
}
