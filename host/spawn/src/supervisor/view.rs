//! The files that a contained child sees: a tree of mounts, made in the mount namespace of
//! its supervisor and entered for good.
//!
//! Knows nothing of users, capabilities and system calls.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, chownat, fstat, mkdirat, openat, openat2, symlinkat},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree, unmount,
    },
    process::{Gid, Uid, chdir, fchdir, pivot_root, umask},
};

use super::{
    confine::path_of,
    contain,
    settings::SystemSettings,
    system::{self, MountRights},
};
use crate::{
    system_paths::{DIRECTORIES_OF_SETTINGS, SYSTEM},
    users,
    wire::{SandboxFailure, SandboxView},
};

/// Devices without memory of their own, and the terminal of the process that opens it.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Names in `/dev` that lead elsewhere.
const LINKS: [(&str, &str); 6] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/core", "/proc/kcore"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// The kernel's settings. Root may write them even without capabilities.
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

type MakeResult<T> = Result<T, SandboxFailure>;

/// The failure for `map_err`: what could not be done to a path.
fn cannot<E: Into<io::Error>>(step: &str, path: impl AsRef<Path>) -> impl FnOnce(E) -> SandboxFailure {
    move |error| contain::failure(&format!("cannot {step} {}", path.as_ref().display()), &error.into())
}

const ONTO: MoveMountFlags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH.union(MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH);

/// The new tree while it is made, by its root. No path of it is ever resolved against the
/// host's files: a child of before may have left links in the directories that it shows.
pub(super) struct Tree {
    root: OwnedFd,
    umask: Mode,
}

impl Tree {
    /// Makes all of the tree that every sandbox has. This process is the first of its process
    /// namespace and alone in its mount namespace, in which it may mount.
    pub(super) fn begin(settings: &SystemSettings) -> MakeResult<Self> {
        // Nothing that is mounted from here on shows outside. What the host mounts and unmounts
        // meanwhile shows here, until the tree is the root.
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)
            .map_err(cannot("follow the mounts of", "the host"))?;
        let umask = umask(Mode::WGRP | Mode::WOTH);
        let mounted = file_system("tmpfs", &[("mode", "755")], MountAttrFlags::MOUNT_ATTR_NODEV);
        let root = mounted.map_err(cannot("make", "a root directory"))?;
        // Over the root of this process, whose paths still begin below it.
        let stage = cannot("mount", "a root directory");
        move_mount(&root, "", CWD, "/", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(stage)?;
        let tree = Self { root, umask };
        tree.show_system(settings)?;
        tree.mount("/proc", "proc", &[], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        for path in SETTINGS_OF_THE_KERNEL {
            tree.freeze(path)?;
        }
        tree.make_devices()?;
        for path in TEMPORARY {
            let options = [("mode", "755"), ("size", TEMPORARY_BYTES)];
            tree.mount(path, "tmpfs", &options, MountAttrFlags::MOUNT_ATTR_NODEV)?;
        }
        Ok(tree)
    }

    /// Adds what the view shows to this user and group, and leaves the host's files for it.
    pub(super) fn enter(self, view: &SandboxView, uid: u32, gid: u32) -> MakeResult<()> {
        for (path, contents) in users::FILES.into_iter().zip(users::names(uid, gid, path_of(&view.home))) {
            self.write(path, &contents)?;
        }
        let owner = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        for path in TEMPORARY {
            let given =
                self.find(path).and_then(|place| Ok(chownat(place, "", owner.0, owner.1, AtFlags::EMPTY_PATH)?));
            given.map_err(cannot("give away", path))?;
        }
        let readable = view.readable.iter().map(|bind| (bind, MountRights::READ));
        for ((source, target), rights) in readable.chain(view.writable.iter().map(|bind| (bind, MountRights::WRITE))) {
            self.show(path_of(source), path_of(target), rights)?;
        }
        // The directories that hold the mounts are memory of the machine, too.
        for path in ["/dev", "/"] {
            let place = self.find(path).map_err(cannot("find", path))?;
            system::restrict_mount(&place, MountRights::FROZEN).map_err(cannot("close", path))?;
        }
        umask(self.umask);
        self.become_root()
    }

    fn show_system(&self, settings: &SystemSettings) -> MakeResult<()> {
        for path in SYSTEM {
            match fs::symlink_metadata(path) {
                Ok(about) if about.is_symlink() => {
                    self.link(path, &fs::read_link(path).map_err(cannot("follow", path))?)?;
                }
                Ok(_) => self.show(path.as_ref(), path.as_ref(), MountRights::READ)?,
                Err(_) => {}
            }
        }
        for path in DIRECTORIES_OF_SETTINGS {
            if Path::new(path).exists() {
                self.show(path.as_ref(), path.as_ref(), MountRights::READ)?;
            }
        }
        // A copy costs a third of a mount.
        settings.iter().try_for_each(|(path, contents)| self.write(path, contents))
    }

    fn make_devices(&self) -> MakeResult<()> {
        self.mount("/dev", "tmpfs", &[("mode", "755"), ("size", "65536")], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        for path in DEVICES {
            self.show(path.as_ref(), path.as_ref(), MountRights::DEVICE)?;
        }
        for (path, target) in LINKS {
            self.link(path, target.as_ref())?;
        }
        self.mount("/dev/pts", "devpts", &[("ptmxmode", "666"), ("mode", "620")], MountAttrFlags::MOUNT_ATTR_NOEXEC)
    }

    /// Shows a file or directory of the host, with all that is mounted below it.
    fn show(&self, source: &Path, target: &Path, rights: MountRights) -> MakeResult<()> {
        let cut = cut(CWD, source, rights)
            .and_then(|tree| Ok((FileType::from_raw_mode(fstat(&tree)?.st_mode) == FileType::Directory, tree)));
        let (is_directory, tree) = cut.map_err(cannot("show", source))?;
        self.attach(&tree, target, is_directory)
    }

    /// Makes the tree the root of this process and lets go of the host's.
    fn become_root(self) -> MakeResult<()> {
        let entered = fchdir(&self.root)
            .and_then(|()| pivot_root(".", "."))
            // The host's root lies over the new one now.
            .and_then(|()| unmount(".", UnmountFlags::DETACH))
            .and_then(|()| chdir("/"));
        entered.map_err(cannot("enter", "the sandbox"))
    }

    /// Mounts a new file system. Devices work in none but `/dev/pts`.
    fn mount(&self, path: &str, kind: &str, options: &[(&str, &str)], rights: MountAttrFlags) -> MakeResult<()> {
        let nodev = if kind == "devpts" { MountAttrFlags::empty() } else { MountAttrFlags::MOUNT_ATTR_NODEV };
        let tree = file_system(kind, options, rights | nodev).map_err(cannot("mount", path))?;
        self.attach(&tree, path.as_ref(), true)
    }

    fn attach(&self, tree: &OwnedFd, target: &Path, is_directory: bool) -> MakeResult<()> {
        let attached = self.place(target, is_directory).and_then(|place| Ok(move_mount(tree, "", &place, "", ONTO)?));
        attached.map_err(cannot("show something as", target))
    }

    /// Shows a file or directory as it is, for reading alone.
    fn freeze(&self, path: &str) -> MakeResult<()> {
        let place = match self.find(path) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot("find", path)(error)),
        };
        let frozen =
            cut(&place, Path::new(""), MountRights::READ).and_then(|tree| Ok(move_mount(&tree, "", &place, "", ONTO)?));
        frozen.map_err(cannot("close", path))
    }

