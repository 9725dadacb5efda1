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

/// Forks this process into new namespaces.
#[expect(
    unsafe_code,
    reason = "neither rustix nor nix forks into namespaces without running a function on a new stack"
)]
pub(super) fn fork_into(namespaces: UnshareFlags) -> io::Result<ForkSide> {
    let flags = i64::from(namespaces.bits()) | i64::from(libc::SIGCHLD);
    // SAFETY: as `fork`: no other thread exists. Without a stack and `CLONE_VM` the new
    // process goes on with a copy of this one's memory.
    let forked = unsafe { libc::syscall(libc::SYS_clone, flags, 0_i64, 0_i64, 0_i64, 0_i64) };
    match i32::try_from(forked).map_err(io::Error::other)? {
        0 => Ok(ForkSide::Child),
        child @ 1.. => Pid::from_raw(child).map(ForkSide::Parent).ok_or_else(|| io::ErrorKind::InvalidData.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Leaves a namespace for a new one.
#[expect(unsafe_code, reason = "descriptors could be taken from under their owners, which these flags do not do")]
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: called without `UnshareFlags::FILES`.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces & !UnshareFlags::FILES) }?)
}

/// What programs may do with the files of a mount.
#[derive(Clone, Copy)]
pub(super) struct MountRights(u64);

impl MountRights {
    /// Read them, and change nothing.
    pub(super) const READ: Self = Self(Self::WRITE.0 | libc::MOUNT_ATTR_RDONLY);
    /// Read and write them; no file gives rights, and none is a device.
    pub(super) const WRITE: Self = Self(libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV);
    /// Use the device that it is.
    pub(super) const DEVICE: Self = Self(libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC);
    /// What they may already, except to change them.
    pub(super) const FROZEN: Self = Self(libc::MOUNT_ATTR_RDONLY);
}

/// Leaves no more than these rights to a mount and all mounts below it, which no longer follow
/// what the host mounts.
pub(super) fn restrict_mounts(tree: &OwnedFd, rights: MountRights) -> io::Result<()> {
    restrict(tree, libc::AT_RECURSIVE, libc::MS_PRIVATE, rights)
}

/// Leaves no more than these rights to a mount.
pub(super) fn restrict_mount(mount: &OwnedFd, rights: MountRights) -> io::Result<()> {
    restrict(mount, 0, 0, rights)
}

#[expect(unsafe_code, reason = "neither rustix nor nix offers it")]
fn restrict(mount: &OwnedFd, flags: libc::c_int, propagation: u64, rights: MountRights) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: rights.0, attr_clr: 0, propagation, userns_fd: 0 };
    let flags = flags | libc::AT_EMPTY_PATH;
    let size = size_of_val(&attributes);
    // SAFETY: the kernel reads the path and `size` bytes of the attributes, and keeps neither.
    let set = unsafe {
        libc::syscall(libc::SYS_mount_setattr, mount.as_raw_fd(), c"".as_ptr(), flags, &raw const attributes, size)
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts the loopback of this process's own network.
#[expect(unsafe_code, reason = "neither rustix nor nix offers it")]
pub(super) fn start_loopback() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short },
    };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = from as libc::c_char;
    }
    // SAFETY: the kernel reads the name and the flags of the request, and keeps neither.
    let started = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if started == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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

/// Undoes [`watch_children`] for a process that becomes a program. The root has set every
/// signal as programs expect them.
pub(super) fn accept_signals() {
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
