//! Hostile trees on a real disk, for Linux's own steps and for those of the other systems.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, symlink},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use rustix::fs::{CWD, FileType, Mode};

use super::{
    system::{elsewhere::CapabilityFiles, linux::LinuxFiles},
    *,
};

/// Runs each of the tests for both ways.
macro_rules! both_ways {
    ($($test:ident)*) => {
        mod linux {
            $(#[test] fn $test() { super::$test::<super::LinuxFiles>(); })*
        }
        mod elsewhere {
            $(#[test] fn $test() { super::$test::<super::CapabilityFiles>(); })*
        }
    };
}

both_ways! {
    no_path_and_no_link_leads_out
    links_that_stay_inside_are_followed_if_they_may_be
    a_fifo_is_refused_at_once_and_nobody_waits_for_its_other_end
    files_are_made_read_and_cut_as_asked
    what_is_made_belongs_to_the_owner_of_the_directory
    a_directory_that_is_swapped_for_a_link_meanwhile_never_leads_out
    a_file_that_takes_the_place_of_another_keeps_its_permissions
    no_rename_leads_out_or_takes_something_in
    a_change_says_what_it_made_and_what_it_freed
    links_are_made_to_relative_paths_and_below_the_directory
}

const READ: OpenRequest = OpenRequest {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
    follow: true,
};
const CREATE: OpenRequest = OpenRequest { write: true, create: true, ..READ };

fn tree<S: FileSystem>() -> (tempfile::TempDir, File) {
    let top = tempfile::tempdir().expect("a directory");
    fs::write(top.path().join("secret"), "secret").expect("writes");
    fs::create_dir(top.path().join("inside")).expect("makes");
    fs::write(top.path().join("inside/file"), "text").expect("writes");
    let inside = S::root(&top.path().join("inside")).expect("opens");
    (top, inside)
}

fn text(opened: io::Result<(OpenedEntry, SpaceChange)>) -> String {
    let Ok((OpenedEntry::File(mut file), _)) = opened else { panic!("no file: {opened:?}") };
    let mut text = String::new();
    file.read_to_string(&mut text).expect("reads");
    text
}

fn no_path_and_no_link_leads_out<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    let at = |name: &str| top.path().join("inside").join(name);
    symlink("../secret", at("out")).expect("links");
    symlink("/etc/passwd", at("absolute")).expect("links");
    symlink("..", at("up")).expect("links");
    symlink("/proc/self/root", at("magic")).expect("links");
    for path in ["../secret", "out", "absolute", "up/secret", "magic/etc/passwd", "/etc/passwd", "a/../../secret", ".."]
    {
        let error = open::<S>(&inside, Path::new(path), READ).expect_err(path);
        assert!(matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound), "{path}: {error}");
        assert!(open::<S>(&inside, Path::new(path), CREATE).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(top.path().join("secret")).expect("reads"), "secret");
    for path in ["../made", "up/made", "..", "/tmp", ".", "/"] {
        assert!(make_directory::<S>(&inside, Path::new(path)).is_err(), "{path}");
    }
    assert!(!top.path().join("made").exists());
}

fn links_that_stay_inside_are_followed_if_they_may_be<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    symlink("file", top.path().join("inside/link")).expect("links");
    assert_eq!(text(open::<S>(&inside, Path::new("link"), READ)), "text");
    assert!(open::<S>(&inside, Path::new("link"), OpenRequest { follow: false, ..READ }).is_err());
}

fn a_fifo_is_refused_at_once_and_nobody_waits_for_its_other_end<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    rustix::fs::mknodat(CWD, top.path().join("inside/fifo"), FileType::Fifo, Mode::from_raw_mode(0o666), 0)
        .expect("makes");
    for opening in [READ, CREATE, OpenRequest { write: true, read: true, ..READ }] {
        let error = open::<S>(&inside, Path::new("fifo"), opening).expect_err("no file");
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{opening:?}");
    }
    let _listener = std::os::unix::net::UnixListener::bind(top.path().join("inside/socket")).expect("binds");
    assert!(open::<S>(&inside, Path::new("socket"), READ).is_err());
}

