//! Systems other than Linux: files without holes, and pipes that are read in small pieces.

#[cfg(unix)]
use std::os::unix::fs::FileExt as _;
#[cfg(windows)]
use std::os::windows::fs::FileExt as _;
use std::{fs::File, io, sync::Arc};

use tokio::io::AsyncReadExt as _;
use wharf_spawn::StdoutPipe;

use super::super::CapturedOutput;

/// Read at once.
const CHUNK_BYTES: usize = 8 << 10;

/// The turns of all streams at threads; nobody takes one here.
#[derive(Debug, Clone, Default)]
pub(crate) struct CopierSlots;

/// Copies until the last writer has closed the pipe, or the stream takes no more.
pub(crate) async fn copy(mut pipe: StdoutPipe, output: Arc<CapturedOutput>, _: CopierSlots) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        if output.append(&chunk[..count]).is_err() {
            break;
        }
    }
    output.close();
}

/// Writes all bytes at an offset.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = write_at(file, bytes, at)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        (bytes, at) = (&bytes[written..], at + written as u64);
    }
    Ok(())
}

/// Reads `length` bytes.
pub(crate) fn read_at(file: &File, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.resize(usize::try_from(length).unwrap_or_default(), 0);
    let mut done = 0;
    while done < bytes.len() {
        match read_some_at(file, &mut bytes[done..], from + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => done += count,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.write_at(bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.seek_write(bytes, at)
}

#[cfg(unix)]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

#[cfg(windows)]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

/// Refuses: no part of a file is given back here, so a stream ends at what it may keep.
pub(crate) fn evict(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing was ever evicted.
pub(crate) fn first_kept(_: &File, _: u64) -> u64 {
    0
}
