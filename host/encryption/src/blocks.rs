//! A file that is appended to and read anywhere, encrypted block by block.
//!
//! The header takes the first block. Each block of the file then has its nonce, up to 4,068 bytes of the content, and the
//! tag; all but the last are full. A block that is full is never written again. The last one is, with a new nonce, each
//! time that something is appended: its content stays in memory meanwhile, where readers of this handle find it.
//!
//! Blocks are as long as those of most file systems, so that evicting content gives its room back.

use std::{fs::File, io};

use parking_lot::Mutex;
use wharf_files::positioned::{first_data, punch_hole, read_at, write_all_at};

use crate::{
    cipher::{ADDED_BYTES, Cipher, damaged},
    header::{FileHeader, Layout},
    keyring::DataKeys,
};

/// Bytes of a block in the file.
const BLOCK_BYTES: usize = 4 << 10;
/// Bytes of the content in a full block.
pub(crate) const CONTENT_BYTES: usize = BLOCK_BYTES - ADDED_BYTES;
/// Blocks that are decrypted at once.
const READ_BLOCKS: u64 = 64;

/// How often the last block is read that does not decrypt, before that counts as damage: a few milliseconds.
const ATTEMPTS: usize = 1_000;

/// An encrypted file.
#[derive(Debug)]
pub struct BlockFile {
    file: File,
    cipher: Cipher,
    /// Of the handle that writes; held while it writes.
    written: Mutex<Option<WrittenContent>>,
}

/// How far a file is written.
#[derive(Debug, Clone, Default)]
struct WrittenContent {
    full_blocks: u64,
    /// The content of the last block, where that is not full.
    last: Vec<u8>,
}

impl WrittenContent {
    fn length(&self) -> u64 {
        self.full_blocks * CONTENT_BYTES as u64 + self.last.len() as u64
    }
}

impl BlockFile {
    /// Begins such a file in one that is new and empty, to append to it and to read it.
    pub(crate) fn begin(file: File, keys: &DataKeys) -> io::Result<Self> {
        let (header, cipher) = FileHeader::make(keys, Layout::Blocks)?;
        write_all_at(&file, header.bytes(), 0)?;
        Ok(Self { file, cipher, written: Mutex::new(Some(WrittenContent::default())) })
    }

    /// Reads a file with this header, which nobody writes any more, or no further than it is now.
    pub(crate) fn open(file: File, header: &FileHeader, keys: &DataKeys) -> io::Result<Self> {
        if header.layout != Layout::Blocks {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is a record, encrypted as one piece"));
        }
        Ok(Self { file, cipher: header.cipher(keys)?, written: Mutex::new(None) })
    }

    /// The file itself, for its locks and times.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes of the content.
    pub(crate) fn length(&self) -> io::Result<u64> {
        if let Some(written) = &*self.written.lock() {
            return Ok(written.length());
        }
        let behind_header = self.file.metadata()?.len().saturating_sub(BLOCK_BYTES as u64);
        let (full, rest) = (behind_header / BLOCK_BYTES as u64, behind_header % BLOCK_BYTES as u64);
        Ok(full * CONTENT_BYTES as u64 + rest.saturating_sub(ADDED_BYTES as u64))
    }

    /// Begins the content at an offset of whole blocks, behind a hole: what stands before was evicted elsewhere.
    pub(crate) fn begin_at(&self, offset: u64) {
        let full_blocks = offset / CONTENT_BYTES as u64;
        *self.written.lock() = Some(WrittenContent { full_blocks, last: Vec::new() });
    }

    /// Makes the content of a new file as long as this, all of it evicted.
    pub(crate) fn evicted(&self, length: u64) -> io::Result<()> {
        self.file.set_len(stored_bytes(length))
    }

