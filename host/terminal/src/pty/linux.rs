//! A pseudoterminal of Linux.
//!
//! The pair is made by plain system calls. portable-pty can open one, but hands
//! the program's end to nothing but its own fork, and only `wharf-spawn` starts
//! children here; it also reads by blocking, one thread for each terminal, and
//! types a newline and EOF into every program whose terminal is let go.

use std::{
    fs::File,
    io,
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Release},
        },
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat},
    io::Errno,
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, SpecialCodeIndex, Winsize, tcgetattr, tcgetpgrp, tcsetwinsize},
};
use tokio::{io::Interest, net::UnixStream};

use super::{Device, Inside, LineMode, Pty};
use crate::Size;

/// Makes a pair of this size: the host's end, and the program's, which is to be closed
/// here once the program has it.
///
/// # Errors
/// Where the system has no more terminals or descriptors.
pub(crate) fn open(size: Size) -> io::Result<(Arc<dyn Pty>, File)> {
    let (pty, program) = LinuxPty::open(size)?;
    Ok((Arc::new(pty), program))
}

/// A pseudoterminal of Linux.
// A socket by type only: it is waited for as one, and read and written as what
// it is. What the runtime has for other descriptors takes unsafe code.
#[derive(Debug)]
struct LinuxPty {
    host: UnixStream,
    /// What was read last is still in the reader's hands.
    in_hand: AtomicBool,
}

impl LinuxPty {
    fn open(size: Size) -> io::Result<(Self, File)> {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        unlockpt(&host)?;
        // By descriptor: a path could lead to another instance of the file
        // system of terminals.
        let program = ioctl_tiocgptpeer(&host, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        fcntl_setfl(&host, fcntl_getfl(&host)? | OFlags::NONBLOCK)?;
        let pty = Self { host: UnixStream::from_std(host.into())?, in_hand: AtomicBool::new(false) };
        pty.resize(size)?;
        Ok((pty, program.into()))
    }
}

impl Pty for LinuxPty {
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

    fn resize(&self, size: Size) -> io::Result<()> {
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
        // First what is there: it goes from there into the reader's hands.
        is_readable(&self.host) || self.in_hand.load(Acquire)
    }

    fn inside(&self) -> Option<Inside> {
        // Open for no longer than this: the terminal's end would not be seen.
        let program =
            ioctl_tiocgptpeer(&self.host, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).ok()?;
        let has_unread_input = is_readable(&program);
        let (found, settings) = (fstat(&program).ok()?, tcgetattr(&program).ok()?);
        let codes = &settings.special_codes;
        let waits_for_some = settings.local_modes.contains(LocalModes::ICANON) || codes[SpecialCodeIndex::VMIN] > 0;
        let tenths = u64::from(codes[SpecialCodeIndex::VTIME]);
        let read_limit = (!waits_for_some).then(|| Duration::from_millis(tenths * 100));
        let device = Device { number: found.st_rdev, file_system: found.st_dev };
        Some(Inside { device, has_unread_input, read_limit })
    }
}

/// Whether there is something to read now. What is on its way inside of the
/// system arrives first.
fn is_readable(terminal: impl AsFd) -> bool {
    let mut asked = [PollFd::new(&terminal, PollFlags::IN)];
    let found = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    found.is_ok_and(|count| count > 0) && asked[0].revents().contains(PollFlags::IN)
}

/// Whether to try again, once the terminal is ready.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        io::{Read as _, Write as _},
    };

    use rustix::termios::{OptionalActions, tcsetattr};

    use super::*;

    async fn typed(pty: &LinuxPty, text: &str) {
        let count = poll_fn(|context| pty.poll_write(context, text.as_bytes())).await.expect("written");
        assert_eq!(count, text.len());
    }

    #[tokio::test]
    async fn what_is_printed_is_unread_until_its_reader_comes_for_more() {
        let (pty, mut program) = LinuxPty::open(Size::default()).expect("a terminal");
        assert!(!pty.has_unread_output());
        program.write_all(b"x").expect("printed");
        assert!(pty.has_unread_output());
        let mut buffer = [0; 10];
        assert_eq!(poll_fn(|context| pty.poll_read(context, &mut buffer)).await.expect("read"), 1);
        // It may not have looked at it yet.
        assert!(pty.has_unread_output());
        let waits = poll_fn(|context| Poll::Ready(pty.poll_read(context, &mut buffer).is_pending())).await;
        assert!(waits);
        assert!(!pty.has_unread_output());
    }

    #[tokio::test]
    async fn what_is_typed_is_unread_once_a_program_could_read_it() {
        let (pty, mut program) = LinuxPty::open(Size::default()).expect("a terminal");
        let unread = || pty.inside().expect("it is open").has_unread_input;
        typed(&pty, "ab").await;
        assert!(!unread(), "no line is whole");
        typed(&pty, "\r").await;
        assert!(unread());
        let mut buffer = [0; 10];
        assert_eq!(program.read(&mut buffer).expect("read"), 3);
        assert!(!unread());
        let mut settings = tcgetattr(&program).expect("settings");
        settings.make_raw();
        (settings.special_codes[SpecialCodeIndex::VMIN], settings.special_codes[SpecialCodeIndex::VTIME]) = (0, 15);
        tcsetattr(&program, OptionalActions::Now, &settings).expect("set");
        assert_eq!(pty.inside().expect("it is open").read_limit, Some(Duration::from_millis(1500)));
        typed(&pty, "c").await;
        assert!(unread());
        // Looking left no end of it open.
        drop(program);
        let read = async {
            loop {
                if let Ok(0) | Err(_) = poll_fn(|context| pty.poll_read(context, &mut buffer)).await {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), read).await.expect("its end");
    }
}
