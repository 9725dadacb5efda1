//! Reads regular files and nothing else, so that no read waits: a pipe blocks until its
//! other end is opened, and a device may never end.
//!
//! Knows nothing of what a file is for.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// What to do with a link.
#[derive(Debug, Clone, Copy)]
enum Links {
    Followed,
    Refused,
}

/// Opens a regular file, also one that a link leads to.
///
/// # Errors
/// Where it cannot be opened, and of kind `InvalidInput` where it is something else.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, Links::Followed)
}

/// The same of the very file that has this name: a link is refused.
///
/// # Errors
/// As [`open`].
pub fn open_itself(path: &Path) -> io::Result<File> {
    open_with(path, Links::Refused)
}

/// Unix opens without waiting for the other end of a pipe.
#[cfg(unix)]
fn open_with(path: &Path, links: Links) -> io::Result<File> {
    use rustix::{
        fs::{Mode, OFlags},
        io::Errno,
    };

    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, matches!(links, Links::Refused));
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => regular(file.into()),
        // A socket.
        Err(Errno::NXIO) => Err(foreign()),
        Err(error) => Err(error.into()),
    }
}

/// Windows opens a link itself where that is asked for; it is no regular file then.
#[cfg(windows)]
fn open_with(path: &Path, links: Links) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// `FILE_FLAG_OPEN_REPARSE_POINT`
    const LINK_ITSELF: u32 = 0x0020_0000;
    let flags = if matches!(links, Links::Refused) { LINK_ITSELF } else { 0 };
    regular(File::options().read(true).custom_flags(flags).open(path)?)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(foreign()) }
}

fn foreign() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")
}

/// What a regular file has, at most one byte more than `limit`.
///
/// # Errors
/// As [`open`], and where it cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, limit)
}

/// What an open file has, at most one byte more than `limit`.
///
/// # Errors
/// Where it cannot be read.
pub fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nobody_is_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("file"), "text").expect("written");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("linked");
        assert_eq!(read(&at("file"), 3).expect("a file"), b"text", "one byte more than the limit");
        assert_eq!(read(&at("link"), 9).expect("a link to a file"), b"text");
        assert!(open_itself(&at("link")).is_err());
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo");
        assert!(made.success());
        let _socket = UnixListener::bind(at("socket")).expect("bound");
        std::os::unix::fs::symlink(at("pipe"), at("to-pipe")).expect("linked");
        let device = Path::new("/dev/zero").to_owned();
        for path in [at("pipe"), at("to-pipe"), at("socket"), directory.path().to_owned(), device] {
            let error = open(&path).expect_err("no file");
            assert!(error.to_string().contains("no regular file"), "{}: {error}", path.display());
        }
        assert_eq!(open(&at("none")).expect_err("absent").kind(), io::ErrorKind::NotFound);
    }
}
