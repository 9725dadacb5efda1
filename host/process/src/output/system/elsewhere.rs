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
pub(crate) struct CopierSlots(());

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::{io::AsyncWriteExt as _, net::unix::pipe};

    use super::*;
    use crate::output::{
        OutputLimits,
        tests::{ROOMY, output},
    };

    #[tokio::test]
    async fn what_comes_through_a_pipe_is_kept_to_its_end() {
        let (_directory, output) = output(ROOMY);
        let (mut sender, receiver) = pipe::pipe().expect("a pipe");
        let copying = tokio::spawn(copy(receiver, Arc::clone(&output), CopierSlots::default()));
        let printed: Vec<_> = (0..20_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect();
        sender.write_all(&printed).await.expect("written");
        drop(sender);
        copying.await.expect("no panic");
        assert_eq!((output.state().bytes, output.state().open), (printed.len() as u64, false));
        assert_eq!(output.tail(1, 100).expect("a tail").text(), "line 19999\n");
    }

    #[tokio::test]
    async fn a_stream_that_takes_no_more_closes_the_pipe() {
        let (_directory, output) = output(OutputLimits { total_bytes: 10, ..ROOMY });
        let (mut sender, receiver) = pipe::pipe().expect("a pipe");
        sender.write_all(b"more than ten bytes").await.expect("written");
        copy(receiver, Arc::clone(&output), CopierSlots::default()).await;
        assert_eq!((output.state().bytes, output.state().open), (10, false));
        sender.write_all(b"more").await.expect_err("nobody reads it");
    }

    #[test]
    fn files_are_read_and_written_at_an_offset_and_give_nothing_back() {
        let file = tempfile::tempfile().expect("a file");
        write_all_at(&file, b"text", 100_000).expect("written");
        let mut bytes = Vec::new();
        read_at(&file, 99_999, 5, &mut bytes).expect("read");
        assert_eq!(bytes, b"\0text");
        let beyond = read_at(&file, 100_000, 5, &mut bytes).expect_err("the file ends");
        assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
        assert!(evict(&file, 0, 65_536).is_err() && first_kept(&file, 100_004) == 0);
    }
}
