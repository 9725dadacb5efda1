//! The command line of bubblewrap: what a contained child sees.
//!
//! Knows nothing of who runs it.

use std::{
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use crate::Sandbox;

/// Where bubblewrap may be. Not the search path, which others may have set.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Top-level directories with the system's programs and libraries.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// What programs commonly need of the system's settings. Not all of them: the
/// host may be root, and then passwords and keys could be read.
const SETTINGS: [&str; 21] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What the owner of the machine sets the kernel with. To root these are open
/// even without capabilities, and bubblewrap covers only some of them.
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

/// Directories of the child's own that are empty at first and go with it.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// The most that each of them holds: they are memory of the machine.
const TEMPORARY_BYTES: &str = "536870912";

/// bubblewrap, where it is installed. Whether it works is another question.
pub(crate) fn find() -> Option<PathBuf> {
    PLACES.iter().map(Path::new).find(|path| path.is_file()).map(Path::to_owned)
}

/// The command that runs what follows it in a sandbox.
pub(crate) fn command(bubblewrap: &Path, sandbox: &Sandbox) -> Vec<Vec<u8>> {
    let mut command = vec![bubblewrap.as_os_str().as_bytes().to_vec()];
    let mut add = |words: &[&[u8]]| command.extend(words.iter().map(|word| word.to_vec()));
    add(&[b"--unshare-pid", b"--unshare-ipc", b"--unshare-uts", b"--unshare-cgroup-try"]);
    if !sandbox.network {
        // Brings up a loopback of its own, which local test servers need.
        add(&[b"--unshare-net"]);
    }
    // The supervisor inside is the first process: when it ends, the system
    // ends all others of the namespace.
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
    for path in SETTINGS {
        add(&[b"--ro-bind-try", path.as_bytes(), path.as_bytes()]);
    }
    add(&[b"--proc", b"/proc", b"--dev", b"/dev"]);
    for path in SETTINGS_OF_THE_KERNEL {
        add(&[b"--ro-bind-try", path.as_bytes(), path.as_bytes()]);
    }
    for path in TEMPORARY {
        add(&[b"--size", TEMPORARY_BYTES.as_bytes(), b"--tmpfs", path.as_bytes()]);
    }
    for path in &sandbox.readable {
        add(&[b"--ro-bind", path.as_os_str().as_bytes(), path.as_os_str().as_bytes()]);
    }
    for path in &sandbox.writable {
        add(&[b"--bind", path.as_os_str().as_bytes(), path.as_os_str().as_bytes()]);
    }
    // What holds the mounts together is memory of the machine, too.
    add(&[b"--remount-ro", b"/dev", b"--remount-ro", b"/", b"--chdir", b"/", b"--"]);
    command
}
