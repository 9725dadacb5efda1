//! Secrets that the host makes for itself: files that nobody but its user may
//! read.
//!
//! What was read zeroes itself when it is let go of. Knows nothing of what a secret opens.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    path::Path,
};

use wharf_core::{Token, text::for_shell};
use wharf_files::{private_files, regular_file};
use zeroize::Zeroizing;

/// The shortest text that is taken for a secret.
const SHORTEST_BYTES: usize = 32;
/// What is read of a file that should hold one.
const MAX_TEXT_BYTES: u64 = 4096;

/// A new secret: 64 hexadecimal digits.
pub(crate) fn random() -> io::Result<Zeroizing<String>> {
    Token::generate().map(Zeroizing::new)
}

/// Reads a token from a file that nobody else may read.
pub(crate) fn read_token(path: &Path) -> io::Result<Token> {
    Token::new(&read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens a regular file that nobody else may read, or any where the operator allows it.
pub(crate) fn open(path: &Path, allow_unprotected: bool) -> io::Result<File> {
    if allow_unprotected { regular_file::open(path) } else { open_private(path) }
}

/// Reads so much of a regular file that nobody else may read, or of any where the operator allows it.
pub(crate) fn read_bytes(path: &Path, allow_unprotected: bool, limit: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = open(path, allow_unprotected)?;
    // Room for all of it: what grows leaves a copy where it was.
    let room = file.metadata()?.len().min(limit) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(room).unwrap_or(0)));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file that nobody else may read.
fn open_private(path: &Path) -> io::Result<File> {
    let file = regular_file::open(path)?;
    match private_files::is_private(&file.metadata()?) {
        Some(true) => Ok(file),
        Some(false) => {
            let path = for_shell(&path.display().to_string());
            let problem = format!("others may read it; take that away with `chmod 600 {path}`");
            Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
        }
        None => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "secrets are read from files of Unix only: this system does not say who else may read them",
        )),
    }
}

/// Reads the secret of a file that nobody else may read.
pub(crate) fn read(path: &Path) -> io::Result<Zeroizing<String>> {
    read_allowed(path, false)
}

/// The same; where the operator allows it, of a file that others may read.
pub(crate) fn read_allowed(path: &Path, allow_unprotected: bool) -> io::Result<Zeroizing<String>> {
    let bytes = read_bytes(path, allow_unprotected, MAX_TEXT_BYTES)?;
    let secret = std::str::from_utf8(&bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?.trim();
    if secret.len() < SHORTEST_BYTES || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        let problem = format!("it must hold one word of at least {SHORTEST_BYTES} visible ASCII characters");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(Zeroizing::new(secret.to_owned()))
}

/// Reads the secret of a file, which is made where it is not there. Of hosts
/// that start at once, all read the same.
#[cfg(any(feature = "http", feature = "postgres"))]
pub(crate) fn read_or_make(path: &Path) -> io::Result<Zeroizing<String>> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    writeln!(file, "{}", *random()?)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.error),
    }
    read(path)
}

/// Writes a new secret into a file that is not there yet.
pub(crate) fn make(path: &Path) -> io::Result<Zeroizing<String>> {
    let secret = random()?;
    let mut file = private_files::options().write(true).create_new(true).open(path)?;
    writeln!(file, "{}", *secret)?;
    Ok(secret)
}

/// Whether two texts are the same, in a time that does not tell where they
/// differ.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |differing, (one, other)| differing | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn a_secret_that_others_may_read_or_that_is_none_is_refused_with_what_to_do() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("secret");
        make(&path).expect("made");
        assert!(make(&path).is_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        assert!(read(&path).expect_err("open to the group").to_string().contains("chmod 600"));
        fs::write(&path, "short").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("changed");
        assert!(read(&path).expect_err("short").to_string().contains("at least 32"));
    }

    #[test]
    #[cfg(any(feature = "http", feature = "postgres"))]
    fn a_secret_is_made_once_and_is_nobody_elses_to_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("new/secret");
        let made = read_or_make(&path).expect("made");
        assert_eq!(made.len(), 64);
        assert_eq!(read_or_make(&path).expect("read"), made);
        assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
        assert_ne!(random().expect("random"), made);
        assert!(same(&made, &made) && !same(&made, &made[1..]) && !same("ab", "ac"));
    }
}
