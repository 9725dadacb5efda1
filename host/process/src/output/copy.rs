//! From the pipe of a child into its file.
//!
//! The host reads and writes, instead of handing the child the file, because
//! only then a quota holds whatever the child does with its descriptors. While
//! a child is silent this costs a task and no thread; while it prints, a
//! thread for blocking work, since a disk can make a write wait.

use std::{io, sync::Arc};

use tokio::{net::unix::pipe, task::spawn_blocking};

use super::Output;

/// Read at once; less than what a stream keeps at least.
const CHUNK_BYTES: usize = 128 << 10;
/// Chunks after which a thread goes back to the pool.
const CHUNKS_AT_ONCE: usize = 64;
/// What the kernel may hold between child and host, where it allows so much.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 << 10;

/// Copies until the last writer has closed the pipe, or the stream takes no
/// more: then the pipe is closed on this side, too.
pub(crate) async fn copy(pipe: pipe::Receiver, output: Arc<Output>) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES) {
        tracing::debug!(%error, "a pipe stays small");
    }
    let mut pipe = pipe;
    loop {
        if let Err(error) = pipe.readable().await {
            tracing::error!(%error, "a pipe cannot be waited for");
            break;
        }
        let copied = Arc::clone(&output);
        match spawn_blocking(move || copy_some(&pipe, &copied).then_some(pipe)).await {
            Ok(Some(returned)) => pipe = returned,
            Ok(None) => break,
            Err(error) => {
                tracing::error!(%error, "the output of a process is not read any more");
                break;
            }
        }
    }
    output.close();
}

/// Copies what is there, up to a number of chunks. Returns whether there may
/// be more.
fn copy_some(pipe: &pipe::Receiver, output: &Output) -> bool {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    for _ in 0..CHUNKS_AT_ONCE {
        chunk.clear();
        match pipe.try_read_buf(&mut chunk) {
            Ok(0) => return false,
            Ok(_) => {
                if output.append(&chunk).is_err() {
                    return false;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::error!(%error, "a pipe cannot be read");
                return false;
            }
        }
    }
    true
}
