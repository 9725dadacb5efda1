//! The same cases for Linux's own way to measure and remove, and for that of the other systems.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use super::{elsewhere, linux};
use crate::{
    DiskUsage,
    owners::{FileBirth, FileNumber},
};

/// What a measurement tells of each file.
type Told<'t> = &'t mut dyn FnMut(FileNumber, u64, Option<FileBirth>);

/// A way to measure a tree and to remove it.
struct Way {
    measure: fn(&Path, u64) -> io::Result<DiskUsage>,
    measure_below: fn(&File, u64, Told<'_>) -> io::Result<DiskUsage>,
    remove: fn(&Path) -> io::Result<()>,
}

const WAYS: [Way; 2] = [
    Way {
        measure: linux::measure,
        measure_below: |below, most, see| {
            linux::measure_below(below, most, |file, bytes, born| see(file, bytes, born()))
        },
        remove: linux::remove_tree,
    },
    Way {
        measure: elsewhere::measure,
        measure_below: |below, most, see| {
            elsewhere::measure_below(below, most, |file, bytes, born| see(file, bytes, born()))
        },
        remove: elsewhere::remove_tree,
    },
];

/// A tree with links to a victim beside it.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let (tree, victim) = (directory.path().join("tree"), directory.path().join("victim"));
    fs::create_dir_all(tree.join("inner/below")).expect("makes");
    fs::create_dir(&victim).expect("makes");
    fs::write(victim.join("kept"), vec![1; 1 << 20]).expect("writes");
    fs::write(tree.join("inner/file"), vec![1; 100_000]).expect("writes");
    for link in ["link", "inner/link"] {
        symlink(&victim, tree.join(link)).expect("links");
    }
    symlink("nowhere", tree.join("inner/below/dangling")).expect("links");
    directory
}

#[test]
fn a_tree_is_measured_without_what_its_links_lead_to() {
    for way in WAYS {
        let directory = tree();
        let usage = (way.measure)(&directory.path().join("tree"), 100).expect("measures");
        assert_eq!((usage.entries, usage.incomplete), (6, false));
        assert!((100_000..200_000).contains(&usage.bytes), "{usage:?}");
        let open = File::open(directory.path().join("tree")).expect("opens");
        assert_eq!((way.measure_below)(&open, 100, &mut |_, _, _| {}).expect("measures"), usage);
        let usage = (way.measure)(&directory.path().join("tree"), 3).expect("measures");
        assert_eq!((usage.entries, usage.incomplete), (4, true));
        let link = directory.path().join("tree/link");
        (way.measure)(&link, 100).expect_err("a link is no tree");
    }
}

#[test]
fn both_ways_tell_the_same_of_each_file() {
    let directory = tree();
    let open = File::open(directory.path().join("tree")).expect("opens");
    let told = WAYS.map(|way| {
        let mut told = Vec::new();
        let see = &mut |file: FileNumber, bytes, born: Option<FileBirth>| {
            told.push((file.device, file.inode, bytes, born.map(|FileBirth(seconds, nanos)| (seconds, nanos))));
        };
        (way.measure_below)(&open, 100, see).expect("measures");
        told.sort_unstable();
        told
    });
    assert_eq!(told[0].len(), 6);
    assert_eq!(told[0], told[1]);
}

#[test]
fn a_file_with_holes_counts_by_what_it_takes() {
    for way in WAYS {
        let directory = tempfile::tempdir().expect("a directory");
        File::create(directory.path().join("holes")).and_then(|file| file.set_len(1 << 30)).expect("makes");
        let usage = (way.measure)(directory.path(), 100).expect("measures");
        assert!(usage.entries == 1 && usage.bytes < 1 << 20, "{usage:?}");
    }
}

#[test]
fn directories_nested_too_deep_count_as_too_many_entries_and_are_removed() {
    for way in WAYS {
        let directory = tempfile::tempdir().expect("a directory");
        let tree = directory.path().join("tree");
        fs::create_dir_all(tree.join("d/".repeat(300))).expect("makes");
        let usage = (way.measure)(&tree, 1_000).expect("measures");
        assert_eq!((usage.entries, usage.incomplete), (1_001, true));
        (way.remove)(&tree).expect("removes");
        assert!(!tree.exists());
    }
}

#[test]
fn a_removed_tree_takes_nothing_along_that_its_links_lead_to() {
    for way in WAYS {
        let directory = tree();
        let tree = directory.path().join("tree");
        (way.remove)(&tree.join("link")).expect_err("a link is no tree");
        (way.remove)(&tree).expect("removes");
        assert!(!tree.exists());
        assert_eq!(fs::read(directory.path().join("victim/kept")).expect("is there").len(), 1 << 20);
    }
}

#[test]
fn directories_that_are_closed_to_their_owner_are_removed() {
    for way in WAYS {
        let directory = tree();
        let tree = directory.path().join("tree");
        for closed in ["inner/below", "inner"] {
            fs::set_permissions(tree.join(closed), fs::Permissions::from_mode(0o000)).expect("sets");
        }
        (way.remove)(&tree).expect("removes");
        assert!(!tree.exists());
    }
}
