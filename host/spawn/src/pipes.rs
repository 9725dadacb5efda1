//! The host's ends of a child's streams, which tasks read and write without blocking.
//!
//! Knows nothing of what is in them.

#[cfg(unix)]
mod unix;
// Tests of other systems compile it too, since nothing in it is Windows's own but two types.
#[cfg(any(test, windows))]
#[cfg_attr(not(windows), expect(dead_code, unreachable_pub, reason = "other systems read and write their pipes"))]
mod windows;

#[cfg(unix)]
pub(crate) use unix::ChildPipes;
#[cfg(unix)]
pub use unix::{StdinPipe, StdoutPipe};
#[cfg(windows)]
pub(crate) use windows::ChildPipes;
#[cfg(windows)]
pub use windows::{StdinPipe, StdoutPipe};

/// The methods by which a child hands out its `pipes`, contained or not.
macro_rules! hands_out_pipes {
    () => {
        /// The writing end of standard input, once, where it is a pipe.
        #[must_use]
        pub fn take_stdin(&mut self) -> Option<$crate::StdinPipe> {
            self.pipes.take_stdin()
        }

        /// The reading end of standard output, once, where it is a pipe.
        #[must_use]
        pub fn take_stdout(&mut self) -> Option<$crate::StdoutPipe> {
            self.pipes.take_stdout()
        }

        /// The reading end of standard error, once, where it is a pipe.
        #[must_use]
        pub fn take_stderr(&mut self) -> Option<$crate::StdoutPipe> {
            self.pipes.take_stderr()
        }
    };
}
pub(crate) use hands_out_pipes;
