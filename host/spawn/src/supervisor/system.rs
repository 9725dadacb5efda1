//! Calls of the system that need `unsafe`, and small
//! steps of both kinds of supervisor.

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

/// Exit code of a supervisor that cannot go on and has no host to tell.
const GIVEN_UP: i32 = 70;

/// The two sides of a fork.
pub(super) enum ForkSide {
    /// The new process.
    Child,
    /// The process that forked, with the new one.
    Parent(Pid),
}

/// Forks this process.
#[expect(unsafe_code, reason = "supervisors have one thread, so the child may do anything that its parent may")]
pub(super) fn fork() -> io::Result<ForkSide> {
    // SAFETY: no other thread exists that could hold a lock.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Child => Ok(ForkSide::Child),
        ForkResult::Parent { child } => match Pid::from_raw(child.as_raw()) {
            Some(pid) => Ok(ForkSide::Parent(pid)),
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

/// Marks every descriptor but the standard streams to close when a program runs.
#[expect(unsafe_code, reason = "neither std nor rustix offers it")]
pub(super) fn close_on_exec_all() {
    // SAFETY: changes a flag of descriptors and closes none.
    let changed = unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC as libc::c_int) };
    if changed != 0 {
        leave();
    }
}

/// Leaves a descriptor open under a number for the program that this process
/// becomes. Closes the former descriptor of that number, which no value may own any more.
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

/// Leads the standard streams to the null device, so that this process holds no
/// pipe of another one open.
pub(super) fn forget_streams() {
    let Ok(null) = null() else { leave() };
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
}

/// The null device, which reads as empty and discards writes. Refuses a file in its place,
/// which would keep all writes until the disk is full.
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

/// Delivers ends of children through a descriptor instead of a signal.
pub(super) fn watch_children() -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

/// Undoes [`watch_children`] for a process that becomes a program, and sets
/// all signals as programs expect them.
pub(super) fn accept_signals() {
    heed_signals();
    let _ = SigSet::all().thread_unblock();
}

/// Resets every signal to its default. Programs inherit ignored signals: a host in the
/// background of a script ignores C-c, and a host below a parent that ignores the ends of
/// its children would not learn of any end.
#[expect(
    unsafe_code,
    reason = "neither rustix nor nix sets the signals of real-time, nor without a promise the others"
)]
pub(super) fn heed_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: no handler of this process is in use, and none is set. The system refuses
        // the two signals that cannot be changed and the library's own.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Becomes a program; returns only an error.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    match nix::unistd::execve(program, arguments, environment) {
        Ok(never) => match never {},
        Err(error) => error.into(),
    }
}

/// The system's number of a signal.
pub(super) fn signal(signal: crate::Signal) -> rustix::process::Signal {
    use crate::Signal as Name;
    use rustix::process::Signal;
    match signal {
        Name::Hangup => Signal::HUP,
        Name::Interrupt => Signal::INT,
        Name::Quit => Signal::QUIT,
        Name::Terminate => Signal::TERM,
        Name::Kill => Signal::KILL,
        Name::User1 => Signal::USR1,
        Name::User2 => Signal::USR2,
        Name::Stop => Signal::STOP,
        Name::Continue => Signal::CONT,
    }
}

/// Ends this process at once, without a report.
pub(super) fn leave() -> ! {
    std::process::exit(GIVEN_UP)
}
