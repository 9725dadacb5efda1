//! Control groups, which limit a whole tree, where plain writes to files can
//! make them.
//!
//! In the unified hierarchy (version 2) they are below the host's own group, where that may
//! pass controllers on. In a hierarchy of one controller (version 1) the host uses only
//! its uppermost group: another program made any other group and
//! accounts for it. Knows nothing of requests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::wire::TreeBounds;

/// The groups below which the root can make others.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ControlGroups {
    /// The parent of groups that bound processes, and of those that bound memory.
    pids: Option<ParentGroup>,
    memory: Option<ParentGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ParentGroup {
    directory: PathBuf,
    unified: bool,
}

impl ControlGroups {
    /// The groups of this process, from the files of the system.
    pub(crate) fn find() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::among(&read("/proc/self/cgroup"), &read("/proc/self/mounts"))
    }

    fn among(groups: &str, mounts: &str) -> Self {
        let mut found = Self::default();
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
            let of_kind = |wanted: &str, option: Option<&str>| {
                mounts.lines().find_map(|line| {
                    let mut words = line.split(' ').skip(1);
                    let (place, kind, options) = (words.next()?, words.next()?, words.next()?);
                    let so =
                        kind == wanted && option.is_none_or(|option| options.split(',').any(|word| word == option));
                    so.then(|| PathBuf::from(place))
                })
            };
            if controllers.is_empty() {
                let Some(mount) = of_kind("cgroup2", None) else { continue };
                let directory = mount.join(group.trim_start_matches('/'));
                let given = fs::read_to_string(directory.join("cgroup.subtree_control")).unwrap_or_default();
                let parent = |controller| {
                    let usable = given.split_whitespace().any(|word| word == controller) && writable(&directory);
                    usable.then(|| ParentGroup { directory: directory.clone(), unified: true })
                };
                found.pids = parent("pids").or(found.pids.take());
                found.memory = parent("memory").or(found.memory.take());
            } else if group == "/" {
                for (name, kept) in [("pids", &mut found.pids), ("memory", &mut found.memory)] {
                    if kept.is_none() && controllers.split(',').any(|controller| controller == name) {
                        let directory = of_kind("cgroup", Some(name)).filter(|directory| writable(directory));
                        *kept = directory.map(|directory| ParentGroup { directory, unified: false });
                    }
                }
            }
        }
        found
    }

    pub(crate) fn bound_processes(&self) -> bool {
        self.pids.is_some()
    }

    pub(crate) fn bound_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Makes the groups for these bounds: none where this machine offers none.
    /// Removes all of them where one cannot be made.
    pub(super) fn make(&self, bounds: TreeBounds) -> io::Result<TreeGroups> {
        let mut made = TreeGroups::default();
        match self.fill(&mut made, bounds) {
            Ok(()) => Ok(made),
            Err(error) => {
                made.remove();
                Err(error)
            }
        }
    }

    fn fill(&self, made: &mut TreeGroups, bounds: TreeBounds) -> io::Result<()> {
        let processes = self.pids.as_ref().zip(bounds.processes).map(|(parent, bound)| (parent, "pids.max", bound));
        let memory = self.memory.as_ref().zip(bounds.memory_bytes).map(|(parent, bound)| {
            (parent, if parent.unified { "memory.max" } else { "memory.limit_in_bytes" }, bound)
        });
        for (parent, file, bound) in processes.into_iter().chain(memory) {
            let name = format!("wharf-{}-{}", std::process::id(), number());
            let shared = made.0.iter().find(|made| made.parent() == Some(&parent.directory)).cloned();
            let directory = match shared {
                Some(directory) => directory,
                None => {
                    let directory = parent.directory.join(name);
                    fs::create_dir(&directory)?;
                    made.0.push(directory.clone());
                    directory
                }
            };
            fs::write(directory.join(file), bound.to_string())?;
        }
        Ok(())
    }
}

fn number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Relaxed)
}

fn writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok() && !is_read_only(directory)
}

fn is_read_only(directory: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(directory).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// The groups of one tree.
#[derive(Debug, Default)]
pub(super) struct TreeGroups(Vec<PathBuf>);

impl TreeGroups {
    /// Puts this process, and so its descendants, into the groups.
    pub(super) fn enter(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|group| fs::write(group.join("cgroup.procs"), "0"))
    }

    /// Kills the processes that are left in the groups and removes the groups. False while
    /// a process of the tree is still ending.
    pub(super) fn remove(&mut self) -> bool {
        self.0.retain(|group| {
            let kill = group.join("cgroup.kill");
            // Only the unified hierarchy has this file; elsewhere the root of the
            // supervisors kills the rest of a tree.
            if kill.exists() {
                let _ = fs::write(kill, "1");
            }
            fs::remove_dir(group).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
        });
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that looks like a hierarchy, and its line among the system's mounts.
    fn hierarchy(given: &str) -> (tempfile::TempDir, String) {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("own")).expect("a group");
        fs::write(directory.path().join("own/cgroup.subtree_control"), given).expect("a file");
        let mount = format!("none {} cgroup2 rw,relatime 0 0\n", directory.path().display());
        (directory, mount)
    }

    #[test]
    fn a_group_of_the_unified_hierarchy_is_bounded_entered_and_removed() {
        let (directory, mounts) = hierarchy("cpu memory pids\n");
        let groups = ControlGroups::among("0::/own\n", &mounts);
        assert!(groups.bound_processes() && groups.bound_memory());
        let mut made = groups.make(TreeBounds { processes: Some(30), memory_bytes: Some(1 << 20) }).expect("a group");
        let [group] = &made.0[..] else { panic!("one group is enough: {made:?}") };
        assert!(group.starts_with(directory.path().join("own")));
        made.enter().expect("entered");
        let said = ["pids.max", "memory.max", "cgroup.procs"];
        let said = said.map(|file| fs::read_to_string(group.join(file)).expect("a file"));
        assert_eq!(said, ["30", "1048576", "0"]);
        let group = group.clone();
        for file in ["pids.max", "memory.max", "cgroup.procs"] {
            // The system's own files go with their directory.
            fs::remove_file(group.join(file)).expect("removed");
        }
        assert!(made.remove());
        assert!(!group.exists());
    }

    #[test]
    fn without_controllers_or_in_a_group_of_somebody_else_none_is_used() {
        let (_directory, mounts) = hierarchy("cpu\n");
        assert_eq!(ControlGroups::among("0::/own\n", &mounts), ControlGroups::default());
        let (directory, _) = hierarchy("");
        let mounts = format!("cgroup {} cgroup rw,pids 0 0\n", directory.path().display());
        assert_eq!(ControlGroups::among("4:pids:/own\n", &mounts), ControlGroups::default());
        assert!(ControlGroups::among("4:pids:/\n", &mounts).bound_processes());
        assert!(!ControlGroups::among("4:pids:/\n", &mounts).bound_memory());
    }
}
