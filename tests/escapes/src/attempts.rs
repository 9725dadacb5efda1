//! Ways out, each of which has to fail.

use std::{
    ffi::CString,
    fs::{self, File, OpenOptions},
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixStream},
    },
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Pid, PidfdFlags, Signal, getppid};

use crate::calls::{call, forked};

/// An attempt by its name, and what came of it.
pub type Attempt = (String, io::Result<()>);

/// Where the attempts are made.
#[derive(Debug, Clone)]
pub struct AttemptPlace {
    /// A directory that the process may write to, with a `file`.
    pub inside: PathBuf,
    /// One that it may not read, with a `file`.
    pub outside: PathBuf,
    /// The abstract name of a socket at which another process listens.
    pub beyond: String,
}

/// What an attacker may have had before: descriptors stay open.
#[derive(Debug)]
pub struct Ready {
    parent: Pid,
    handle: OwnedFd,
    program: OwnedFd,
}

impl Ready {
    /// Opens it, before the process is confined.
    ///
    /// # Errors
    /// What the system says of it.
    pub fn new(place: &AttemptPlace) -> io::Result<Self> {
        let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
        let handle = rustix::process::pidfd_open(parent, PidfdFlags::empty())?;
        // A program in memory, which no rule on paths knows.
        let program = rustix::fs::memfd_create("program", rustix::fs::MemfdFlags::CLOEXEC)?;
        fs::copy("/bin/true", place.inside.join("true"))?;
        io::copy(&mut File::open("/bin/true")?, &mut File::from(program.try_clone()?))?;
        Ok(Self { parent, handle, program })
    }
}

/// Whether an attempt ended as it must: the system refused it.
#[must_use]
pub fn is_refused(error: Option<i32>) -> bool {
    matches!(error, Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::EXDEV))
}

/// Tries all ways, also into these processes beside the parent.
#[must_use]
pub fn all(place: &AttemptPlace, ready: &Ready, others: &[u32]) -> Vec<Attempt> {
    let mut all = files(place, ready);
    all.extend(programs(place, ready));
    all.extend(of_the_parent(ready));
    all.extend(kernel());
    all.extend(sockets(&place.beyond));
    let mut all: Vec<_> = all.into_iter().map(|(name, outcome)| (name.to_owned(), outcome)).collect();
    let others = others.iter().filter_map(|other| Pid::from_raw(i32::try_from(*other).ok()?));
    for other in others.chain([ready.parent]) {
        let named = |(name, outcome)| (format!("{name} {}", other.as_raw_nonzero()), outcome);
        all.extend(process(other).into_iter().map(named));
    }
    all
}

