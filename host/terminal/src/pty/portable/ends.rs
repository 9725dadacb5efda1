//! What a terminal of portable-pty is read and written by.
//!
//! On Unix these are descriptors of the terminal: the writer of portable-pty
//! types a newline and EOF when it is dropped, which would send off a line that
//! somebody has begun. On Windows they are the pipes of the console.

#[cfg(unix)]
pub(super) use unix::{PrintedReader, TypedWriter, has_printed, of};
#[cfg(not(unix))]
pub(super) use windows::{PrintedReader, TypedWriter, has_printed, of};

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, Read as _},
        os::fd::{AsRawFd, RawFd},
        time::Duration,
    };

    use filedescriptor::{FileDescriptor, POLLIN, poll, pollfd};
    use portable_pty::MasterPty;

    use crate::pty::portable::handoff::Handoff;

    /// Waits until something is printed.
    pub(in super::super) struct PrintedReader(FileDescriptor);

    /// Types.
    pub(in super::super) type TypedWriter = FileDescriptor;

    /// Both for a terminal.
    pub(in super::super) fn of(master: &dyn MasterPty) -> io::Result<(PrintedReader, TypedWriter)> {
        let descriptor = master.as_raw_fd().ok_or(io::ErrorKind::Unsupported)?;
        let copy = || FileDescriptor::dup(&descriptor).map_err(io::Error::other);
        Ok((PrintedReader(copy()?), copy()?))
    }

    impl PrintedReader {
        /// Moves some of what is printed, once there is any: in one step, so
        /// that it is always seen in the terminal or in the handoff. Nothing
        /// where no program holds the other end.
        ///
        /// # Errors
        /// Where the system refuses.
        pub(in super::super) fn move_some(&mut self, chunk: &mut [u8], printed: &Handoff) -> io::Result<usize> {
            wait(self.0.as_raw_fd(), None)?;
            printed.fill(chunk, |chunk| self.0.read(chunk))
        }
    }

    /// Whether something is printed that was not moved.
    pub(in super::super) fn has_printed(master: &dyn MasterPty) -> bool {
        master.as_raw_fd().is_some_and(|descriptor| wait(descriptor, Some(Duration::ZERO)).unwrap_or_default())
    }

    /// Whether there is something to read, once the wait is over.
    fn wait(descriptor: RawFd, limit: Option<Duration>) -> io::Result<bool> {
        let mut asked = [pollfd { fd: descriptor, events: POLLIN, revents: 0 }];
        match poll(&mut asked, limit) {
            Ok(_) => Ok(asked[0].revents & POLLIN != 0),
            Err(filedescriptor::Error::Poll(error) | filedescriptor::Error::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

#[cfg(not(unix))]
mod windows {
    use std::io::{self, Read, Write};

    use portable_pty::MasterPty;

    use crate::pty::portable::handoff::Handoff;

    /// Waits until something is printed.
    pub(in super::super) struct PrintedReader(Box<dyn Read + Send>);

    /// Types.
    pub(in super::super) type TypedWriter = Box<dyn Write + Send>;

    /// Both for a console.
    pub(in super::super) fn of(master: &dyn MasterPty) -> io::Result<(PrintedReader, TypedWriter)> {
        let reader = master.try_clone_reader().map_err(io::Error::other)?;
        Ok((PrintedReader(reader), master.take_writer().map_err(io::Error::other)?))
    }

    impl PrintedReader {
        /// Moves some of what is printed, once there is any. Nothing where the
        /// console is closed.
        ///
        /// # Errors
        /// Where the system refuses.
        pub(in super::super) fn move_some(&mut self, chunk: &mut [u8], printed: &Handoff) -> io::Result<usize> {
            let count = self.0.read(chunk)?;
            printed.fill(chunk, |_| Ok(count))
        }
    }

    /// A pipe of Windows does not say what is in it; its thread moves it at once.
    pub(in super::super) fn has_printed(_: &dyn MasterPty) -> bool {
        false
    }
}
