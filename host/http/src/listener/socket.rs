//! A socket in the file system, for clients of the same user.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::{
        fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::UnixStream as BlockingStream,
    },
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

/// The length of the random part of a name.
const NAME_BYTES: usize = 8;

/// A socket that is there while this is.
pub(crate) struct SocketListener {
    listener: UnixListener,
    /// The file that this made.
    file: Option<SocketFile>,
}

struct SocketFile {
    path: PathBuf,
    /// Device and number: another one of this name is not ours to remove.
    identity: (u64, u64),
}

impl SocketListener {
    /// Makes a socket at `path`, of mode 0600. One that is there already is
    /// replaced where nobody answers it.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        refuse_what_is_used(path)?;
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        // It appears at its place with its permissions: until then, nobody
        // else reaches what is below this directory.
        let hidden = parent.join(name()?);
        DirBuilder::new().mode(0o700).create(&hidden)?;
        let bound = Self::bind_below(&hidden, path);
        if let Err(error) = fs::remove_dir_all(&hidden) {
            tracing::debug!(%error, "a directory could not be removed");
        }
        bound
    }

    fn bind_below(hidden: &Path, path: &Path) -> io::Result<Self> {
        let made = hidden.join("s");
        let listener = UnixListener::bind(&made)?;
        fs::set_permissions(&made, Permissions::from_mode(0o600))?;
        fs::rename(&made, path)?;
        let file = identity(path).map(|identity| SocketFile { path: path.to_owned(), identity });
        Ok(Self { listener, file })
    }

    /// A socket whose file, if it has one, belongs to the program that made it.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_another_program(listener: UnixListener) -> Self {
        Self { listener, file: None }
    }

    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        if let Some(SocketFile { path, identity: made }) = &self.file
            && identity(path) == Some(*made)
        {
            let _ = fs::remove_file(path);
        }
    }
}

fn refuse_what_is_used(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(file) if !file.file_type().is_socket() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "something that is no socket is there"))
        }
        Ok(_) => match BlockingStream::connect(path) {
            // The program that made it has gone.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another program answers there")),
        },
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn name() -> io::Result<OsString> {
    let mut bytes = [0; NAME_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!(".wharf-{:016x}", u64::from_be_bytes(bytes)).into())
}
