//! Whether the files of a data directory are encrypted, and under which keys.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use wharf_files::{private_files, regular_file};

use crate::{
    blocks::{self, BlockFile, CONTENT_BYTES},
    header::FileHeader,
    keyring::DataKeys,
    stored_file::StoredFile,
    whole,
};

/// A part that was evicted of a file in the clear ends at a multiple of this: whole blocks of any file system.
const CLEAR_BYTES: u64 = 64 << 10;
/// What a file has beside its content where it is encrypted as one piece, and some more.
const ROOM: u64 = 4 << 10;

/// How files are stored: in the clear, or encrypted under the keys of the data directory.
#[derive(Debug, Clone)]
pub struct AtRest(Option<Arc<DataKeys>>);

/// What encrypting a file anew came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reencrypted {
    /// It is stored as it should be now; so many bytes of content were written.
    Written(u64),
    /// It was stored so already.
    AsItWas,
}

impl AtRest {
    /// Files are stored in the clear.
    #[must_use]
    pub fn in_clear() -> Self {
        Self(None)
    }

    /// New files are encrypted under the current key, and each key opens the files that name it. Files in the clear are
    /// refused.
    #[must_use]
    pub fn encrypted(keys: DataKeys) -> Self {
        Self(Some(Arc::new(keys)))
    }

    /// Whether new files are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.0.is_some()
    }

    /// Bytes of the file that so many bytes of content take.
    #[must_use]
    pub fn stored_bytes(&self, content: u64) -> u64 {
        if self.is_encrypted() { blocks::stored_bytes(content) } else { content }
    }

    /// The keys, where there are any.
    #[must_use]
    pub fn keys(&self) -> Option<&DataKeys> {
        self.0.as_deref()
    }

    /// Begins the content of a new, empty file, which is open for reading and writing.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn begin(&self, file: File) -> io::Result<StoredFile> {
        match &self.0 {
            None => Ok(StoredFile::Clear(file)),
            Some(keys) => Ok(StoredFile::Encrypted(Box::new(BlockFile::begin(file, keys)?))),
        }
    }

    /// Reads a file that was [begun](AtRest::begin), and that nobody writes any more.
    ///
    /// # Errors
    /// `InvalidData` where it is in the clear and should not be, or the other way round, or its key is gone; where it
    /// cannot be read.
    pub fn open(&self, file: File) -> io::Result<StoredFile> {
        let header = FileHeader::read(&file)?;
        match self.keys_for(header.as_ref())? {
            Some((keys, header)) => Ok(StoredFile::Encrypted(Box::new(BlockFile::open(file, header, keys)?))),
            None => Ok(StoredFile::Clear(file)),
        }
    }

    /// Replaces a small file: see [`private_files::replace`].
    ///
    /// # Errors
    /// Where the system refuses; the file is as it was.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match &self.0 {
            None => private_files::replace(path, bytes),
            Some(keys) => private_files::replace(path, &whole::encrypt(keys, bytes)?),
        }
    }

    /// Reads a small file that was [replaced](AtRest::replace), of at most so many bytes of content.
    ///
    /// # Errors
    /// As [`AtRest::open`]; `FileTooLarge` where it has more.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let bytes = regular_file::read(path, most.saturating_add(ROOM))?;
        let header = FileHeader::of(&bytes);
        let content = match self.keys_for(header.as_ref())? {
            Some((keys, _)) => whole::decrypt(keys, bytes)?,
            None => bytes,
        };
        if content.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(content) }
    }

    /// Stores a file that was [replaced](AtRest::replace) under `from` as this says. It has its new content as a whole or
    /// not at all.
    ///
    /// # Errors
    /// Where it cannot be read, also under the keys of both; where the system refuses.
    pub fn reencrypt_whole(&self, from: &Self, path: &Path, most: u64) -> io::Result<Reencrypted> {
        let header = FileHeader::read(&regular_file::open_itself(path)?)?;
        if self.is_of(header.as_ref()) {
            return Ok(Reencrypted::AsItWas);
        }
        let content = from.as_stored(header.as_ref()).read(path, most)?;
        self.replace(path, &content)?;
        Ok(Reencrypted::Written(content.len() as u64))
    }

    /// The same of a file that was [begun](AtRest::begin). What was evicted of it stays so, and up to a block more.
    ///
    /// # Errors
    /// As [`AtRest::reencrypt_whole`].
    pub fn reencrypt(&self, from: &Self, path: &Path) -> io::Result<Reencrypted> {
        let file = regular_file::open_itself(path)?;
        let modified = file.metadata()?.modified();
        let header = FileHeader::read(&file)?;
        if self.is_of(header.as_ref()) {
            return Ok(Reencrypted::AsItWas);
        }
        let old = from.as_stored(header.as_ref()).open(file)?;
        let length = old.length()?;
        let aside = private_files::aside(path);
        let made = private_files::options().read(true).write(true).create(true).truncate(true).open(&aside)?;
        let new = self.begin(made)?;
        let block = if self.is_encrypted() { CONTENT_BYTES as u64 } else { CLEAR_BYTES };
        let at = old.first_kept()?.next_multiple_of(block);
        match &new {
            StoredFile::Encrypted(new) if at >= length && length > 0 && at > 0 => new.evicted(length)?,
            StoredFile::Encrypted(new) => new.begin_at(at),
            StoredFile::Clear(new) => new.set_len(length)?,
        }
        old.read_on(at, &mut |at, content| new.append(content, at))?;
        if let Ok(modified) = modified {
            new.file().set_modified(modified)?;
        }
        new.file().sync_all()?;
        fs::rename(&aside, path)?;
        // Before a key goes that the old content needed.
        path.parent().map_or(Ok(()), private_files::synchronise_names)?;
        Ok(Reencrypted::Written(length.saturating_sub(at)))
    }

    /// Whether a file with this header is stored as a new one would be.
    fn is_of(&self, header: Option<&FileHeader>) -> bool {
        match (&self.0, header) {
            (None, None) => true,
            (Some(keys), Some(header)) => keys.current().name() == header.key,
            _ => false,
        }
    }

    /// The same, and in the clear for a file in the clear: for one that is about to be encrypted.
    fn as_stored(&self, header: Option<&FileHeader>) -> Self {
        if header.is_some() { self.clone() } else { Self::in_clear() }
    }

    /// What opens a file with this header; none where it is in the clear and may be.
    fn keys_for<'k>(&'k self, header: Option<&'k FileHeader>) -> io::Result<Option<(&'k DataKeys, &'k FileHeader)>> {
        let problem = match (self.0.as_deref(), header) {
            (None, None) => return Ok(None),
            (Some(keys), Some(header)) => return Ok(Some((keys, header))),
            (None, Some(_)) => "it is encrypted, and the configuration names no key: see `[encryption]`",
            (Some(_), None) => "it is in the clear, and `[encryption]` is on: `wharf state rekey` encrypts it",
        };
        Err(io::Error::new(io::ErrorKind::InvalidData, problem))
    }
}

#[cfg(test)]
mod tests;
