//! Shows another user files behind directories that are closed to it.
//!
//! The host keeps workspaces below directories of its own, and the user that
//! mounts one must reach it. So the root, which reaches all, mounts them where
//! every user can, in a mount namespace of the new sandbox alone.

use std::{ffi::OsStr, fs, io, os::unix::ffi::OsStrExt as _, path::Path};

use rustix::{
    fs::CWD,
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
    },
    thread::UnshareFlags,
};

use super::system;
use crate::wire::STAGE;

/// Mounts each of these paths below [`STAGE`], under its number.
pub(super) fn show(sources: &[Vec<u8>]) -> io::Result<()> {
    if sources.is_empty() {
        return Ok(());
    }
    system::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let paths = sources.iter().map(|source| Path::new(OsStr::from_bytes(source)));
    // Before the stage hides the files below it.
    let open = |path: &Path| Ok((fs::metadata(path)?.is_dir(), open_tree(CWD, path, flags)?));
    let trees = paths.map(open).collect::<io::Result<Vec<_>>>()?;
    mount("wharf", STAGE, "tmpfs", MountFlags::NODEV | MountFlags::NOSUID, c"mode=755,size=1m")?;
    for (number, (is_directory, tree)) in trees.iter().enumerate() {
        let target = Path::new(STAGE).join(number.to_string());
        if *is_directory {
            fs::create_dir(&target)?;
        } else {
            fs::File::create(&target)?;
        }
        move_mount(tree, "", CWD, &target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}
