//! What a command writes where `--output` says: beside a regular file and in its place
//! once it is whole, and directly into anything else, such as a device or a pipe.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;

use tempfile::NamedTempFile;

/// Where something is written.
pub(crate) enum OutputFile {
    /// To a file that appears once it is whole, readable by its owner alone.
    File {
        /// Its name, links resolved.
        path: PathBuf,
        new: BufWriter<Unfinished>,
        /// Whether a file of this name may be there.
        replaces: bool,
    },
    /// Into something that is no regular file, as it comes.
    Other(BufWriter<File>),
}

impl OutputFile {
    /// Opens it. A file that exists stays as it is until [`OutputFile::finish`].
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                // A pipe is waited for, as a shell does with `>`.
                Ok(Self::Other(BufWriter::new(OpenOptions::new().write(true).open(path)?)))
            }
            // A link stays one: what it leads to is replaced.
            Ok(_) => Self::beside(fs::canonicalize(path)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::beside(path.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// The same, and refuses a regular file that is there, now and at the end.
    pub(crate) fn open_new(path: &Path) -> io::Result<Self> {
        match Self::open(path)? {
            Self::File { .. } if fs::symlink_metadata(path).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Self::File { path, new, .. } => Ok(Self::File { path, new, replaces: false }),
            other => Ok(other),
        }
    }

    fn beside(path: PathBuf) -> io::Result<Self> {
        let new = BufWriter::new(Unfinished::below(directory_of(&path))?);
        Ok(Self::File { path, new, replaces: true })
    }

    /// Ends it: a file takes its place.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Other(mut other) => other.flush(),
            Self::File { path, new, replaces } => {
                let file = new.into_inner().map_err(io::IntoInnerError::into_error)?;
                let file = file.named(directory_of(&path))?;
                // It may have become something else meanwhile.
                if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is no regular file any more"));
                }
                let persisted = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
                persisted.map_err(|error| error.error)?;
                // The name is durable once its directory is.
                #[cfg(unix)]
                File::open(directory_of(&path))?.sync_all()?;
                Ok(())
            }
        }
    }
}

/// A file in the making, readable by its owner alone from the beginning, and gone if this is dropped.
pub(crate) enum Unfinished {
    /// Without a name: it is gone also where the process is killed.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// Where the file system has no such files.
    Named(NamedTempFile),
}

impl Unfinished {
    #[cfg(target_os = "linux")]
    fn below(directory: &Path) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags, open};
        let nameless = open(directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
        match nameless {
            Ok(file) => Ok(Self::Nameless(file.into())),
            // Each file system says it in its own way.
            Err(_) => NamedTempFile::new_in(directory).map(Self::Named),
        }
    }

    fn as_file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn below(directory: &Path) -> io::Result<Self> {
        NamedTempFile::new_in(directory).map(Self::Named)
    }

    /// The same with a name in this directory, from which it can be moved. It is on the disk before it has one.
    fn named(self, directory: &Path) -> io::Result<NamedTempFile> {
        self.as_file().sync_all()?;
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => tempfile::Builder::new().make_in(directory, |name| {
                use rustix::fs::{AtFlags, CWD, linkat};
                // By its own right: a link by an empty path takes a capability.
                linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), CWD, name, AtFlags::SYMLINK_FOLLOW)?;
                file.try_clone()
            }),
            Self::Named(file) => Ok(file),
        }
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_file().flush()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { new, .. } => new.write(bytes),
            Self::Other(other) => other.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { new, .. } => new.flush(),
            Self::Other(other) => other.flush(),
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut output = OutputFile::open(path)?;
        output.write_all(text.as_bytes())?;
        output.finish()
    }

    #[test]
    fn a_file_is_replaced_whole_and_a_link_to_it_stays_a_link() {
        let directory = tempfile::tempdir().expect("a directory");
        let [new, old, link] = ["new", "old", "link"].map(|name| directory.path().join(name));
        fs::write(&old, "before").expect("written");
        symlink(&old, &link).expect("linked");
        write(&new, "made").expect("written");
        assert_eq!(fs::read_to_string(&new).expect("read"), "made");
        assert_eq!(fs::metadata(&new).expect("there").permissions().mode() & 0o777, 0o600);
        let mut half = OutputFile::open(&link).expect("opens");
        half.write_all(b"half").expect("written");
        drop(half);
        assert_eq!(fs::read_to_string(&old).expect("read"), "before", "what was not finished is not there");
        write(&link, "after").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&old).expect("read"), "after");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 3, "nothing else is left");
    }

    #[test]
    fn a_new_file_takes_no_other_ones_place() {
        let directory = tempfile::tempdir().expect("a directory");
        let [new, there] = ["new", "there"].map(|name| directory.path().join(name));
        fs::write(&there, "before").expect("written");
        let refused = OutputFile::open_new(&there).err().expect("refused");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        let mut output = OutputFile::open_new(&new).expect("opens");
        output.write_all(b"ours").expect("written");
        fs::write(&new, "theirs").expect("another program is faster");
        assert_eq!(output.finish().expect_err("refused").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&new).expect("read"), "theirs");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 2, "nothing else is left");
        assert!(matches!(OutputFile::open_new(Path::new("/dev/null")).expect("opens"), OutputFile::Other(_)));
    }

    #[test]
    fn what_is_no_regular_file_is_written_into_and_stays_what_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let [pipe, link] = ["pipe", "link"].map(|name| directory.path().join(name));
        symlink("/dev/null", &link).expect("linked");
        write(&link, "nothing").expect("written");
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe");
        let reading = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe)
        });
        write(&pipe, "through").expect("written");
        assert_eq!(reading.join().expect("no panic").expect("read"), "through");
        assert!(fs::metadata(&pipe).expect("there").file_type().is_fifo());
        assert!(write(directory.path(), "no").is_err());
    }
}
