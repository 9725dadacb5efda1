//! Paths as they enter: absolute from there on, since a process, a terminal or a
//! later command runs in another directory than the command that named them.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a relative path says nothing: the current directory is gone.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` is relative, and the current directory cannot be found; name an absolute path")]
pub struct NoDirectory {
    /// What was named.
    path: PathBuf,
    source: io::Error,
}

/// A path that names the same file from everywhere. Links stay, and nothing has to
/// be there.
///
/// # Errors
/// Where the current directory is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, NoDirectory> {
    // `std::path::absolute` refuses the empty path, which stands for the current directory.
    let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    std::path::absolute(named).map_err(|source| NoDirectory { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_current_directory_and_an_absolute_one_stays() {
        let here = std::env::current_dir().expect("a directory");
        for (path, expected) in
            [("", here.clone()), (".", here.clone()), ("a/b", here.join("a/b")), ("/x", "/x".into())]
        {
            assert_eq!(absolute(Path::new(path)).expect("a path"), expected, "{path}");
        }
    }
}
