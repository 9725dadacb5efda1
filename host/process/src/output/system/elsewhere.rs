//! Systems other than Linux: pipes that are read in small pieces.

use std::sync::Arc;

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
}
