//! The list that ends a backup: a line for each entry before it. A restore makes the same
//! list of what came and compares the two, so memory never holds either.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use blake3::Hasher;
use wharf_core::Digest;
use wharf_files::private_files;

/// The name of the list below a staging directory.
pub(super) const LIST_FILE: &str = "list";

/// A list on its way into a file.
#[derive(Debug)]
pub(super) struct EntryList {
    out: BufWriter<File>,
}

/// What a line says of an entry.
#[derive(Debug)]
pub(super) struct ListedEntry<'e> {
    pub(super) kind: &'static str,
    pub(super) mode: u32,
    pub(super) changed: u64,
    /// Bytes of a file or of the target of a link.
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    pub(super) path: &'e Path,
}

impl EntryList {
    pub(super) fn make(path: &Path) -> io::Result<Self> {
        let file = private_files::options().read(true).write(true).create_new(true).open(path)?;
        Ok(Self { out: BufWriter::new(file) })
    }

    pub(super) fn add(&mut self, entry: &ListedEntry<'_>) -> io::Result<()> {
        let ListedEntry { kind, mode, changed, bytes, digest, path } = entry;
        write!(self.out, "{digest} {kind} {mode:03o} {changed} {bytes} ")?;
        for (number, part) in path.iter().enumerate() {
            let slash = if number > 0 { "/" } else { "" };
            // A name may have any byte, and a line has one entry.
            write!(self.out, "{slash}{}", part.as_encoded_bytes().escape_ascii())?;
        }
        writeln!(self.out)
    }

    /// The whole of it, to be read from its beginning, with its length.
    pub(super) fn finish(self) -> io::Result<(File, u64)> {
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        io::Seek::rewind(&mut file)?;
        let bytes = file.metadata()?.len();
        Ok((file, bytes))
    }
}

/// Reads content, and computes its digest meanwhile.
pub(super) struct Digested<'r> {
    inner: &'r mut dyn io::Read,
    hasher: Hasher,
    pub(super) bytes: u64,
    came: &'r mut dyn FnMut(u64),
}

impl<'r> Digested<'r> {
    /// Tells `came` of each number of bytes.
    pub(super) fn new(inner: &'r mut dyn io::Read, came: &'r mut dyn FnMut(u64)) -> Self {
        Self { inner, hasher: Hasher::new(), bytes: 0, came }
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::from_bytes(*self.hasher.finalize().as_bytes())
    }
}

impl io::Read for Digested<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.bytes += read as u64;
        (self.came)(read as u64);
        Ok(read)
    }
}