    /// Appends to the content. Where it fails, the content is as long as it was.
    pub(crate) fn append(&self, mut bytes: &[u8]) -> io::Result<()> {
        let mut held = self.written.lock();
        let Some(written) = &mut *held else { return Err(io::ErrorKind::PermissionDenied.into()) };
        let first = written.full_blocks;
        let mut next = written.clone();
        let mut encrypted = Vec::with_capacity((bytes.len() / CONTENT_BYTES + 2) * BLOCK_BYTES);
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(CONTENT_BYTES - next.last.len()));
            next.last.extend_from_slice(now);
            bytes = rest;
            if next.last.len() < CONTENT_BYTES {
                break;
            }
            self.cipher.encrypt(&place(next.full_blocks), &next.last, &mut encrypted)?;
            next.full_blocks += 1;
            next.last.clear();
        }
        if !next.last.is_empty() {
            self.cipher.encrypt(&place(next.full_blocks), &next.last, &mut encrypted)?;
        }
        write_all_at(&self.file, &encrypted, in_file(first))?;
        *written = next;
        Ok(())
    }

    /// Appends `length` bytes of the content, from an offset on, to `bytes`.
    ///
    /// # Errors
    /// `UnexpectedEof` where there are not so many; `InvalidData` where they were changed; where they cannot be read.
    pub(crate) fn read_at(&self, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let until = from.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        let written = self.written.lock().clone();
        if until > written.as_ref().map_or_else(|| self.length(), |written| Ok(written.length()))? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let content = CONTENT_BYTES as u64;
        let mut at = from;
        let mut encrypted = Vec::new();
        while at < until {
            let block = at / content;
            if let Some(written) = written.as_ref().filter(|written| block == written.full_blocks) {
                copy(&written.last, block, at, until, bytes)?;
                break;
            }
            let last_full = written.as_ref().map_or(u64::MAX, |written| written.full_blocks);
            let blocks = until.div_ceil(content).min(last_full).min(block + READ_BLOCKS) - block;
            encrypted.clear();
            let end = self.file.metadata()?.len().min(in_file(block + blocks));
            let in_blocks = end.checked_sub(in_file(block)).ok_or(io::ErrorKind::UnexpectedEof)?;
            read_at(&self.file, in_file(block), in_blocks, &mut encrypted)?;
            for (number, encrypted) in (block..).zip(encrypted.chunks_mut(BLOCK_BYTES)) {
                if let Ok(decrypted) = self.cipher.decrypt(&place(number), encrypted) {
                    at = copy(decrypted, number, at, until, bytes)?;
                } else {
                    at = copy(&self.again(number)?, number, at, until, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The content of a block that was not whole when it was read: another handle may have been writing it.
    fn again(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut encrypted = Vec::new();
        for _ in 0..ATTEMPTS {
            std::thread::yield_now();
            let length = self.file.metadata()?.len();
            let end = length.min(in_file(number + 1));
            encrypted.clear();
            read_at(&self.file, in_file(number), end.saturating_sub(in_file(number)), &mut encrypted)?;
            match self.cipher.decrypt(&place(number), &mut encrypted) {
                Ok(content) => return Ok(content.to_vec()),
                // Nobody writes a block that others follow.
                Err(error) if length > in_file(number + 1) => return Err(error),
                Err(_) => {}
            }
        }
        Err(damaged())
    }

    /// Gives back the room of what stands before `until`, as far as whole blocks have it; `from` says what was given
    /// back before.
    pub(crate) fn evict(&self, from: u64, until: u64) -> io::Result<()> {
        let content = CONTENT_BYTES as u64;
        let length = self.length()?;
        let first = from / content;
        let last = if until >= length { length.div_ceil(content) } else { until / content };
        if last > first { punch_hole(&self.file, in_file(first), in_file(last)) } else { Ok(()) }
    }

    /// The offset of the first byte that was not evicted.
    pub(crate) fn first_kept(&self) -> io::Result<u64> {
        let length = self.length()?;
        let Some(data) = first_data(&self.file, in_file(0)) else { return Ok(length) };
        let block = (data - in_file(0)).div_ceil(BLOCK_BYTES as u64);
        Ok((block * CONTENT_BYTES as u64).min(length))
    }
}

/// Copies what stands between `at` and `until` of the content of one block, and says how far it came.
fn copy(content: &[u8], block: u64, at: u64, until: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    let begin = block * CONTENT_BYTES as u64;
    let within = |offset: u64| usize::try_from(offset.saturating_sub(begin)).unwrap_or(usize::MAX);
    let (from, to) = (within(at), within(until).min(CONTENT_BYTES));
    bytes.extend_from_slice(content.get(from..to).ok_or_else(damaged)?);
    Ok(begin + to as u64)
}

/// Bytes of a file with so much content.
pub(crate) fn stored_bytes(content: u64) -> u64 {
    let (full, rest) = (content / CONTENT_BYTES as u64, content % CONTENT_BYTES as u64);
    in_file(full) + if rest > 0 { rest + ADDED_BYTES as u64 } else { 0 }
}

/// Where a block is in the file.
fn in_file(block: u64) -> u64 {
    (block + 1) * BLOCK_BYTES as u64
}

/// What binds a block to its place.
fn place(block: u64) -> [u8; 8] {
    block.to_le_bytes()
}