    fn link(&self, path: &str, target: &Path) -> MakeResult<()> {
        let made = parts(path.as_ref()).and_then(|(directory, name)| {
            let directory = self.place(directory, true)?;
            Ok(symlinkat(target, directory, name)?)
        });
        made.map_err(cannot("link", path))
    }

    fn write(&self, path: &str, contents: &[u8]) -> MakeResult<()> {
        let written = parts(path.as_ref()).and_then(|(directory, name)| {
            let directory = self.place(directory, true)?;
            File::from(new_file(directory.as_fd(), name)?).write_all(contents)
        });
        written.map_err(cannot("write", path))
    }

    /// What the tree has at a path.
    fn find(&self, path: impl AsRef<Path>) -> io::Result<OwnedFd> {
        let below = path.as_ref().strip_prefix("/").map_err(io::Error::other)?;
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        // Links of the tree lead within the tree.
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(&self.root, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?)
    }

    /// The place for a mount, made where the tree has none.
    fn place(&self, path: &Path, is_directory: bool) -> io::Result<OwnedFd> {
        match self.find(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let (directory, name) = parts(path)?;
        let directory = self.place(directory, true)?;
        if is_directory {
            mkdirat(&directory, name, Mode::from_raw_mode(0o755))?;
        } else {
            new_file(directory.as_fd(), name)?;
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&directory, name, flags, Mode::empty())?)
    }
}

/// A copy of the mount at a path, or of the descriptor itself where the path is empty, with all
/// that is mounted below it. It has no more than these rights, and is mounted nowhere yet.
fn cut(at: impl AsFd, path: &Path, rights: MountRights) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(at, path, flags)?;
    system::restrict_mounts(&tree, rights)?;
    Ok(tree)
}

/// A directory and a name in it.
fn parts(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.components().next_back()) {
        (Some(directory), Some(Component::Normal(name))) => Ok((directory, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// A new file that all may read, under a descriptor to write it once.
fn new_file(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::from_raw_mode(0o444))?)
}

/// A file system that is mounted nowhere yet.
fn file_system(kind: &str, options: &[(&str, &str)], rights: MountAttrFlags) -> io::Result<OwnedFd> {
    let made = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&made, *name, *value)?;
    }
    fsconfig_create(&made)?;
    Ok(fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, rights | MountAttrFlags::MOUNT_ATTR_NOSUID)?)
}
