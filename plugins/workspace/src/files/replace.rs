//! Files that appear whole: written beside their place under another name, and
//! put there by rename.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use wharf_sdk::ToolError;
use wharf_sdk::workspace::ResolvedPath;

const RANDOM_BYTES: usize = 8;
const BUFFER_BYTES: usize = 64 * 1024;

/// A file that is not at its place yet. Dropped before, it is gone.
struct UnplacedFile {
    path: PathBuf,
    file: File,
    is_placed: bool,
}

impl UnplacedFile {
    fn beside(place: &Path) -> Result<Self, io::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let random: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = place.with_file_name(format!(".wharf-{random}.partial"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self { path, file, is_placed: false })
    }

    fn place(mut self, place: &Path) -> Result<(), io::Error> {
        fs::rename(&self.path, place)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for UnplacedFile {
    fn drop(&mut self) {
        if !self.is_placed {
            // What cannot be removed either is one more file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the directories above a file.
pub(crate) fn make_parents(found: &ResolvedPath) -> Result<(), ToolError> {
    let parents = found.path.parent().map_or(Ok(()), fs::create_dir_all);
    parents.map_err(|error| ToolError::from_file("be put there", &found.relative, &error))
}

/// Puts a file with this content at its place.
pub(crate) fn write(found: &ResolvedPath, content: &[u8]) -> Result<(), ToolError> {
    let written = UnplacedFile::beside(&found.path).and_then(|mut unfinished| {
        unfinished.file.write_all(content)?;
        unfinished.place(&found.path)
    });
    written.map_err(|error| ToolError::from_file("be written", &found.relative, &error))
}

/// Puts a file with a changed content at its place, unless it is not as it was
/// before the change.
pub(crate) fn write_changed(found: &ResolvedPath, before: &[u8], after: &[u8]) -> Result<(), ToolError> {
    let failed = |error: &io::Error| ToolError::from_file("be written", &found.relative, error);
    let mut unfinished = UnplacedFile::beside(&found.path).map_err(|error| failed(&error))?;
    unfinished.file.write_all(after).map_err(|error| failed(&error))?;
    // As late as can be: only what happens from here to the rename is not seen.
    let mut now = Vec::with_capacity(before.len());
    let most = u64::try_from(before.len()).unwrap_or(u64::MAX).saturating_add(1);
    let read = File::open(&found.path).and_then(|file| file.take(most).read_to_end(&mut now));
    read.map_err(|error| failed(&error))?;
    if now != before {
        return Err(ToolError::conflict(format!(
            "`{}` was changed by something else meanwhile, and nothing was replaced; read it again",
            found.relative
        )));
    }
    unfinished.place(&found.path).map_err(|error| failed(&error))
}

/// Copies a file to its place: at most `limit_bytes`, as long as `go_on` says
/// so. Returns how many bytes it had.
pub(crate) fn copy(
    from: &ResolvedPath,
    to: &ResolvedPath,
    limit_bytes: u64,
    mut go_on: impl FnMut() -> bool,
) -> Result<u64, ToolError> {
    let reading = |error: &io::Error| ToolError::from_file("be read", &from.relative, error);
    let writing = |error: &io::Error| ToolError::from_file("be written", &to.relative, error);
    let mut source = File::open(&from.path).map_err(|error| reading(&error))?;
    let mut unfinished = UnplacedFile::beside(&to.path).map_err(|error| writing(&error))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut copied = 0;
    loop {
        let count = source.read(&mut buffer).map_err(|error| reading(&error))?;
        if count == 0 {
            break;
        }
        copied += u64::try_from(count).unwrap_or(u64::MAX);
        if copied > limit_bytes {
            return Err(ToolError::limit(format!("`{}` has more than {limit_bytes} bytes", from.relative)));
        }
        if !go_on() {
            return Err(ToolError::timeout(format!("`{}` could not be copied in the time of a call", from.relative)));
        }
        let part = buffer.get(..count).unwrap_or_default();
        unfinished.file.write_all(part).map_err(|error| writing(&error))?;
    }
    unfinished.place(&to.path).map_err(|error| writing(&error))?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &Path, name: &str) -> ResolvedPath {
        ResolvedPath { path: folder.join(name), relative: name.to_owned(), metadata: None }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("listed");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = found(folder.path(), "a");
        fs::write(&file.path, "as it was read, and more").expect("written");
        let error = write_changed(&file, b"as it was read", b"changed").expect_err("refused");
        assert!(error.message.contains("read it again"), "{error}");
        assert_eq!(fs::read(&file.path).expect("read"), b"as it was read, and more");
        write_changed(&file, b"as it was read, and more", b"changed").expect("written");
        assert_eq!(fs::read(&file.path).expect("read"), b"changed");
        assert_eq!(names(folder.path()), ["a"], "something was left");
    }

    #[test]
    fn a_copy_that_does_not_come_to_its_end_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a directory");
        let (from, to) = (found(folder.path(), "from"), found(folder.path(), "to"));
        fs::write(&from.path, vec![7; 200_000]).expect("written");
        assert!(copy(&from, &to, 199_999, || true).is_err_and(|error| error.message.contains("more than 199999")));
        let mut parts = 0;
        let stopped = copy(&from, &to, 200_000, || {
            parts += 1;
            parts < 2
        });
        assert!(stopped.is_err_and(|error| error.code == wharf_sdk::ErrorCode::Timeout));
        assert_eq!(names(folder.path()), ["from"]);
        assert_eq!(copy(&from, &to, 200_000, || true), Ok(200_000));
        assert_eq!(fs::read(&to.path).expect("read"), vec![7; 200_000]);
    }
}
