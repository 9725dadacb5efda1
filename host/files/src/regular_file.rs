//! Opens regular files and nothing else, so that no open or read waits: a pipe blocks until
//! its other end is opened, and a device may never end.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

/// What to do with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

/// Opens a regular file to read it, also one that a link leads to.
///
/// # Errors
/// Where it cannot be opened, and of kind `InvalidInput` where it is something else.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(File::options().read(true), path, Links::Followed)
}

/// The same of the very file that has this name: a link is refused.
///
/// # Errors
/// As [`open`]; a link is something else.
pub fn open_itself(path: &Path) -> io::Result<File> {
    open_with(File::options().read(true), path, Links::Refused)
}

/// The same as [`open_itself`], to read the file and to write at its end.
///
/// # Errors
/// As [`open_itself`].
pub fn open_itself_to_append(path: &Path) -> io::Result<File> {
    open_with(File::options().read(true).append(true), path, Links::Refused)
}

/// Unix opens without waiting for the other end of a pipe.
#[cfg(unix)]
fn open_with(options: &mut OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::{fs::OFlags, io::Errno};

    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, links == Links::Refused);
    match options.custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => regular(file),
        Err(error) => match Errno::from_io_error(&error) {
            // A socket.
            Some(Errno::NXIO) => Err(foreign()),
            // The link itself.
            Some(Errno::LOOP) if links == Links::Refused => Err(foreign()),
            _ => Err(error),
        },
    }
}

/// Windows opens a link itself where that is asked for; it is no regular file then.
#[cfg(windows)]
fn open_with(options: &mut OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// `FILE_FLAG_OPEN_REPARSE_POINT`
    const LINK_ITSELF: u32 = 0x0020_0000;
    let flags = if links == Links::Refused { LINK_ITSELF } else { 0 };
    regular(options.custom_flags(flags).open(path)?)
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

/// Whether an open file still has a name.
#[cfg(unix)]
#[must_use]
pub fn has_name(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 0
}

/// Whether an open file still has a name, which this system does not say: it keeps the name
/// of a file that is open.
#[cfg(not(unix))]
#[must_use]
pub fn has_name(_: &Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, io::Write as _, os::unix::net::UnixListener};

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nobody_is_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "text").expect("written");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("linked");
        assert_eq!(read(&at("file"), 3).expect("a file"), b"text", "one byte more than the limit");
        assert_eq!(read(&at("link"), 9).expect("a link to a file"), b"text");
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
        for path in [at("link"), at("pipe"), at("to-pipe"), at("socket")] {
            for open in [open_itself, open_itself_to_append] {
                let error = open(&path).expect_err("no file of this name");
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}: {error}", path.display());
            }
        }
    }

    #[test]
    fn a_file_is_written_at_its_end_and_is_known_to_be_gone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lines");
        fs::write(&path, "one\n").expect("written");
        let mut file = open_itself_to_append(&path).expect("opened");
        file.write_all(b"two\n").expect("written");
        assert_eq!(read_all(open_itself(&path).expect("opened"), 99).expect("read"), b"one\ntwo\n");
        assert!(has_name(&file.metadata().expect("open")));
        fs::remove_file(&path).expect("removed");
        assert!(!has_name(&file.metadata().expect("open")));
    }
}
