//! What a directory holds, read as the guest asks for it: WASI's own listing reads all of
//! it first, and a guest makes as many entries and listings as it likes.

use std::{collections::VecDeque, fs::File, io};

use rustix::{
    fs::{AtFlags, Dir, FileType, statat},
    io::Errno,
};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use wharf_core::Share;

/// So many entries are read at once.
const AHEAD: usize = 64;

/// A listing that is being read.
pub(crate) struct DirectoryListing {
    /// Away while a thread reads on.
    pub(crate) reading: Option<DirectoryReader>,
    pub(crate) ahead: VecDeque<Result<DirectoryEntry, ErrorCode>>,
    pub(crate) _share: Share,
}

/// Where it stands.
pub(crate) struct DirectoryReader(Dir);

impl DirectoryReader {
    /// From the beginning. The directory need not stay open.
    pub(crate) fn begin(directory: &File) -> io::Result<Self> {
        Ok(Self(Dir::read_from(directory)?))
    }

    /// The next entries; none at the end.
    pub(crate) fn next(&mut self) -> VecDeque<Result<DirectoryEntry, ErrorCode>> {
        let mut entries = VecDeque::new();
        while entries.len() < AHEAD {
            match self.0.read() {
                None => break,
                Some(Err(error)) => {
                    entries.push_back(Err(io::Error::from(error).into()));
                    break;
                }
                Some(Ok(entry)) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
                Some(Ok(entry)) => entries.extend(self.entry(entry.file_name(), entry.file_type()).transpose()),
            }
        }
        entries
    }

    /// Nothing where it has just been removed.
    fn entry(&self, name: &std::ffi::CStr, kind: FileType) -> Result<Option<DirectoryEntry>, ErrorCode> {
        let kind = match kind {
            // Not every file system says it in the listing.
            FileType::Unknown => match statat(self.0.fd().map_err(io::Error::from)?, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(io::Error::from(error).into()),
            },
            known => known,
        };
        let type_ = match kind {
            FileType::RegularFile => DescriptorType::RegularFile,
            FileType::Directory => DescriptorType::Directory,
            FileType::Symlink => DescriptorType::SymbolicLink,
            FileType::BlockDevice => DescriptorType::BlockDevice,
            FileType::CharacterDevice => DescriptorType::CharacterDevice,
            FileType::Fifo | FileType::Socket | FileType::Unknown => DescriptorType::Unknown,
        };
        let name = name.to_str().map_err(|_| ErrorCode::IllegalByteSequence)?;
        Ok(Some(DirectoryEntry { type_, name: name.to_owned() }))
    }
}
