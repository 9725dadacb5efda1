//! A pair of Linux by plain system calls, read and written without blocking.
//!
//! Owns one descriptor for each terminal, and no thread.

use std::{
    fs::File,
    io,
    os::fd::AsFd,
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
    task::{Context, Poll, ready},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcgetpgrp, tcsetwinsize},
};
use tokio::{io::Interest, net::UnixStream};

use super::{
    end::{LineMode, Pty, SlaveState},
    slave_state::{is_readable, slave_state},
};
use crate::TerminalSize;

/// The host's end of a pair that system calls opened.
// A socket by type only: it is waited for as one, and read and written as what
// it is. What the runtime has for other descriptors takes unsafe code.
#[derive(Debug)]
pub(super) struct DirectPty {
    host: UnixStream,
    /// What was read last is still in the reader's hands.
    in_hand: AtomicBool,
}

impl DirectPty {
    /// Makes a pair of this size: the host's end, and the program's, which is
    /// to be closed here once the program has it.
    ///
    /// # Errors
    /// Where the system has no more terminals or descriptors.
    pub(super) fn open(size: TerminalSize) -> io::Result<(Self, File)> {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        unlockpt(&host)?;
        let program = program_end(&host)?;
        fcntl_setfl(&host, fcntl_getfl(&host)? | OFlags::NONBLOCK)?;
        let pty = Self { host: UnixStream::from_std(host.into())?, in_hand: AtomicBool::new(false) };
        pty.resize(size)?;
        Ok((pty, program))
    }
}

impl Pty for DirectPty {
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.in_hand.store(false, Release);
        loop {
            ready!(self.host.poll_read_ready(context))?;
            // Said before it is no longer to be seen in the terminal.
            self.in_hand.store(true, Release);
            let read = self.host.try_io(Interest::READABLE, || Ok(rustix::io::read(&self.host, &mut *buffer)?));
            self.in_hand.store(read.as_ref().is_ok_and(|count| *count > 0), Release);
            match read {
                // So the system says that the last program has closed it.
                Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Poll::Ready(Ok(0)),
                Err(error) if is_passing(&error) => {}
                read => return Poll::Ready(read),
            }
        }
    }

    fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        self.in_hand.store(true, Release);
        let read = rustix::io::read(&self.host, buffer).ok().filter(|count| *count > 0);
        self.in_hand.store(read.is_some(), Release);
        read
    }

    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.host.poll_write_ready(context))?;
            match self.host.try_io(Interest::WRITABLE, || Ok(rustix::io::write(&self.host, bytes)?)) {
                Err(error) if is_passing(&error) => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.host, size)?)
    }

    fn line_mode(&self) -> io::Result<LineMode> {
        let modes = tcgetattr(&self.host)?.local_modes;
        Ok(LineMode { canonical: modes.contains(LocalModes::ICANON), echo: modes.contains(LocalModes::ECHO) })
    }

    fn foreground(&self) -> Option<u32> {
        tcgetpgrp(&self.host).ok().and_then(|group| u32::try_from(group.as_raw_nonzero().get()).ok())
    }

    fn has_unread_output(&self) -> bool {
        // Asks the terminal first: bytes go from there into the reader's hands.
        is_readable(&self.host) || self.in_hand.load(Acquire)
    }

    fn slave_state(&self) -> Option<SlaveState> {
        // Open for no longer than this: the terminal's end would not be seen.
        slave_state(&program_end(&self.host).ok()?)
    }
}

/// The program's end, by descriptor: a path could lead to another instance of
/// the file system of terminals.
fn program_end(host: impl AsFd) -> io::Result<File> {
    Ok(ioctl_tiocgptpeer(host, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?.into())
}

/// Whether to try again, once the terminal is ready.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
