//! A file that is appended to and read anywhere, encrypted or in the clear.

use std::{fs::File, io};

use wharf_files::positioned::{first_data, punch_hole, read_at, write_all_at};

use crate::blocks::BlockFile;

/// Bytes that are read at once of a whole file.
const CHUNK_BYTES: u64 = 1 << 20;

/// A file of which the host reads and evicts parts while it appends.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoredFile {
    /// In the clear.
    Clear(File),
    /// Encrypted.
    Encrypted(Box<BlockFile>),
}

impl StoredFile {
    /// The file itself, for its locks and times; not for its content.
    #[must_use]
    pub fn file(&self) -> &File {
        match self {
            Self::Clear(file) => file,
            Self::Encrypted(file) => file.file(),
        }
    }

    /// Bytes of its content.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::Clear(file) => Ok(file.metadata()?.len()),
            Self::Encrypted(file) => file.length(),
        }
    }

    /// Writes bytes behind the content, which is `at` bytes long.
    ///
    /// # Errors
    /// Where the system refuses. Bytes that were written nevertheless are overwritten by the next that are appended.
    pub fn append(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        match self {
            Self::Clear(file) => write_all_at(file, bytes, at),
            Self::Encrypted(file) => file.append(bytes),
        }
    }

    /// Appends `length` bytes of the content, from an offset on, to `bytes`.
    ///
    /// # Errors
    /// `UnexpectedEof` where there are not so many; `InvalidData` where somebody changed them; where they cannot be read.
    pub fn read_at(&self, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Clear(file) => read_at(file, from, length, bytes),
            Self::Encrypted(file) => file.read_at(from, length, bytes),
        }
    }

    /// Calls `each` with the content from an offset on, and with the offset of each piece.
    ///
    /// # Errors
    /// As [`StoredFile::read_at`], and those of `each`.
    pub fn read_on(&self, mut from: u64, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let (end, mut content) = (self.length()?, Vec::new());
        while from < end {
            content.clear();
            self.read_at(from, CHUNK_BYTES.min(end - from), &mut content)?;
            each(from, &content)?;
            from += content.len() as u64;
        }
        Ok(())
    }

    /// Gives back the room that the content from `from` to `until` takes. What stands before `from` was given back
    /// before.
    ///
    /// # Errors
    /// Where the system or the file system refuses.
    pub fn evict(&self, from: u64, until: u64) -> io::Result<()> {
        match self {
            Self::Clear(file) => punch_hole(file, from, until),
            Self::Encrypted(file) => file.evict(from, until),
        }
    }

    /// The offset of the first byte of the content that was not evicted.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn first_kept(&self) -> io::Result<u64> {
        match self {
            Self::Clear(file) => {
                let length = file.metadata()?.len();
                Ok(first_data(file, 0).map_or(length, |first| first.min(length)))
            }
            Self::Encrypted(file) => file.first_kept(),
        }
    }
}
