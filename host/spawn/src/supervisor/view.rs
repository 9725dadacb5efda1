//! The files that a contained child sees: a tree of mounts, made in the mount namespace of
//! its supervisor and entered for good.
//!
//! Knows nothing of users, capabilities and system calls.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, symlinkat},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
        fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree, unmount,
    },
    process::{chdir, fchdir, pivot_root, umask},
};

use super::{
    contain,
    system::{self, MountRights},
};
use crate::{
    system_paths::{DIRECTORIES_OF_SETTINGS, SETTINGS, SYSTEM},
    users,
    wire::{SandboxFailure, SandboxView},
};

/// Where the tree is put together. Every system has the directory, and the host's own files
/// below it are opened before it is covered.
const STAGE: &str = "/tmp";

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

/// Leaves the host's files for the view. This process is the first of its process
/// namespace and alone in its mount namespace, in which it may mount.
pub(super) fn enter(view: &SandboxView, uid: u32, gid: u32) -> MakeResult<()> {
    // Nothing that is mounted from here on shows outside.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(cannot("take the host's mounts to itself from", "/"))?;
    let before = umask(Mode::WGRP | Mode::WOTH);
    let sources = Sources::open(view)?;
    let stage = Tree::begin()?;
    stage.fill(view, sources, uid, gid)?;
    stage.become_root()?;
    umask(before);
    Ok(())
}

/// A file or directory of the host, cut out of its tree with all that is mounted below it.
struct Cutting {
    target: PathBuf,
    is_directory: bool,
    tree: OwnedFd,
}

impl Cutting {
    fn of(source: &Path, target: &Path, rights: MountRights) -> io::Result<Self> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let tree = open_tree(CWD, source, flags)?;
        let is_directory = FileType::from_raw_mode(fstat(&tree)?.st_mode) == FileType::Directory;
        system::restrict_mounts(&tree, rights)?;
        Ok(Self { target: target.to_owned(), is_directory, tree })
    }
}

/// The host's files that the view shows.
#[derive(Default)]
struct Sources {
    links: Vec<(&'static str, PathBuf)>,
    system: Vec<Cutting>,
    copies: Vec<(&'static str, Vec<u8>)>,
    devices: Vec<Cutting>,
    granted: Vec<Cutting>,
}

impl Sources {
    fn open(view: &SandboxView) -> MakeResult<Self> {
        let mut found = Self::default();
        for path in SYSTEM {
            match fs::symlink_metadata(path) {
                Ok(about) if about.is_symlink() => {
                    found.links.push((path, fs::read_link(path).map_err(cannot("follow", path))?));
                }
                Ok(_) => found.system.push(shown(path, MountRights::READ)?),
                Err(_) => {}
            }
        }
        for path in DIRECTORIES_OF_SETTINGS {
            if Path::new(path).exists() {
                found.system.push(shown(path, MountRights::READ)?);
            }
        }
        // A copy costs a tenth of a mount.
        found.copies = SETTINGS.iter().filter_map(|path| Some((*path, fs::read(path).ok()?))).collect();
        for path in DEVICES {
            found.devices.push(shown(path, MountRights::DEVICE)?);
        }
        let readable = view.readable.iter().map(|bind| (bind, MountRights::READ));
        for ((source, target), rights) in readable.chain(view.writable.iter().map(|bind| (bind, MountRights::WRITE))) {
            let (source, target) = (path_of(source), path_of(target));
            found.granted.push(Cutting::of(source, target, rights).map_err(cannot("show", source))?);
        }
        Ok(found)
    }
}

fn shown(path: &str, rights: MountRights) -> MakeResult<Cutting> {
    Cutting::of(path.as_ref(), path.as_ref(), rights).map_err(cannot("show", path))
}

/// The new tree while it is made, by its root. No path of it is ever resolved against the
/// host's files: a child of before may have left links in the directories that it shows.
struct Tree {
    root: OwnedFd,
}

impl Tree {
    fn begin() -> MakeResult<Self> {
        let mounted = file_system("tmpfs", &[("mode", "755")], MountAttrFlags::MOUNT_ATTR_NODEV);
        let root = mounted.map_err(cannot("make", "a root directory"))?;
        let stage = cannot("cover", STAGE);
        move_mount(&root, "", CWD, STAGE, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(stage)?;
        Ok(Self { root })
    }

    fn fill(&self, view: &SandboxView, sources: Sources, uid: u32, gid: u32) -> MakeResult<()> {
        for (path, target) in sources.links {
            self.link(path, &target)?;
        }
        for cutting in &sources.system {
            self.attach(cutting)?;
        }
        for (path, contents) in sources.copies {
            self.write(path, &contents)?;
        }
        for (path, contents) in users::FILES.into_iter().zip(users::names(uid, gid, path_of(&view.home))) {
            self.write(path, &contents)?;
        }
        self.mount("/proc", "proc", &[], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        for path in SETTINGS_OF_THE_KERNEL {
            self.freeze(path)?;
        }
        self.mount("/dev", "tmpfs", &[("mode", "755"), ("size", "65536")], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        for device in &sources.devices {
            self.attach(device)?;
        }
        for (path, target) in LINKS {
            self.link(path, target.as_ref())?;
        }
        self.mount("/dev/pts", "devpts", &[("ptmxmode", "666"), ("mode", "620")], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        let (uid, gid) = (uid.to_string(), gid.to_string());
        for path in TEMPORARY {
            let options = [("mode", "755"), ("size", TEMPORARY_BYTES), ("uid", &uid), ("gid", &gid)];
            self.mount(path, "tmpfs", &options, MountAttrFlags::MOUNT_ATTR_NODEV)?;
        }
        for cutting in &sources.granted {
            self.attach(cutting)?;
        }
        // The directories that hold the mounts are memory of the machine, too.
        for path in ["/dev", "/"] {
            let place = self.find(path).map_err(cannot("find", path))?;
            system::restrict_mount(&place, MountRights::FROZEN).map_err(cannot("close", path))?;
        }
        Ok(())
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
        self.attach(&Cutting { target: path.into(), is_directory: true, tree })
    }

    fn attach(&self, cutting: &Cutting) -> MakeResult<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        let attached = self
            .place(&cutting.target, cutting.is_directory)
            .and_then(|place| Ok(move_mount(&cutting.tree, "", &place, "", flags)?));
        attached.map_err(cannot("show something as", &cutting.target))
    }

    /// Shows a file or directory as it is, for reading alone.
    fn freeze(&self, path: &str) -> MakeResult<()> {
        let place = match self.find(path) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot("find", path)(error)),
        };
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        let frozen = open_tree(&place, "", flags).map_err(io::Error::from).and_then(|tree| {
            system::restrict_mounts(&tree, MountRights::READ)?;
            let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
            Ok(move_mount(&tree, "", &place, "", flags)?)
        });
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

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
