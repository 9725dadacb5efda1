//! The errors that bubblewrap writes where it cannot make a sandbox, for the operator who
//! has to mend it.
//!
//! Only bubblewrap writes here: the supervisor inside closes the pipe
//! before the program begins.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use wharf_core::text;

use crate::SpawnError;

/// Most bytes that the host reads.
const MOST_BYTES: usize = 4096;
/// Most bytes of the line that it shows.
const LINE_BYTES: usize = 256;

/// The reading end of bubblewrap's errors for one sandbox.
#[derive(Debug)]
pub(super) struct SetupErrors(OwnedFd);

impl SetupErrors {
    /// A pipe on which neither side waits: errors that do not fit are lost.
    pub(super) fn pipe() -> Result<(Self, OwnedFd), SpawnError> {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (reader, writer) = pipe_with(flags).map_err(SpawnError::system("make a pipe"))?;
        Ok((Self(reader), writer))
    }

    /// The last written line within the bytes that are read, cleaned for people.
    pub(super) fn last_line(&self) -> Option<String> {
        let (mut bytes, mut piece) = (Vec::new(), [0; 1024]);
        while bytes.len() < MOST_BYTES {
            match rustix::io::read(&self.0, &mut piece) {
                Ok(0) | Err(_) => break,
                Ok(read) => bytes.extend_from_slice(&piece[..read]),
            }
        }
        let written = String::from_utf8_lossy(&bytes);
        let lines = written.lines().map(|line| text::line(line.trim(), LINE_BYTES));
        lines.rev().find(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_line(written: &[u8]) -> Option<String> {
        let (errors, writer) = SetupErrors::pipe().expect("a pipe");
        rustix::io::write(&writer, written).expect("there is room");
        errors.last_line()
    }

    #[test]
    fn the_last_line_is_told_clean_and_cut_and_nobody_is_waited_for() {
        assert_eq!(last_line(b"bwrap: one\nbwrap: \x1b[2Jtwo\n\n").as_deref(), Some("bwrap: [2Jtwo"));
        assert_eq!(last_line(b" \n\n"), None);
        assert_eq!(last_line(&[b'x'; 9_000]).map(|line| line.len()), Some(LINE_BYTES));
        assert_eq!(last_line(b"\xff").as_deref(), Some("\u{fffd}"));
        // The writing end is open and empty.
        let (errors, writer) = SetupErrors::pipe().expect("a pipe");
        assert_eq!(errors.last_line(), None);
        drop(writer);
        assert_eq!(errors.last_line(), None);
    }
}
