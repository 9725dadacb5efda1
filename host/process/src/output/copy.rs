//! From the pipe of a child into its file.
//!
//! The host reads and writes, instead of handing the child the file, because
//! only then a quota holds whatever the child does with its descriptors. While
//! a child is silent this costs a task and no thread; while it prints, a
//! thread for blocking work, since a disk can make a write wait. Splicing was
//! tried: it holds the pipe locked while the file is written, so that the child
//! waits meanwhile, and is slower.

use std::{io, sync::Arc, time::Duration};

use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::fcntl_setpipe_size,
};
use tokio::{
    net::unix::pipe,
    select,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
};

use super::CapturedOutput;

/// Read at once; no more than what a stream keeps at least.
const CHUNK_BYTES: usize = 256 << 10;
/// Bytes after which a thread goes to the next stream that waits for one.
const TURN_BYTES: usize = 16 << 20;
/// A child that printed so much in one turn is copied with less waiting.
const MUCH_BYTES: usize = 64 << 10;
/// What the kernel may hold between the host and a child that prints much,
/// where it allows so much. What all pipes of a user hold is limited: most
/// children need no more than what a pipe has by itself.
const LARGE_PIPE_BYTES: usize = 1 << 20;
/// A child that prints much is read in chunks of about this size or more...
const GATHERED_BYTES: usize = 128 << 10;
/// ...for which there is so much time.
const GATHER: Duration = Duration::from_micros(200);
/// How long a thread waits for more from a child that prints much: giving the thread back
/// and taking it again costs more.
const LINGER: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// Threads that copy at once, over all streams of a host: enough to have the
/// disk busy, and few enough to leave some to others.
const THREADS: usize = 8;

/// The threads that may copy at once, shared by all streams of a host.
#[derive(Debug, Clone)]
pub(crate) struct CopierSlots(Arc<Semaphore>);

impl Default for CopierSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(THREADS)))
    }
}

/// Copies until the last writer has closed the pipe, or the stream takes no
/// more: then the pipe is closed on this side, too.
pub(crate) async fn copy(mut pipe: pipe::Receiver, output: Arc<CapturedOutput>, copiers: CopierSlots) {
    let mut is_large = false;
    loop {
        let ready = select! {
            ready = pipe.readable() => ready,
            () = output.closed() => break,
        };
        if let Err(error) = ready {
            tracing::error!(%error, "a pipe cannot be waited for");
            break;
        }
        // It is never closed; without a permit there would only be no limit.
        let permit = Arc::clone(&copiers.0).acquire_owned().await.ok();
        let copied = Arc::clone(&output);
        match spawn_blocking(move || copy_some(pipe, &copied, is_large, permit)).await {
            Ok(Some(returned)) => (pipe, is_large) = returned,
            Ok(None) => break,
            Err(error) => {
                tracing::error!(%error, "the output of a process is not read any more");
                break;
            }
        }
    }
    output.close();
}

/// Copies what the pipe holds, as much as a turn allows. Returns the pipe where there
/// may be more, and whether it is large by now.
fn copy_some(
    pipe: pipe::Receiver,
    output: &CapturedOutput,
    mut is_large: bool,
    _turn: Option<OwnedSemaphorePermit>,
) -> Option<(pipe::Receiver, bool)> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    let (mut copied, mut last) = (0, CHUNK_BYTES);
    while copied < TURN_BYTES {
        chunk.clear();
        // Each chunk wakes every reader that waits, and small ones cost the child,
        // too: what it prints meanwhile stays in its pipe.
        if is_large && last < GATHERED_BYTES {
            std::thread::sleep(GATHER);
        }
        let read = match rustix::io::read(&pipe, spare_capacity(&mut chunk)) {
            Err(Errno::AGAIN) if copied >= MUCH_BYTES && more_arrives(&pipe) => continue,
            // Once more in the runtime's way, so that it knows, too, that there
            // is nothing to read.
            Err(Errno::AGAIN) => pipe.try_read_buf(&mut chunk),
            read => read.map_err(io::Error::from),
        };
        match read {
            Ok(0) => return None,
            Ok(count) => {
                output.append(&chunk).ok()?;
                copied += count;
                last = count;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::error!(%error, "a pipe cannot be read");
                return None;
            }
        }
        if copied >= MUCH_BYTES && !is_large {
            is_large = true;
            if let Err(error) = fcntl_setpipe_size(&pipe, LARGE_PIPE_BYTES) {
                tracing::debug!(%error, "a pipe stays small");
            }
        }
    }
    Some((pipe, is_large))
}

/// Waits a moment for more, or for the end.
fn more_arrives(pipe: &pipe::Receiver) -> bool {
    // An interruption is no answer; the pipe is waited for elsewhere then.
    poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&LINGER)).is_ok_and(|ready| ready > 0)
}
