//! The system calls that a child, or a program of the host itself, may not make.
//!
//! The filter lists refused calls, not allowed ones: children are programs of
//! any kind. It refuses calls that are newer than the list as
//! unknown, and programs fall back to older ones. Knows nothing of
//! paths: mounts and Landlock guard those.

#[cfg(test)]
mod tests;
mod tree;

use std::{borrow::Cow, collections::BTreeMap, io, sync::OnceLock};

use libc::c_long;
use seccompiler::{BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule, sock_filter};

/// The kinds of filter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SyscallFilter {
    /// For a child in a sandbox, whose namespaces do most of the containment.
    InSandbox,
    /// For a child that only Landlock and this filter contain.
    BesideLandlock {
        /// Whether it may make sockets of the internet.
        network: bool,
        /// Whether its user owns no files but those that the child may change anyway.
        own_user: bool,
    },
    /// For a program in Landlock that makes sandboxes for others, such as a browser: it keeps
    /// namespaces, `chroot` and the network.
    AroundSandboxes,
    /// For the host itself, which starts nothing and changes no other process. Landlock guards its paths.
    Host {
        /// Its process id.
        itself: u32,
    },
    /// For a program of the host that has opened all files it needs.
    LockedDown {
        /// Its process id; it may signal no other process.
        itself: u32,
    },
}

/// Calls on the keyring and on the kernel itself, which no namespace closes; calls that make
/// mounts and enter namespaces, which would open new ways.
const OF_THE_KERNEL: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];
/// Calls by which a program makes a sandbox for another one. Landlock holds within it.
const OF_SANDBOXES: &[c_long] = &[libc::SYS_chroot, libc::SYS_unshare];
#[cfg(target_arch = "x86_64")]
const OF_THE_KERNEL_FORMERLY: &[c_long] = &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_uselib];
#[cfg(not(target_arch = "x86_64"))]
const OF_THE_KERNEL_FORMERLY: &[c_long] = &[];

/// Calls that Landlock does not check, and that the system allows only to the owner of a
/// file. A child with a user of its own owns no more than its workspace, so
/// it may make them; compilers and archives need them. (Every user who may write a file may
/// set its times to the present, so the times of a file that all may write are not safe.)
/// Any other child is the user of the host, whose files are everywhere. A descriptor proves
/// nothing: a child can also open files that are only shown.
const OF_OWNERS: &[c_long] = &[libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2];
/// `fchmodat2`, which not every architecture of the library names: its number is the same on all.
const FCHMODAT2: c_long = 452;
#[cfg(target_arch = "x86_64")]
const OF_OWNERS_FORMERLY: &[c_long] = &[libc::SYS_chmod, libc::SYS_futimesat, libc::SYS_utime, libc::SYS_utimes];
#[cfg(not(target_arch = "x86_64"))]
const OF_OWNERS_FORMERLY: &[c_long] = &[];