fn files_are_made_read_and_cut_as_asked<S: FileSystem>() {
    let (_top, inside) = tree::<S>();
    let (OpenedEntry::File(mut made), _) = open::<S>(&inside, Path::new("new"), CREATE).expect("is made") else {
        panic!("a file")
    };
    made.write_all(b"0123456789").expect("writes");
    assert_eq!(text(open::<S>(&inside, Path::new("new"), READ)), "0123456789");
    let error = open::<S>(&inside, Path::new("new"), OpenRequest { exclusive: true, ..CREATE }).expect_err("is there");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    open::<S>(&inside, Path::new("new"), OpenRequest { truncate: true, ..CREATE }).expect("opens");
    assert_eq!(text(open::<S>(&inside, Path::new("new"), READ)), "");
    assert!(open::<S>(&inside, Path::new("file"), OpenRequest { directory: true, ..READ }).is_err());
    make_directory::<S>(&inside, Path::new("made")).expect("is made");
    assert!(make_directory::<S>(&inside, Path::new("made")).is_err(), "once");
    make_directory::<S>(&inside, Path::new("made/below")).expect("is made");
    assert!(matches!(open::<S>(&inside, Path::new("made/below"), READ), Ok((OpenedEntry::Directory(_), _))));
}

fn what_is_made_belongs_to_the_owner_of_the_directory<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(top.path().join("inside"), Some(1_900_000_000), Some(1_900_000_001)).expect("chowns");
    }
    let owner = inside.metadata().expect("is there");
    let (OpenedEntry::File(made), _) = open::<S>(&inside, Path::new("new"), CREATE).expect("is made") else {
        panic!("a file")
    };
    make_directory::<S>(&inside, Path::new("made")).expect("is made");
    for metadata in [made.metadata(), fs::metadata(top.path().join("inside/made"))] {
        let metadata = metadata.expect("is there");
        assert_eq!((metadata.uid(), metadata.gid()), (owner.uid(), owner.gid()));
    }
    // An old file keeps its owner.
    let before = fs::metadata(top.path().join("inside/file")).expect("is there");
    open::<S>(&inside, Path::new("file"), CREATE).expect("opens");
    let after = fs::metadata(top.path().join("inside/file")).expect("is there");
    assert_eq!((before.uid(), before.gid()), (after.uid(), after.gid()));
}

fn a_directory_that_is_swapped_for_a_link_meanwhile_never_leads_out<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    let (real, link) = (top.path().join("inside/real"), top.path().join("inside/link"));
    let swapped = top.path().join("inside/swapped");
    fs::create_dir(&real).expect("makes");
    fs::write(real.join("secret"), "mine").expect("writes");
    symlink(top.path(), &link).expect("links");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let _ = fs::rename(&real, &swapped);
                let _ = fs::rename(&swapped, &real);
                let _ = fs::rename(&link, &swapped);
                let _ = fs::rename(&swapped, &link);
            }
        });
        for _ in 0..3_000 {
            if let Ok((OpenedEntry::File(mut file), _)) = open::<S>(&inside, Path::new("swapped/secret"), READ) {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("reads");
                assert_eq!(text, "mine");
            }
        }
        done.store(true, Relaxed);
    });
}

fn a_file_that_takes_the_place_of_another_keeps_its_permissions<S: FileSystem>() {
    use std::os::unix::fs::PermissionsExt as _;
    let (top, inside) = tree::<S>();
    let at = |name: &str| top.path().join("inside").join(name);
    let mode = |name: &str| fs::metadata(at(name)).expect("is there").permissions().mode() & 0o7777;
    fs::write(at("script"), "old").expect("writes");
    fs::set_permissions(at("script"), fs::Permissions::from_mode(0o4750)).expect("sets");
    fs::write(at("new"), "new").expect("writes");
    rename::<S>(&inside, Path::new("new"), &inside, Path::new("script")).expect("renames");
    assert_eq!((fs::read_to_string(at("script")).expect("reads").as_str(), mode("script")), ("new", 0o750));
    // To a new name it goes as it is.
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).expect("sets");
    rename::<S>(&inside, Path::new("file"), &inside, Path::new("moved")).expect("renames");
    assert_eq!(mode("moved"), 0o640);
}

