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
mod portable;
#[cfg(target_os = "linux")]
mod slave_state;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::{
    fmt::Debug,
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use crate::TerminalSize;

#[cfg(target_os = "linux")]
use self::direct::DirectPty;
pub(crate) use self::portable::PortablePty;
#[cfg(any(test, not(target_os = "linux")))]
pub(crate) use self::portable::Slave;

/// The program's end of a terminal, which the start of a program takes. Without
/// it the host's end hangs up.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct ProgramEnd(pub(crate) std::fs::File);

/// The program's end of a terminal, which the start of a program takes. Without
/// it the host's end hangs up.
#[cfg(not(target_os = "linux"))]
pub struct ProgramEnd(pub(crate) Slave);

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

/// How the terminal takes what is typed, as the program has set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineMode {
    /// It collects lines before the program gets them.
    pub canonical: bool,
    /// It shows what is typed. A program that collects lines without showing
    /// them asks for a password.
    pub echo: bool,
}

/// What the program's end of a terminal is, and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlaveState {
    /// Which device it is.
    pub device: TerminalDevice,
    /// Something was typed that a program could read now, and has not.
    pub has_unread_input: bool,
    /// How long a program that reads waits at most.
    pub read_limit: Option<Duration>,
}

/// Which device a terminal is: there may be several file systems of them, with
/// the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalDevice {
    /// Its number.
    pub number: u64,
    /// The number of the file system that it is in.
    pub file_system: u64,
}

/// The host's end of a terminal. One task reads and writes; anybody may do the
/// rest.
pub trait Pty: Debug + Send + Sync + 'static {
    /// Reads some bytes. None at all says that no program holds the other end.
    ///
    /// # Errors
    /// Where the system refuses.
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Reads output that is ready now; `None` where there is none, or where it cannot be read.
    fn read_now(&self, buffer: &mut [u8]) -> Option<usize>;

    /// Writes some of the bytes, as many as the terminal takes.
    ///
    /// # Errors
    /// Where no program holds the other end, or the system refuses.
    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Changes the size, and tells the program in the foreground.
    ///
    /// # Errors
    /// Where the system refuses.
    fn resize(&self, size: TerminalSize) -> io::Result<()>;

    /// How it takes what is typed now.
    ///
    /// # Errors
    /// Where the system refuses.
    fn line_mode(&self) -> io::Result<LineMode>;

    /// The process group in the foreground, if there is one.
    fn foreground(&self) -> Option<u32>;

    /// Whether a program has printed what is not read yet, or what was read
    /// last is still being looked at.
    fn has_unread_output(&self) -> bool;

    /// What is at the program's end; nothing where it cannot be said.
    fn slave_state(&self) -> Option<SlaveState>;
}