/// The same on the owners of files and on events in directories, which builds do not need.
const ON_FILES: &[c_long] = &[libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_inotify_add_watch];
#[cfg(target_arch = "x86_64")]
const ON_FILES_FORMERLY: &[c_long] = &[libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const ON_FILES_FORMERLY: &[c_long] = &[];

/// Calls that Landlock does not check and that neither builds nor the host need: on attributes, which every user who
/// may write can set, on memory and queues without a path, and on other processes.
const BESIDE_LANDLOCK: &[c_long] = &[
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_mq_getsetattr,
    libc::SYS_mq_notify,
    libc::SYS_mq_open,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_removexattr,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setxattr,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];
/// Calls that a host never makes, which has threads and no children: they run programs, make processes and change its
/// own user.
const OF_PROGRAMS: &[c_long] = &[
    libc::SYS_capset,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_setuid,
    libc::SYS_tkill,
];
#[cfg(target_arch = "x86_64")]
const OF_PROGRAMS_FORMERLY: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const OF_PROGRAMS_FORMERLY: &[c_long] = &[];

/// All calls that act on a path, and calls that run programs.
const LOCKED_DOWN: &[c_long] = &[
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_linkat,
    libc::SYS_listen,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pidfd_send_signal,
    libc::SYS_renameat2,
    libc::SYS_socket,
    libc::SYS_symlinkat,
    libc::SYS_tkill,
    libc::SYS_truncate,
    libc::SYS_unlinkat,
];
#[cfg(target_arch = "x86_64")]
const LOCKED_DOWN_FORMERLY: &[c_long] = &[
    libc::SYS_creat,
    libc::SYS_link,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_open,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_symlink,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const LOCKED_DOWN_FORMERLY: &[c_long] = &[libc::SYS_renameat];

/// Flags of `clone` that make namespaces.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

type SyscallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filter of each sandbox, which nothing of the child changes.
static IN_SANDBOX: OnceLock<BpfProgram> = OnceLock::new();

/// Makes the filter of sandboxes, so that a copy of this process has it.
pub(crate) fn prepare() {
    if let Ok(program) = rules(SyscallFilter::InSandbox).and_then(tree::program) {
        let _ = IN_SANDBOX.set(program);
    }
}

/// The filter, ready to be installed.
pub(crate) fn program(refused: SyscallFilter) -> io::Result<Cow<'static, [sock_filter]>> {
    match (refused, IN_SANDBOX.get()) {
        (SyscallFilter::InSandbox, Some(prepared)) => Ok(Cow::Borrowed(prepared)),
        _ => Ok(Cow::Owned(tree::program(rules(refused)?)?)),
    }
}

/// What is refused: calls whatever their arguments, where they have no rule, and calls of which one rule holds.
fn rules(refused: SyscallFilter) -> io::Result<SyscallRules> {
    let mut rules = SyscallRules::new();
    let makes_sandboxes = matches!(refused, SyscallFilter::AroundSandboxes);
    always(&mut rules, &[OF_THE_KERNEL, OF_THE_KERNEL_FORMERLY]);
    if !makes_sandboxes {
        always(&mut rules, &[OF_SANDBOXES]);
        for flag in NAMESPACES {
            let flag = u64::from(flag.cast_unsigned());
            only(&mut rules, libc::SYS_clone, &[(0, SeccompCmpOp::MaskedEq(flag), flag)])?;
        }
    }
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        only(&mut rules, libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request)])?;
    }
    // Most programs only query the personality.
    let query = u64::from(u32::MAX);
    only(&mut rules, libc::SYS_personality, &[(0, SeccompCmpOp::Ne, 0), (0, SeccompCmpOp::Ne, query)])?;
    if !matches!(refused, SyscallFilter::InSandbox) {
        always(&mut rules, &[BESIDE_LANDLOCK]);
    }
    if !matches!(refused, SyscallFilter::InSandbox | SyscallFilter::AroundSandboxes) {
        other_processes(&mut rules)?;
    }
    if let SyscallFilter::BesideLandlock { .. } | SyscallFilter::LockedDown { .. } = refused {
        always(&mut rules, &[ON_FILES, ON_FILES_FORMERLY]);
    }
    if let SyscallFilter::BesideLandlock { own_user: false, .. } | SyscallFilter::LockedDown { .. } = refused {
        always(&mut rules, &[OF_OWNERS, OF_OWNERS_FORMERLY]);
        times_by_path(&mut rules)?;
    }
    match refused {
        SyscallFilter::InSandbox | SyscallFilter::AroundSandboxes => {}
        SyscallFilter::BesideLandlock { network: false, .. } => always(&mut rules, &[&[libc::SYS_socket]]),
        SyscallFilter::BesideLandlock { network: true, .. } => {
            let internet = [libc::AF_INET, libc::AF_INET6];
            only(&mut rules, libc::SYS_socket, &internet.map(|family| (0, SeccompCmpOp::Ne, number(family))))?;
            let kind = SeccompCmpOp::MaskedEq(0xf);
            only(&mut rules, libc::SYS_socket, &[(1, kind, number(libc::SOCK_RAW))])?;
        }
        SyscallFilter::LockedDown { itself } => {
            always(&mut rules, &[LOCKED_DOWN, LOCKED_DOWN_FORMERLY]);
            signals_of_others(&mut rules, itself)?;
        }
        SyscallFilter::Host { itself } => {
            always(&mut rules, &[OF_PROGRAMS, OF_PROGRAMS_FORMERLY]);
            signals_of_others(&mut rules, itself)?;
            // A thread, and no process.
            let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
            only(&mut rules, libc::SYS_clone, &[(0, SeccompCmpOp::MaskedEq(thread), 0)])?;
            sockets_of_host(&mut rules)?;
        }
    }
    Ok(rules)
}

/// Refuses signals for other processes.
fn signals_of_others(rules: &mut SyscallRules, itself: u32) -> io::Result<()> {
    for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo] {
        only(rules, call, &[(0, SeccompCmpOp::Ne, itself.into())])?;
    }
    Ok(())
}

/// Leaves sockets of the internet and of this machine, and those by which libraries ask for the machine's addresses.
fn sockets_of_host(rules: &mut SyscallRules) -> io::Result<()> {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    only(rules, libc::SYS_socket, &families.map(|family| (0, SeccompCmpOp::Ne, number(family))))?;
    let (kind, raw) = (SeccompCmpOp::MaskedEq(0xf), number(libc::SOCK_RAW));
    let netlink = number(libc::AF_NETLINK);
    only(rules, libc::SYS_socket, &[(0, SeccompCmpOp::Ne, netlink), (1, kind, raw)])?;
    let route = number(libc::NETLINK_ROUTE);
    only(rules, libc::SYS_socket, &[(0, SeccompCmpOp::Eq, netlink), (2, SeccompCmpOp::Ne, route)])
}

/// Refuses changes of other processes of the same user.
fn other_processes(rules: &mut SyscallRules) -> io::Result<()> {
    let first = [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ];
    for call in first {
        only(rules, call, &[(0, SeccompCmpOp::Ne, 0)])?;
    }
    for (call, itself) in [(libc::SYS_setpriority, number(libc::PRIO_PROCESS.cast_signed())), (libc::SYS_ioprio_set, 1)]
    {
        only(rules, call, &[(0, SeccompCmpOp::Ne, itself)])?;
        only(rules, call, &[(1, SeccompCmpOp::Ne, 0)])?;
    }
    Ok(())
}

/// Refuses to set times by path. Times by descriptor stay allowed: opening the file was.
fn times_by_path(rules: &mut SyscallRules) -> io::Result<()> {
    let condition = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    let rule = SeccompRule::new(vec![condition.map_err(io::Error::other)?]).map_err(io::Error::other)?;
    rules.entry(libc::SYS_utimensat).or_default().push(rule);
    Ok(())
}

fn always(rules: &mut SyscallRules, calls: &[&[c_long]]) {
    for call in calls.iter().copied().flatten() {
        // An empty list of rules refuses every use of the call.
        rules.insert(*call, Vec::new());
    }
}

/// Refuses a call where all conditions hold, in addition to the rules that it has.
fn only(rules: &mut SyscallRules, call: c_long, conditions: &[(u8, SeccompCmpOp, u64)]) -> io::Result<()> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    let conditions = conditions.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    rules.entry(call).or_default().push(SeccompRule::new(conditions).map_err(io::Error::other)?);
    Ok(())
}

fn number(small: i32) -> u64 {
    u64::from(small.cast_unsigned())
}