fn no_rename_leads_out_or_takes_something_in<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    symlink("..", top.path().join("inside/up")).expect("links");
    for (from, to) in [
        ("file", "../out"),
        ("file", "up/out"),
        ("../secret", "in"),
        ("up/secret", "in"),
        ("file", ".."),
        (".", "in"),
        ("file", "/tmp/wharf-out"),
    ] {
        assert!(rename::<S>(&inside, Path::new(from), &inside, Path::new(to)).is_err(), "{from} -> {to}");
    }
    assert_eq!(fs::read_to_string(top.path().join("secret")).expect("is there"), "secret");
    // A link is renamed, not what it leads to.
    rename::<S>(&inside, Path::new("up"), &inside, Path::new("link")).expect("renames");
    assert!(fs::symlink_metadata(top.path().join("inside/link")).expect("is there").is_symlink());
}

fn a_change_says_what_it_made_and_what_it_freed<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    let at = |name: &str| top.path().join("inside").join(name);
    let path = Path::new;
    fs::write(at("large"), vec![1; 100_000]).expect("writes");
    fs::write(at("small"), "x").expect("writes");
    let file = |name: &str| Some(S::facts(&File::open(at(name)).expect("opens")).expect("is there").number);
    let (_, made) = open::<S>(&inside, path("new"), CREATE).expect("is made");
    assert_eq!(made, SpaceChange { file: file("new"), made: 1, ..SpaceChange::default() });
    let (_, found) = open::<S>(&inside, path("new"), CREATE).expect("is there");
    assert_eq!(found, SpaceChange { file: file("new"), ..SpaceChange::default() });
    let directory = make_directory::<S>(&inside, path("directory")).expect("is made");
    assert_eq!(directory, SpaceChange { file: file("directory"), made: 1, ..SpaceChange::default() });
    let large = file("large");
    let replaced = rename::<S>(&inside, path("small"), &inside, path("large")).expect("replaces");
    assert!(replaced.gone == 1 && replaced.freed_bytes >= 100_000, "{replaced:?}");
    assert_eq!((replaced.file, replaced.moved), (large, true), "the file that was replaced");
    let renamed = rename::<S>(&inside, path("large"), &inside, path("other")).expect("renames");
    assert_eq!(renamed, SpaceChange { moved: true, ..SpaceChange::default() });
    fs::write(at("large"), vec![1; 100_000]).expect("writes");
    let (_, cut) = open::<S>(&inside, path("large"), OpenRequest { truncate: true, ..CREATE }).expect("cuts");
    assert!(cut.gone == 0 && cut.freed_bytes >= 100_000, "{cut:?}");
    fs::write(at("large"), vec![1; 100_000]).expect("writes");
    assert_eq!(link::<S>(&inside, path("large"), &inside, path("second")).expect("links").made, 1);
    let large = file("large");
    let one = unlink::<S>(&inside, path("large")).expect("removes");
    assert_eq!(one, SpaceChange { file: large, gone: 1, ..SpaceChange::default() }, "the file has another name");
    let last = unlink::<S>(&inside, path("second")).expect("removes");
    assert!(last.gone == 1 && last.freed_bytes >= 100_000, "{last:?}");
    assert!(unlink::<S>(&inside, path("../secret")).is_err() && unlink::<S>(&inside, path(".")).is_err());
}

fn links_are_made_to_relative_paths_and_below_the_directory<S: FileSystem>() {
    let (top, inside) = tree::<S>();
    let path = Path::new;
    symlink_at::<S>(&inside, "file", "link").expect("links");
    assert_eq!(text(open::<S>(&inside, path("link"), READ)), "text");
    for (target, name) in [("/etc/passwd", "absolute"), ("file", "../made"), ("file", "link")] {
        assert!(symlink_at::<S>(&inside, target, name).is_err(), "{target} {name}");
    }
    for (from, to) in [("../secret", "taken"), ("file", "../made")] {
        assert!(link::<S>(&inside, path(from), &inside, path(to)).is_err(), "{from} {to}");
    }
    assert!(!top.path().join("made").exists());
}

fn symlink_at<S: FileSystem>(directory: &File, target: &str, name: &str) -> io::Result<SpaceChange> {
    super::symlink::<S>(Path::new(target), directory, Path::new(name))
}
