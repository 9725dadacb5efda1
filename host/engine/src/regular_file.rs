//! Opens a file of the host's own by its name, without waiting for anybody and without
//! following a link.

use std::{
    fs::File,
    io::{self, ErrorKind},
    path::Path,
};

/// Opens a file: `InvalidData` where the name stands for a link, a directory, a pipe or a
/// device.
#[cfg(unix)]
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    use rustix::{
        fs::{Mode, OFlags},
        io::Errno,
    };

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => regular(file.into()),
        Err(Errno::LOOP | Errno::NXIO) => Err(foreign()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a file: `InvalidData` where the name stands for a link, which is opened itself, or
/// a directory.
#[cfg(windows)]
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// `FILE_FLAG_OPEN_REPARSE_POINT`
    const LINK_ITSELF: u32 = 0x0020_0000;
    regular(File::options().read(true).custom_flags(LINK_ITSELF).open(path)?)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(foreign()) }
}

fn foreign() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is no regular file")
}
