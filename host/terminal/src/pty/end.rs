//! What the two ends of a terminal are, whatever opens them.

use std::{
    fmt::Debug,
    io,
    task::{Context, Poll},
    time::Duration,
};

#[cfg(not(target_os = "linux"))]
use super::portable::Slave;
use crate::TerminalSize;

/// The program's end of a terminal, which the start of a program takes. Without
/// it the host's end hangs up.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct ProgramEnd(pub(crate) std::fs::File);

/// The program's end of a terminal, which the start of a program takes. Without
/// it the host's end hangs up.
#[cfg(not(target_os = "linux"))]
pub struct ProgramEnd(pub(crate) Slave);

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
