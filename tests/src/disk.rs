//! A small disk of a test, which can be full.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The disk. It ends with the test.
#[derive(Debug)]
pub struct Disk {
    directory: tempfile::TempDir,
}

impl Disk {
    /// A disk of 8 MiB; see [`Disk::of_mebibytes`].
    ///
    /// # Panics
    /// Where the system gives no directory.
    #[must_use]
    pub fn mount() -> Option<Self> {
        Self::of_mebibytes(8)
    }

    /// A disk of this size; none where this process may not mount one, which says so.
    ///
    /// # Panics
    /// Where the system gives no directory.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    pub fn of_mebibytes(size: u32) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a directory");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}m"), "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(Self { directory });
        }
        eprintln!("not tested: this process may not mount a small disk");
        None
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Takes all room that there is.
    ///
    /// # Panics
    /// Where it cannot be written, for another reason than that.
    pub fn fill(&self) {
        let mut ballast = File::options().append(true).create(true).open(self.ballast()).expect("made");
        let (mut piece, zeros) = (64 << 10, [0; 64 << 10]);
        while piece > 0 {
            match ballast.write(&zeros[..piece]) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => piece /= 2,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Gives back the room that was taken.
    ///
    /// # Panics
    /// Where none was taken.
    pub fn make_room(&self) {
        fs::remove_file(self.ballast()).expect("removed");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
