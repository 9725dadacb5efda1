//! Whether nobody but root and this process's user can change what a path leads to.
//!
//! Looks at names and modes alone, and opens nothing.

use std::{io, path::Path};

/// Checks that others can neither change a file nor have its path lead to another one: each directory on the way, each
/// link and the file itself belong to root or to this user, and nobody else may write them. A directory whose entries
/// only their owners replace (`/tmp`) is as good.
///
/// # Errors
/// Of kind `PermissionDenied`, without a number of the system, with what others may change; `Unsupported` where the
/// system has no modes of files; what the system says where the path leads nowhere.
#[cfg(unix)]
pub fn check(path: &Path) -> io::Result<()> {
    use std::{
        collections::VecDeque,
        ffi::OsString,
        path::{Component, PathBuf},
    };

    /// Linux follows no more links than this.
    const MAX_LINKS: usize = 40;

    fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
        path.components().filter(|part| *part != Component::CurDir).map(|part| part.as_os_str().to_owned())
    }

    let mut left: VecDeque<OsString> = parts(path).collect();
    let (mut at, mut links) = (PathBuf::new(), 0);
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        // An absolute part begins anew.
        let next = at.join(&part);
        let about = next.symlink_metadata()?;
        if let Some(problem) = shared(&about) {
            let shown = next.display();
            let problem = format!("others could change {shown}: {problem}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        if about.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            let target = next.read_link()?;
            for part in parts(&target).rev() {
                left.push_front(part);
            }
        } else {
            at = next;
        }
    }
    Ok(())
}

/// The same, which this system does not say.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn check(_: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system does not say who else may write a file"))
}

/// Why others may change it, for people.
#[cfg(unix)]
fn shared(about: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    const OTHERS_WRITE: u32 = 0o022;
    const ONLY_OWNERS_REPLACE: u32 = 0o1000;
    let (owner, mode) = (about.uid(), about.mode());
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(format!("it belongs to user {owner}"));
    }
    // The mode of a link means nothing.
    let is_shared = !about.is_symlink() && mode & OTHERS_WRITE != 0;
    let is_guarded = about.is_dir() && mode & ONLY_OWNERS_REPLACE != 0;
    (is_shared && !is_guarded).then(|| format!("its mode is {:o}; take that away with `chmod go-w`", mode & 0o7777))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
    }

    fn problem(path: &Path) -> String {
        let error = check(path).expect_err("others may change it");
        assert_eq!((error.kind(), error.raw_os_error()), (io::ErrorKind::PermissionDenied, None));
        error.to_string()
    }

    #[test]
    fn a_file_is_unshared_where_nobody_else_writes_it_or_any_directory_or_link_on_the_way() {
        let root = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(root.path()).expect("a path");
        let (inner, other) = (root.join("inner"), root.join("other"));
        for directory in [&inner, &other] {
            fs::create_dir(directory).expect("made");
            mode(directory, 0o755);
        }
        let (file, link) = (inner.join("program"), other.join("link"));
        fs::write(&file, "").expect("written");
        mode(&file, 0o755);
        symlink("../inner/program", &link).expect("linked");
        symlink(&other, root.join("by")).expect("linked");
        let through = root.join("by/link");
        for path in [&file, &link, &through] {
            check(path).expect("nobody else writes it");
        }
        for bad in [0o775, 0o757] {
            mode(&file, bad);
            assert!(problem(&file).contains("chmod go-w"));
            assert!(problem(&through).contains("inner/program"));
        }
        mode(&file, 0o755);
        mode(&other, 0o777);
        check(&file).expect("it does not lie there");
        assert!(problem(&link).contains("other"), "the link could be replaced");
        assert!(problem(&through).contains("other"), "a link on the way leads there");
        mode(&other, 0o1777);
        check(&through).expect("only owners replace what is there");
        assert_eq!(check(&inner.join("nothing")).expect_err("not there").kind(), io::ErrorKind::NotFound);
        symlink("loop", inner.join("loop")).expect("linked");
        assert!(check(&inner.join("loop")).expect_err("endless").raw_os_error().is_some());
    }

    #[test]
    fn a_file_of_another_user_is_shared() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("program");
        fs::write(&file, "").expect("written");
        // Only root gives files away.
        if std::os::unix::fs::chown(&file, Some(4242), None).is_ok() {
            assert!(problem(&file).contains("user 4242"));
        }
    }
}
