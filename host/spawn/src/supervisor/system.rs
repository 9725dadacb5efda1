//! What the system offers only to those who promise to be careful, and small
//! steps that both kinds of supervisor take.

use std::{
    ffi::{CStr, CString},
    fs::OpenOptions,
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _},
    },
};

use nix::{
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
    unistd::ForkResult,
};
use rustix::{process::Pid, thread::UnshareFlags};

/// What a supervisor ends with when it cannot go on and nobody listens.
const GIVEN_UP: i32 = 70;

/// Which side of a fork this is.
pub(super) enum Side {
    /// The new process.
    Child,
    /// The one that forked, and what it forked.
    Parent(Pid),
}

/// Forks this process.
#[expect(unsafe_code, reason = "supervisors have one thread, so the child may do anything that its parent may")]
pub(super) fn fork() -> io::Result<Side> {
    // SAFETY: no other thread exists that could hold a lock.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Child => Ok(Side::Child),
        ForkResult::Parent { child } => match Pid::from_raw(child.as_raw()) {
            Some(pid) => Ok(Side::Parent(pid)),
            None => Err(io::ErrorKind::InvalidData.into()),
        },
    }
}

/// Leaves a namespace for a new one.
#[expect(unsafe_code, reason = "descriptors could be taken from under their owners, which these flags do not do")]
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: called without `UnshareFlags::FILES`.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces & !UnshareFlags::FILES) }?)
}

/// Has every descriptor but the standard streams closed when a program is run.
#[expect(unsafe_code, reason = "neither std nor rustix offers it")]
pub(super) fn close_on_exec_all() {
    // SAFETY: changes a flag of descriptors and closes none.
    let changed = unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC as libc::c_int) };
    if changed != 0 {
        leave();
    }
}

/// Leaves a descriptor open under a number for the program that this process
/// becomes. Whatever had the number is closed, so nothing may own it any more.
#[expect(unsafe_code, reason = "the number may belong to a value of this process, which is about to become a program")]
pub(super) fn give(descriptor: &OwnedFd, number: u32) -> io::Result<()> {
    let number = libc::c_int::try_from(number).map_err(io::Error::other)?;
    // SAFETY: only the child of a supervisor calls it, which uses no descriptor
    // of such a low number any more, and leaves without dropping one.
    let given = unsafe { libc::dup2(descriptor.as_raw_fd(), number) };
    if given < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes every descriptor but the standard streams.
#[expect(unsafe_code, reason = "neither std nor rustix offers it")]
pub(super) fn close_all() {
    // SAFETY: called before anything of this process owns a descriptor.
    let closed = unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
    if closed != 0 {
        leave();
    }
}

/// Makes the standard streams lead nowhere, so that this process holds nobody's
/// pipe open.
pub(super) fn forget_streams() {
    let Ok(null) = null() else { leave() };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}

/// Reads as empty, and swallows what is written. A file in its place would keep
/// what is written, and be full one day.
pub(crate) fn null() -> io::Result<OwnedFd> {
    const NULL: &str = "/dev/null";
    let null = OpenOptions::new().read(true).write(true).open(NULL)?;
    let about = null.metadata()?;
    let kind = about.file_type();
    if !kind.is_char_device() || about.rdev() != libc::makedev(1, 3) {
        let is = if kind.is_file() { "a regular file" } else { "something else" };
        let problem = format!(
            "{NULL} is {is} and not the null device: make it again (`rm -f {NULL} && mknod -m 666 {NULL} c 1 3`)"
        );
        return Err(io::Error::other(problem));
    }
    Ok(null.into())
}

/// Has ends of children wait in a descriptor instead of interrupting.
pub(super) fn watch_children() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Undoes [`watch_children`] for a process that becomes a program, and has it heed
/// all signals as programs expect to.
pub(super) fn accept_signals() {
    heed_signals();
    let _ = SigSet::all().thread_unblock();
}

/// Has every signal do what it does by default. What a program ignores, those that
/// it runs ignore, too: a host in the background of a script ignores C-c, and one
/// below a parent that ignores the ends of its children would hear of no end.
#[expect(
    unsafe_code,
    reason = "neither rustix nor nix sets the signals of real-time, nor without a promise the others"
)]
pub(super) fn heed_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: no handler of this process is in use, and none is set. The two that
        // cannot be changed and the library's own are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Becomes a program; returns only why not.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    match nix::unistd::execve(program, arguments, environment) {
        Ok(never) => match never {},
        Err(error) => error.into(),
    }
}

/// The system's number of a signal.
pub(super) fn signal(signal: crate::Signal) -> rustix::process::Signal {
    use crate::Signal as Wanted;
    use rustix::process::Signal;
    match signal {
        Wanted::Hangup => Signal::HUP,
        Wanted::Interrupt => Signal::INT,
        Wanted::Quit => Signal::QUIT,
        Wanted::Terminate => Signal::TERM,
        Wanted::Kill => Signal::KILL,
        Wanted::User1 => Signal::USR1,
        Wanted::User2 => Signal::USR2,
        Wanted::Stop => Signal::STOP,
        Wanted::Continue => Signal::CONT,
    }
}

/// Ends this process at once, with nothing said.
pub(super) fn leave() -> ! {
    std::process::exit(GIVEN_UP)
}
