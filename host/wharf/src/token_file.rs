//! The file with the token of a data directory, which is made where it is not there.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use wharf_core::Token;

use crate::secret::{random, read, read_token};

/// Reads the secret of a file, which is made where it is not there. Of hosts
/// that start at once, all read the same.
fn read_or_make(path: &Path) -> io::Result<String> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    writeln!(file, "{}", random()?)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.error),
    }
    read(path)
}

/// Reads the token that HTTP clients show from a file that nobody else may
/// read; makes a new one where the file is not there.
///
/// # Errors
/// Where it cannot be read or made, others may read it, or it holds no token.
pub fn read_or_make_token(path: &Path) -> io::Result<Token> {
    read_or_make(path)?;
    read_token(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::secret::same;

    #[test]
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
