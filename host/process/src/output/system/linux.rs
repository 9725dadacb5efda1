//! Sparse files and pipes of Linux.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use rustix::{
    buffer::spare_capacity,
    fs::{FallocateFlags, SeekFrom, fallocate},
    io::Errno,
};

pub(crate) use super::super::copy::{CopierSlots, copy};

/// Writes all bytes at an offset.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Reads `length` bytes into memory that nobody has to clear before.
pub(crate) fn read_at(file: &File, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    while (bytes.len() as u64) < length {
        let at = from + bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(bytes), at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // There is more where something was printed meanwhile.
    bytes.truncate(usize::try_from(length).unwrap_or_default());
    Ok(())
}

/// Gives the blocks of a part of a file back to the disk.
pub(crate) fn evict(file: &File, from: u64, until: u64) -> io::Result<()> {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, hole, from, until - from)?)
}

/// Where the first byte that was not evicted is.
pub(crate) fn first_kept(file: &File, bytes: u64) -> u64 {
    match rustix::fs::seek(file, SeekFrom::Data(0)) {
        Ok(first) => first.min(bytes),
        // Nothing but a hole.
        Err(Errno::NXIO) => bytes,
        Err(_) => 0,
    }
}
