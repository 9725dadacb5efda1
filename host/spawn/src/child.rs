//! A child that runs: how it ended, what it left, and how all of it ends.
//!
//! Knows nothing of how children are started.

use std::{
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use rustix::net::{Shutdown, shutdown};
use tokio::{
    net::{
        UnixStream,
        unix::pipe::{Receiver, Sender},
    },
    sync::watch,
};

use crate::{
    Ended, Exit, Signal, SpawnError, SpawnRequest,
    packet::{self, Packet},
    wire::{How, Order, Report, Step},
};

/// A child and all below it. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct Child {
    id: u64,
    pid: u32,
    control: Arc<UnixStream>,
    state: watch::Receiver<State>,
    pipes: Pipes,
    waited: bool,
}

/// The host's ends of a child's streams.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
}

/// What the supervisor has said so far.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    pid: Option<u32>,
    started: bool,
    failed: Option<(Step, i32)>,
    ended: Option<Ended>,
    /// The last count, and how many there have been.
    descendants: (u32, u64),
    gone: bool,
    /// The supervisor has ended, in order or not.
    silent: bool,
}

impl State {
    fn hear(&mut self, packet: &Packet<Report>) {
        match packet.message {
            Report::Starting => self.pid = packet.sender,
            Report::Started => self.started = true,
            Report::Failed { step, errno } => self.failed = Some((step, errno)),
            Report::Ended { how, descendants } => {
                let exit = match how {
                    How::Exited(code) => Exit::Exited { code },
                    How::Signaled(signal) => Exit::Signaled { signal },
                };
                self.ended = Some(Ended { exit, descendants });
            }
            Report::Descendants(count) => self.descendants = (count, self.descendants.1 + 1),
            Report::Gone => self.gone = true,
        }
    }
}

