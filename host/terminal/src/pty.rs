//! Both ends of a terminal: the host's, to read, write and steer, and the
//! program's, which goes to what starts the program.
//!
//! Two backends open the pair. [`direct`] makes it by plain system calls and
//! reads without blocking, on Linux alone; [`portable`] has portable-pty open it
//! and a thread read it, on every system. Both keep the promises of [`Pty`], and
//! one suite checks them on both.
//!
//! Never knows what is read or written.

#[cfg(target_os = "linux")]
mod direct;
mod end;
mod portable;
#[cfg(target_os = "linux")]
mod slave_state;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::{io, sync::Arc};

use crate::TerminalSize;

#[cfg(target_os = "linux")]
use self::direct::DirectPty;
pub use self::end::{LineMode, ProgramEnd, Pty, SlaveState, TerminalDevice};
pub(crate) use self::portable::PortablePty;
#[cfg(any(test, not(target_os = "linux")))]
pub(crate) use self::portable::Slave;

/// What opens the two ends of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PtyBackend {
    /// System calls of Linux. A terminal takes one descriptor and no thread.
    #[cfg(target_os = "linux")]
    #[default]
    Direct,
    /// portable-pty. A terminal takes three descriptors and two threads.
    #[cfg_attr(not(target_os = "linux"), default)]
    Portable,
}

impl PtyBackend {
    /// Opens a pair of this size, within a runtime of tokio. The host's copy of
    /// the program's end is to be closed once the program has it.
    ///
    /// # Errors
    /// Where the system has no more terminals, descriptors or threads.
    pub fn open(self, size: TerminalSize) -> io::Result<(Arc<dyn Pty>, ProgramEnd)> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Direct => {
                let (pty, program) = DirectPty::open(size)?;
                Ok((Arc::new(pty), ProgramEnd(program)))
            }
            Self::Portable => {
                let (pty, slave) = PortablePty::open(size)?;
                let program = pty.program_end(slave)?;
                Ok((Arc::new(pty), program))
            }
        }
    }
}
