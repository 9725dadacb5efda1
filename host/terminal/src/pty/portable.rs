//! A pair that portable-pty opens, on every system.
//!
//! portable-pty reads and writes by blocking, so each terminal has two threads:
//! one moves what is printed into a [`Handoff`], one moves what is typed out of
//! another. Tasks see only the handoffs and wait without blocking. What a reader
//! may assume is the same as with a terminal of the system's own; the threads
//! end when no program holds the other end.

mod ends;
mod handoff;

use std::{
    io::{self, Write as _},
    sync::Arc,
    task::{Context, Poll},
    thread,
};

use parking_lot::{Mutex, MutexGuard};
use portable_pty::{MasterPty, PtyPair, PtySize, SlavePty, native_pty_system};

use self::handoff::Handoff;
use super::end::{LineMode, ProgramEnd, Pty, SlaveState};
use crate::TerminalSize;

/// What is read at once. A terminal hands out no more.
const CHUNK_BYTES: usize = 4096;
/// What was printed and waits for the task; the program waits when it is full.
const PRINTED_BYTES: usize = 16 << 10;
/// What was typed and waits for its thread. A task that gives up typing cannot
/// take this back, so it is no more than a line of the terminal.
const TYPED_BYTES: usize = 4096;
/// The threads call nothing that needs more.
const STACK_BYTES: usize = 128 << 10;

/// The program's end, which portable-pty can start a program on.
pub(crate) type Slave = Box<dyn SlavePty + Send>;

/// The host's end of a pair that portable-pty opened.
pub(crate) struct PortablePty {
    /// Locked for a question of the system, never across an await.
    master: Mutex<Box<dyn MasterPty + Send>>,
    printed: Arc<Handoff>,
    typed: Arc<Handoff>,
}

impl std::fmt::Debug for PortablePty {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PortablePty").finish_non_exhaustive()
    }
}

impl PortablePty {
    /// Opens a pair of this size: the host's end, and the program's.
    ///
    /// # Errors
    /// Where the system has no more terminals, descriptors or threads.
    pub(crate) fn open(size: TerminalSize) -> io::Result<(Self, Slave)> {
        let PtyPair { slave, master } = native_pty_system().openpty(size.into()).map_err(io::Error::other)?;
        let (reader, writer) = ends::of(&*master)?;
        let (printed, typed) = (Arc::new(Handoff::new(PRINTED_BYTES)), Arc::new(Handoff::new(TYPED_BYTES)));
        // From here on, letting go of it ends the threads.
        let pty = Self { master: Mutex::new(master), printed: Arc::clone(&printed), typed: Arc::clone(&typed) };
        let ended = Arc::clone(&typed);
        begin("wharf-pty-read", move || {
            read(reader, &printed);
            ended.end();
        })?;
        begin("wharf-pty-write", move || write(writer, &typed))?;
        Ok((pty, slave))
    }

    fn master(&self) -> MutexGuard<'_, Box<dyn MasterPty + Send>> {
        // Nothing of the host's is changed under it.
        self.master.lock()
    }

    /// The program's end for a supervisor, which takes a descriptor.
    ///
    /// # Errors
    /// Where the terminal has no name, or cannot be opened by it.
    #[cfg(target_os = "linux")]
    pub(super) fn program_end(&self, slave: Slave) -> io::Result<ProgramEnd> {
        let program = self.by_name()?;
        // Open until here: without any other end this one would hang up.
        drop(slave);
        Ok(ProgramEnd(program))
    }

    /// The program's end, which starts the program itself.
    ///
    /// # Errors
    /// None.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn program_end(&self, slave: Slave) -> io::Result<ProgramEnd> {
        Ok(ProgramEnd(slave))
    }

    #[cfg(target_os = "linux")]
    fn by_name(&self) -> io::Result<std::fs::File> {
        use rustix::fs::{Mode, OFlags};

        let name = self.master().tty_name().ok_or(io::ErrorKind::NotFound)?;
        Ok(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    /// Whether the terminal has all that was typed.
    #[cfg(all(test, target_os = "linux"))]
    pub(super) fn is_typed_out(&self) -> bool {
        self.typed.is_empty()
    }
}

impl Drop for PortablePty {
    fn drop(&mut self) {
        self.printed.discard();
        self.typed.end();
    }
}

impl Pty for PortablePty {
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.printed.poll_take(context, buffer).map(Ok)
    }

    fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        self.printed.take_now(buffer)
    }

    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.typed.poll_put(context, bytes).map(|put| put.ok_or_else(|| io::ErrorKind::BrokenPipe.into()))
    }

    fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.master().resize(size.into()).map_err(io::Error::other)
    }

    #[cfg(unix)]
    fn line_mode(&self) -> io::Result<LineMode> {
        let modes = self.master().get_termios().ok_or_else(io::Error::last_os_error)?.local_flags.bits();
        Ok(LineMode { canonical: modes & libc::ICANON != 0, echo: modes & libc::ECHO != 0 })
    }

    /// A console of Windows tells its host nothing of it.
    #[cfg(not(unix))]
    fn line_mode(&self) -> io::Result<LineMode> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(unix)]
    fn foreground(&self) -> Option<u32> {
        self.master().process_group_leader().and_then(|group| u32::try_from(group).ok())
    }

    /// Windows knows no groups in front.
    #[cfg(not(unix))]
    fn foreground(&self) -> Option<u32> {
        None
    }

    fn has_unread_output(&self) -> bool {
        self.printed.has_more(|| ends::has_printed(&**self.master()))
    }

    #[cfg(target_os = "linux")]
    fn slave_state(&self) -> Option<SlaveState> {
        // First what is on its way: it goes from there into the terminal.
        let is_on_its_way = !self.typed.is_empty();
        let slave = super::slave_state::slave_state(&self.by_name().ok()?)?;
        Some(SlaveState { has_unread_input: slave.has_unread_input || is_on_its_way, ..slave })
    }

    /// Only Linux is asked.
    #[cfg(not(target_os = "linux"))]
    fn slave_state(&self) -> Option<SlaveState> {
        None
    }
}

impl From<TerminalSize> for PtySize {
    fn from(size: TerminalSize) -> Self {
        Self { rows: size.rows(), cols: size.columns(), pixel_width: 0, pixel_height: 0 }
    }
}

fn begin(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work).map(drop)
}

/// Moves what is printed, until no program can print any more.
fn read(mut reader: ends::PrintedReader, printed: &Handoff) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        printed.wait_for_room(CHUNK_BYTES);
        match reader.move_some(&mut chunk, printed) {
            Ok(count) if count > 0 => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // So systems say that the last program has closed it.
            Ok(_) | Err(_) => break,
        }
    }
    printed.end();
}

/// Moves what is typed, until nobody types any more or no program can read it.
fn write(mut writer: ends::TypedWriter, typed: &Handoff) {
    let mut chunk = Vec::with_capacity(TYPED_BYTES);
    while typed.wait_for_bytes(&mut chunk) {
        match writer.write(&chunk) {
            Ok(count) if count > 0 => typed.forget(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => break,
        }
    }
    typed.end();
}