impl Child {
    /// Waits until the child is the program, or is none; it has no pipes yet.
    /// [`SpawnError::Sandbox`] says that the program has not begun.
    pub(crate) async fn begin(socket: OwnedFd, request: &SpawnRequest, contained: bool) -> Result<Self, SpawnError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        rustix::io::ioctl_fionbio(&socket, true).map_err(SpawnError::system("watch a socket"))?;
        // A stream by type only: what is sent and received are packets.
        let control = UnixStream::from_std(socket.into()).map_err(SpawnError::system("watch a socket"))?;
        let control = Arc::new(control);
        let (sender, state) = watch::channel(State::default());
        // One task reads, so that any number may wait, and stop waiting.
        tokio::spawn(listen(Arc::clone(&control), sender));
        let mut child =
            Self { id: LAST.fetch_add(1, Relaxed) + 1, pid: 0, control, state, pipes: Pipes::default(), waited: false };
        let state = child.until(|state| state.started || state.failed.is_some() || state.silent).await?;
        let failed = |step, path: &PathBuf, errno| {
            let source = io::Error::from_raw_os_error(errno);
            Err(SpawnError::Program { step, path: path.clone(), source })
        };
        match (state.failed, state.pid) {
            (Some((Step::Enter, errno)), _) => failed("enter", &request.working_directory, errno),
            (Some((Step::Execute, errno)), _) => failed("run", &request.program, errno),
            (Some((Step::Confine, errno)), _) => {
                let source = io::Error::from_raw_os_error(errno);
                Err(SpawnError::System {
                    action: "confine a child; a path that it was to be shown may not exist",
                    source,
                })
            }
            (Some((Step::Bound, errno)), _) => Err(SpawnError::Bounds(io::Error::from_raw_os_error(errno))),
            (Some((Step::Prepare, errno)), _) => {
                Err(SpawnError::System { action: "prepare a child", source: io::Error::from_raw_os_error(errno) })
            }
            (None, Some(pid)) if state.started => {
                child.pid = pid;
                Ok(child)
            }
            (None, None) if contained => Err(SpawnError::Sandbox { said: None }),
            (None, _) => Err(SpawnError::Lost),
        }
    }

    /// The same with its pipes, and whether its sandbox had been waiting.
    pub(crate) fn with(mut self, pipes: Pipes, waited: bool) -> Self {
        (self.pipes, self.waited) = (pipes, waited);
        self
    }

    /// Whether its sandbox had been made before it was asked for; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn waited(&self) -> bool {
        self.waited
    }

    /// A number that no other child of this host has had.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The program's process id, as the host sees it. A contained program sees
    /// another one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end of the program, not for that of its descendants.
    /// Cancel-safe, and any number may wait.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the supervisor was killed.
    pub async fn wait(&self) -> Result<Ended, SpawnError> {
        self.until(|state| state.ended.is_some() || state.silent).await?.ended.ok_or(SpawnError::Lost)
    }

    /// How the program ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.state.borrow().ended
    }

    /// Waits until nothing of the tree lives. Cancel-safe.
    pub async fn wait_for_tree(&self) {
        let _ = self.until(|state| state.gone || state.silent).await;
    }

    /// Sends a signal to the program's process group, where one of it lives.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the supervisor cannot be told.
    pub async fn signal(&self, signal: Signal) -> Result<(), SpawnError> {
        self.order(&Order::Signal(signal)).await
    }

    /// Ends the whole tree: SIGTERM to all of it, and after `grace` SIGKILL to
    /// whatever is left, until nothing is. Once asked for, it happens even when
    /// this future is dropped.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the supervisor was killed; the tree then ended
    /// with it.
    pub async fn kill_tree(&self, grace: Duration) -> Result<Ended, SpawnError> {
        let grace_milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.order(&Order::Stop { grace_milliseconds }).await?;
        self.wait_for_tree().await;
        self.ended().ok_or(SpawnError::Lost)
    }

    /// How many processes of the tree live, the program itself not counted.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the supervisor cannot be asked.
    pub async fn descendants(&self) -> Result<u32, SpawnError> {
        let before = self.state.borrow().descendants.1;
        self.order(&Order::Count).await?;
        let state = self.until(|state| state.descendants.1 > before || state.gone || state.silent).await?;
        Ok(if state.gone || state.silent { 0 } else { state.descendants.0 })
    }

    /// The writing end of standard input, once, where it is a pipe.
    #[must_use]
    pub fn take_stdin(&mut self) -> Option<Sender> {
        self.pipes.stdin.take().and_then(|end| Sender::from_owned_fd(end).ok())
    }

    /// The reading end of standard output, once, where it is a pipe.
    #[must_use]
    pub fn take_stdout(&mut self) -> Option<Receiver> {
        self.pipes.stdout.take().and_then(|end| Receiver::from_owned_fd(end).ok())
    }

    /// The reading end of standard error, once, where it is a pipe.
    #[must_use]
    pub fn take_stderr(&mut self) -> Option<Receiver> {
        self.pipes.stderr.take().and_then(|end| Receiver::from_owned_fd(end).ok())
    }

    async fn until(&self, enough: impl FnMut(&State) -> bool) -> Result<State, SpawnError> {
        self.state.clone().wait_for(enough).await.map(|state| *state).map_err(|_| SpawnError::Lost)
    }

    /// Tells the supervisor something; nothing where it has ended.
    async fn order(&self, order: &Order) -> Result<(), SpawnError> {
        let sent = self.control.async_io(tokio::io::Interest::WRITABLE, || packet::send(&self.control, order, &[]));
        match sent.await {
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => Ok(()),
            sent => sent.map_err(SpawnError::system("tell a supervisor")),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The supervisor takes it as the end of the host.
        let _ = shutdown(&self.control, Shutdown::Both);
    }
}

/// Reads what the supervisor of one child says, to its end.
async fn listen(control: Arc<UnixStream>, state: watch::Sender<State>) {
    loop {
        let received = control.async_io(tokio::io::Interest::READABLE, || packet::receive(&control)).await;
        let Ok(Some(packet)) = received else { break };
        state.send_modify(|state| state.hear(&packet));
    }
    state.send_modify(|state| state.silent = true);
}
