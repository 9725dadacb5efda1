//! The view of a contained child: as the command line of bubblewrap, and as
//! paths for Landlock.
//!
//! Runs neither.

use std::{
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use rustix::process::{getegid, geteuid};

use crate::{
    Bind, Sandbox, SpawnError,
    system_paths::{DIRECTORIES_OF_SETTINGS, SYSTEM},
    users,
    wire::{BubblewrapCommand, LandlockRules, STAGE},
};

/// Paths of bubblewrap. Not the search path, which other programs may have set.
const BUBBLEWRAP: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Files of the system's settings that programs commonly need.
pub(crate) const SETTINGS: [&str; 15] = [
    "/etc/bash.bashrc",
    "/etc/debian_version",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
];

/// The kernel's settings. Root may write them
/// even without capabilities, and bubblewrap covers only some of them; other users
/// may not write them anyway.
const SETTINGS_OF_THE_KERNEL: [&str; 8] = [
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// Directories of the child's own, which begin empty and end with it.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Most bytes of each of them: they are memory of the machine.
const TEMPORARY_BYTES: &str = "536870912";

/// The path of bubblewrap, where it is installed; it need not work.
pub(crate) fn find() -> Option<PathBuf> {
    BUBBLEWRAP.iter().map(Path::new).find(|path| path.is_file()).map(Path::to_owned)
}

/// The command that runs its last arguments in a sandbox.
///
/// It copies files of settings into the sandbox, which costs a tenth of
/// showing each by a mount; it shows directories of settings, which have hundreds of
/// entries, by mounts. Names of users are the sandbox's own.
pub(crate) fn command(bubblewrap: &Path, sandbox: &Sandbox, user: Option<u32>, home: &Path) -> BubblewrapCommand {
    let mut command = vec![bubblewrap.as_os_str().as_bytes().to_vec()];
    let mut add = |words: &[&[u8]]| command.extend(words.iter().map(|word| word.to_vec()));
    add(&[b"--unshare-pid", b"--unshare-ipc", b"--unshare-uts", b"--unshare-cgroup-try"]);
    if !sandbox.network {
        // The child gets a loopback of its own, which local test servers need.
        add(&[b"--unshare-net"]);
    }
    // The supervisor inside is the first process: when it ends, the system
    // ends all other processes of the namespace.
    add(&[b"--as-pid-1", b"--die-with-parent", b"--cap-drop", b"ALL"]);
    for path in SYSTEM {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                let Ok(target) = fs::read_link(path) else { continue };
                add(&[b"--symlink", &target.into_os_string().into_vec(), path.as_bytes()]);
            }
            Ok(_) => add(&[b"--ro-bind", path.as_bytes(), path.as_bytes()]),
            Err(_) => {}
        }
    }
    for path in DIRECTORIES_OF_SETTINGS {
        add(&[b"--ro-bind-try", path.as_bytes(), path.as_bytes()]);
    }
    let mut rest: Vec<Vec<u8>> = Vec::new();
    let mut add = |words: &[&[u8]]| rest.extend(words.iter().map(|word| word.to_vec()));
    add(&[b"--proc", b"/proc", b"--dev", b"/dev"]);
    if user.is_none() && geteuid().is_root() {
        for path in SETTINGS_OF_THE_KERNEL {
            add(&[b"--ro-bind-try", path.as_bytes(), path.as_bytes()]);
        }
    }
    for path in TEMPORARY {
        add(&[b"--size", TEMPORARY_BYTES.as_bytes(), b"--tmpfs", path.as_bytes()]);
    }
    let mut staged = Vec::new();
    let readable = sandbox.readable.iter().map(|bind| (&b"--ro-bind"[..], bind));
    for (word, bind) in readable.chain(sandbox.writable.iter().map(|bind| (&b"--bind"[..], bind))) {
        let mut source = bind.source.as_os_str().as_bytes().to_vec();
        if user.is_some() {
            let place = format!("{STAGE}/{}", staged.len()).into_bytes();
            staged.push(std::mem::replace(&mut source, place));
        }
        add(&[word, &source, bind.target.as_os_str().as_bytes()]);
    }
    // The directories that hold the mounts are memory of the machine, too.
    add(&[b"--remount-ro", b"/dev", b"--remount-ro", b"/", b"--chdir", b"/", b"--"]);
    let copies = SETTINGS.iter().map(|path| path.as_bytes().to_vec()).collect();
    let (uid, gid) = user.map_or_else(|| (geteuid().as_raw(), getegid().as_raw()), |user| (user, user));
    let names = users::names(uid, gid, home);
    let made = users::FILES.iter().map(|path| path.as_bytes().to_vec()).zip(names).collect();
    BubblewrapCommand { command, copies, made, rest, user, staged }
}

/// The paths that [`command`] shows and that another file of the same
/// name may replace while the sandbox lives.
pub(crate) fn shown(sandbox: &Sandbox) -> impl Iterator<Item = &Path> {
    let system = SYSTEM.iter().chain(&DIRECTORIES_OF_SETTINGS).map(Path::new);
    system.chain(sandbox.readable.iter().chain(&sandbox.writable).map(|bind| bind.source.as_path()))
}

/// The same view for Landlock, which shows every file at its own path.
pub(crate) fn confinement(sandbox: &Sandbox) -> Result<LandlockRules, SpawnError> {
    let all = |binds: &[Bind]| {
        let path = |bind: &Bind| match bind.source == bind.target {
            true => Ok(bind.source.as_os_str().as_bytes().to_vec()),
            false => Err(SpawnError::Moved { source_path: bind.source.clone(), target: bind.target.clone() }),
        };
        binds.iter().map(path).collect::<Result<Vec<_>, _>>()
    };
    let (writable, readable) = (all(&sandbox.writable)?, all(&sandbox.readable)?);
    Ok(LandlockRules { writable, readable, network: sandbox.network })
}