/// An attempt before it has a name of its own.
type Tried = (&'static str, io::Result<()>);

fn files(place: &AttemptPlace, ready: &Ready) -> Vec<Tried> {
    let AttemptPlace { inside, outside, .. } = place;
    let parent = ready.parent.as_raw_nonzero();
    let through = |root: &str| format!("{root}{}", outside.join("file").display());
    let done = |result: io::Result<File>| result.map(drop);
    let rename = fs::rename(inside.join("file"), outside.join("moved"));
    vec![
        ("read /etc/shadow", done(File::open("/etc/shadow"))),
        ("read a file of another", done(File::open(outside.join("file")))),
        ("list a directory of another", fs::read_dir(outside).map(drop)),
        ("write a file of another", done(OpenOptions::new().write(true).open(outside.join("file")))),
        ("make a file elsewhere", done(File::create(outside.join("new")))),
        ("make a directory elsewhere", fs::create_dir(outside.join("new"))),
        ("remove a file of another", fs::remove_file(outside.join("file"))),
        ("move a file out", rename),
        ("link a file in", fs::hard_link(outside.join("file"), inside.join("linked"))),
        ("cut a file of another", truncate(&outside.join("file"))),
        ("get out by a link", symlinked(outside, inside)),
        ("get out by its own root", done(File::open(through("/proc/self/root")))),
        ("get out by the root of its parent", done(File::open(through(&format!("/proc/{parent}/root"))))),
        ("set a limit of the system", done(OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern"))),
        ("make a device", device(inside)),
        ("open the disks", fs::read_dir("/dev").map(drop)),
        ("open a file by its handle", call(libc::SYS_open_by_handle_at, [0; 6]).map(drop)),
    ]
}

fn truncate(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_encoded_bytes()).expect("a path");
    call(libc::SYS_truncate, [path.as_ptr() as usize, 0, 0, 0, 0, 0]).map(drop)
}

fn symlinked(outside: &Path, inside: &Path) -> io::Result<()> {
    let link = inside.join("way");
    std::os::unix::fs::symlink(outside.join("file"), &link)?;
    File::open(link).map(drop)
}

fn device(inside: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    Ok(mknodat(CWD, inside.join("zero"), FileType::CharacterDevice, Mode::RWXU, makedev(1, 5))?)
}

fn programs(place: &AttemptPlace, ready: &Ready) -> Vec<Tried> {
    let none: [usize; 1] = [0];
    let environment = none.as_ptr() as usize;
    let path = CString::new("/bin/true").expect("a path");
    let empty = CString::default();
    let program = ready.program.as_raw_fd().unsigned_abs() as usize;
    let at_empty = libc::AT_EMPTY_PATH.unsigned_abs() as usize;
    vec![
        ("start a program", Command::new("/bin/true").status().map(drop)),
        ("start a program of its own", Command::new(place.inside.join("true")).status().map(drop)),
        (
            "become a program",
            call(libc::SYS_execve, [path.as_ptr() as usize, environment, environment, 0, 0, 0]).map(drop),
        ),
        (
            "become a program in memory",
            call(libc::SYS_execveat, [program, empty.as_ptr() as usize, environment, environment, at_empty, 0])
                .map(drop),
        ),
        ("fork", forked(call(libc::SYS_clone, [libc::SIGCHLD.unsigned_abs() as usize, 0, 0, 0, 0, 0]))),
        #[cfg(target_arch = "x86_64")]
        ("fork as of old", forked(call(libc::SYS_fork, [0; 6]))),
        ("fork by clone3", forked(call(libc::SYS_clone3, [0; 6]))),
        (
            "fork into a user namespace",
            forked(call(
                libc::SYS_clone,
                [(libc::SIGCHLD | libc::CLONE_NEWUSER).unsigned_abs() as usize, 0, 0, 0, 0, 0],
            )),
        ),
    ]
}

fn of_the_parent(ready: &Ready) -> Vec<Tried> {
    let handle = ready.handle.as_raw_fd().unsigned_abs() as usize;
    let signalled = rustix::process::pidfd_send_signal(&ready.handle, Signal::USR1);
    vec![
        ("take a file of its parent", call(libc::SYS_pidfd_getfd, [handle, 0, 0, 0, 0, 0]).map(drop)),
        ("signal by a handle", signalled.map_err(io::Error::from)),
        ("signal all", call(libc::SYS_kill, [usize::MAX, 0, 0, 0, 0, 0]).map(drop)),
    ]
}

fn process(other: Pid) -> Vec<Tried> {
    let number = other.as_raw_nonzero();
    let other_number = number.get().unsigned_abs() as usize;
    let attach = libc::PTRACE_SEIZE as usize;
    let signal = |result: rustix::io::Result<()>| result.map_err(io::Error::from);
    vec![
        ("read the environment of", fs::read(format!("/proc/{number}/environ")).map(drop)),
        ("open the memory of", File::open(format!("/proc/{number}/mem")).map(drop)),
        ("trace", call(libc::SYS_ptrace, [attach, other_number, 0, 0, 0, 0]).map(drop)),
        ("read the memory of", call(libc::SYS_process_vm_readv, [other_number, 0, 0, 0, 0, 0]).map(drop)),
        ("see whether it is there:", signal(rustix::process::test_kill_process(other))),
        ("end", signal(rustix::process::kill_process(other, Signal::USR1))),
        ("limit", call(libc::SYS_prlimit64, [other_number, 7, 0, 0, 0, 0]).map(drop)),
        ("slow", call(libc::SYS_setpriority, [0, other_number, 19, 0, 0, 0]).map(drop)),
    ]
}

fn kernel() -> Vec<Tried> {
    let new_user = libc::CLONE_NEWUSER.unsigned_abs() as usize;
    let root = CString::new("/").expect("a path");
    let path = root.as_ptr() as usize;
    let no_address_randomisation = 0x004_0000;
    let calls = [
        ("mount", libc::SYS_mount, [path, path, 0, libc::MS_BIND as usize, 0, 0]),
        ("mount by the new calls", libc::SYS_open_tree, [0, path, 1, 0, 0, 0]),
        ("unmount", libc::SYS_umount2, [path, 0, 0, 0, 0, 0]),
        ("enter another root", libc::SYS_chroot, [path, 0, 0, 0, 0, 0]),
        ("turn the root", libc::SYS_pivot_root, [path, path, 0, 0, 0, 0]),
        ("make a user namespace", libc::SYS_unshare, [new_user, 0, 0, 0, 0, 0]),
        ("enter a namespace", libc::SYS_setns, [0, new_user, 0, 0, 0, 0]),
        ("become root", libc::SYS_setuid, [0; 6]),
        ("become somebody", libc::SYS_setresuid, [1, 1, 1, 0, 0, 0]),
        ("take groups", libc::SYS_setgroups, [0; 6]),
        ("take capabilities", libc::SYS_capset, [0; 6]),
        ("load a program of the kernel", libc::SYS_bpf, [0; 6]),
        ("make a ring of calls", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0, 0]),
        ("read keys", libc::SYS_keyctl, [0; 6]),
        ("add a key", libc::SYS_add_key, [0; 6]),
        ("watch performance", libc::SYS_perf_event_open, [0; 6]),
        ("handle faults of memory", libc::SYS_userfaultfd, [0; 6]),
        ("load a module", libc::SYS_finit_module, [0; 6]),
        ("load a kernel", libc::SYS_kexec_load, [0; 6]),
        ("restart the machine", libc::SYS_reboot, [0; 6]),
        ("set the clock", libc::SYS_clock_settime, [0; 6]),
        ("name the machine", libc::SYS_sethostname, [path, 1, 0, 0, 0, 0]),
        ("read the log of the kernel", libc::SYS_syslog, [3, 0, 0, 0, 0, 0]),
        ("change its personality", libc::SYS_personality, [no_address_randomisation, 0, 0, 0, 0, 0]),
        ("type into a terminal", libc::SYS_ioctl, [0, libc::TIOCSTI as usize, path, 0, 0, 0]),
        ("use a call that is newer than the filter", 500, [0; 6]),
    ];
    calls.into_iter().map(|(name, number, arguments)| (name, call(number, arguments).map(drop))).collect()
}

fn sockets(beyond: &str) -> Vec<Tried> {
    let socket = |family: i32, kind: i32, protocol: i32| {
        let arguments = [family, kind, protocol].map(|number| number.unsigned_abs() as usize);
        call(libc::SYS_socket, [arguments[0], arguments[1], arguments[2], 0, 0, 0]).map(drop)
    };
    let beyond = SocketAddr::from_abstract_name(beyond);
    vec![
        ("make a raw socket", socket(libc::AF_INET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::IPPROTO_ICMP)),
        ("make a raw socket of IPv6", socket(libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6)),
        ("read the wire", socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)),
        ("talk to its machine's host", socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
        ("use ciphers of the kernel", socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
        ("hear the audit", socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT)),
        (
            "talk to a process by a socket without a file",
            beyond.and_then(|beyond| UnixStream::connect_addr(&beyond)).map(drop),
        ),
    ]
}
