//! The kits that this program carries, as files.

use std::{fs, path::Path};

use crate::error::AuthorError;

/// Files one after the other, packed by Zstandard.
pub(crate) struct Kit {
    /// Where each belongs, and its bytes.
    files: &'static [(&'static str, usize)],
    packed: &'static [u8],
}

mod carried {
    use super::Kit;

    include!(concat!(env!("OUT_DIR"), "/kits.rs"));
}

pub(crate) use carried::{JAVASCRIPT, PYTHON, RUST};

impl Kit {
    /// Whether it is carried: a program that was built out of packages has none.
    pub(crate) const fn is_carried(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes it below a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), AuthorError> {
        let bytes: usize = self.files.iter().map(|(_, bytes)| bytes).sum();
        let unpacked = zstd::bulk::decompress(self.packed, bytes).map_err(AuthorError::file(folder))?;
        let mut rest = unpacked.as_slice();
        for (name, bytes) in self.files {
            let (file, behind) = rest.split_at(*bytes);
            rest = behind;
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(AuthorError::file(parent))?;
            }
            fs::write(&path, file).map_err(AuthorError::file(&path))?;
        }
        Ok(())
    }
}
