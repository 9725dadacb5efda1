//! A running child: its end, its streams, and the end of its whole tree.
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

use rustix::{
    net::{Shutdown, shutdown},
    process::Pid,
};
use tokio::{net::UnixStream, sync::watch};

use crate::{
    ChildEnd, ChildExit, SandboxMechanism, Signal, SpawnError, SpawnRequest, TreeProcess,
    packet::{self, Packet},
    pipes::{ChildPipes, hands_out_pipes},
    tree,
    wire::{SandboxFailure, StartStep, SupervisorOrder, SupervisorReport, WaitStatus},
};

/// A child and its descendants. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct Child {
    id: u64,
    pid: u32,
    /// Its supervisor, below which all of its tree lives.
    supervisor: Option<Pid>,
    mechanism: Option<SandboxMechanism>,
    control: Arc<UnixStream>,
    state: watch::Receiver<ChildState>,
    pipes: ChildPipes,
    used_prepared_sandbox: bool,
}

/// The state of a child, from the reports of its supervisor.
#[derive(Debug, Clone, Default)]
struct ChildState {
    pid: Option<u32>,
    supervisor: Option<u32>,
    started: bool,
    failed: Option<(StartStep, i32)>,
    /// Why its sandbox could not be made.
    no_sandbox: Option<SandboxFailure>,
    ended: Option<ChildEnd>,
    /// The last count of descendants, and the number of counts.
    descendants: (u32, u64),
    gone: bool,
    /// The supervisor has ended, in order or not.
    silent: bool,
}

impl ChildState {
    fn apply(&mut self, packet: Packet<SupervisorReport>) {
        match packet.message {
            SupervisorReport::Starting => self.pid = packet.sender,
            SupervisorReport::Started => (self.started, self.supervisor) = (true, packet.sender),
            SupervisorReport::NoSandbox(failure) => self.no_sandbox = Some(failure),
            SupervisorReport::Failed { step, errno } => self.failed = Some((step, errno)),
            SupervisorReport::Ended { status, descendants } => {
                let exit = match status {
                    WaitStatus::Exited(code) => ChildExit::Exited { code },
                    WaitStatus::Signaled(signal) => ChildExit::Signaled { signal },
                };
                self.ended = Some(ChildEnd { exit, descendants });
            }
            SupervisorReport::Descendants(count) => self.descendants = (count, self.descendants.1 + 1),
            SupervisorReport::Gone => self.gone = true,
        }
    }
}

impl Child {
    /// Waits until the program runs, or its start failed. The child has no pipes yet.
    /// [`SpawnError::Sandbox`] means that the program has not begun.
    pub(crate) async fn begin(
        socket: OwnedFd,
        request: &SpawnRequest,
        mechanism: Option<SandboxMechanism>,
    ) -> Result<Self, SpawnError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        rustix::io::ioctl_fionbio(&socket, true).map_err(SpawnError::system("watch a socket"))?;
        // A stream by type only: it sends and receives packets.
        let control = UnixStream::from_std(socket.into()).map_err(SpawnError::system("watch a socket"))?;
        let control = Arc::new(control);
        let (sender, state) = watch::channel(ChildState::default());
        // One task reads, so that any number of callers may wait, and stop waiting.
        tokio::spawn(listen(Arc::clone(&control), sender));
        let mut child = Self {
            id: LAST.fetch_add(1, Relaxed) + 1,
            pid: 0,
            supervisor: None,
            mechanism,
            control,
            state,
            pipes: ChildPipes::default(),
            used_prepared_sandbox: false,
        };
        let state = child.until(|state| state.started || state.failed.is_some() || state.silent).await?;
        if let Some(SandboxFailure { why, forbidden }) = state.no_sandbox {
            return Err(SpawnError::Sandbox { why, forbidden });
        }
        let failed = |step, path: &PathBuf, errno| {
            let source = io::Error::from_raw_os_error(errno);
            Err(SpawnError::Program { step, path: path.clone(), source })
        };
        match (state.failed, state.pid) {
            (Some((StartStep::Enter, errno)), _) => failed("enter", &request.working_directory, errno),
            (Some((StartStep::Execute, errno)), _) => failed("run", &request.program, errno),
            (Some((StartStep::Confine, errno)), _) => {
                let source = io::Error::from_raw_os_error(errno);
                Err(SpawnError::System {
                    action: "confine a child; a path that it was to be shown may not exist",
                    source,
                })
            }
            (Some((StartStep::Bound, errno)), _) => Err(SpawnError::Bounds(io::Error::from_raw_os_error(errno))),
            (Some((StartStep::Prepare, errno)), _) => {
                Err(SpawnError::System { action: "prepare a child", source: io::Error::from_raw_os_error(errno) })
            }
            (None, Some(pid)) if state.started => {
                child.pid = pid;
                child.supervisor = state.supervisor.and_then(|pid| Pid::from_raw(pid.cast_signed()));
                Ok(child)
            }
            (None, None) if mechanism == Some(SandboxMechanism::Namespaces) => {
                Err(SpawnError::Sandbox { why: "its supervisor ended".into(), forbidden: false })
            }
            (None, _) => Err(SpawnError::Lost),
        }
    }

    /// Adds the pipes, and whether the child took a prepared sandbox.
    pub(crate) fn with(mut self, pipes: ChildPipes, used_prepared_sandbox: bool) -> Self {
        (self.pipes, self.used_prepared_sandbox) = (pipes, used_prepared_sandbox);
        self
    }

    /// Whether its sandbox was prepared before the request; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn used_prepared_sandbox(&self) -> bool {
        self.used_prepared_sandbox
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

    /// What contains it; absent for a child without containment.
    #[must_use]
    pub fn mechanism(&self) -> Option<SandboxMechanism> {
        self.mechanism
    }

    /// The living processes of its tree by process id, the first 200. This walks through all processes
    /// of the machine, and a process may make the readers of its command line wait: call it on a thread
    /// that nobody else needs.
    #[must_use]
    pub fn tree(&self) -> Vec<TreeProcess> {
        let state = self.state.borrow().clone();
        let supervisor = self.supervisor.filter(|_| !state.gone && !state.silent);
        supervisor.map(tree::describe).unwrap_or_default()
    }

    /// Waits for the end of the program, not for that of its descendants.
    /// Cancel-safe, and any number of callers may wait.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the supervisor was killed.
    pub async fn wait(&self) -> Result<ChildEnd, SpawnError> {
        self.until(|state| state.ended.is_some() || state.silent).await?.ended.ok_or(SpawnError::Lost)
    }

    /// How the program ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<ChildEnd> {
        self.state.borrow().ended
    }

    /// Waits until nothing of the tree lives. Cancel-safe.
    pub async fn wait_for_tree(&self) {
        let _ = self.until(|state| state.gone || state.silent).await;
    }

    /// Sends a signal to the program's process group, while a member of it lives.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the supervisor cannot be reached.
    pub async fn signal(&self, signal: Signal) -> Result<(), SpawnError> {
        self.order(&SupervisorOrder::Signal(signal)).await
    }

    /// Ends the whole tree: sends SIGTERM to all of it, and after `grace` SIGKILL to
    /// the rest, until nothing is left. The supervisor completes this even when
    /// the future is dropped after its first poll.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the supervisor was killed; the tree then ended
    /// with it.
    pub async fn kill_tree(&self, grace: Duration) -> Result<ChildEnd, SpawnError> {
        let grace_milliseconds = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.order(&SupervisorOrder::Stop { grace_milliseconds }).await?;
        self.wait_for_tree().await;
        self.ended().ok_or(SpawnError::Lost)
    }

    /// The number of living processes of the tree, without the program itself.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the supervisor cannot be reached.
    pub async fn descendants(&self) -> Result<u32, SpawnError> {
        let before = self.state.borrow().descendants.1;
        self.order(&SupervisorOrder::Count).await?;
        let state = self.until(|state| state.descendants.1 > before || state.gone || state.silent).await?;
        Ok(if state.gone || state.silent { 0 } else { state.descendants.0 })
    }

    hands_out_pipes!();

    async fn until(&self, enough: impl FnMut(&ChildState) -> bool) -> Result<ChildState, SpawnError> {
        self.state.clone().wait_for(enough).await.map(|state| state.clone()).map_err(|_| SpawnError::Lost)
    }

    /// Sends an order to the supervisor. Succeeds where the supervisor has ended.
    async fn order(&self, order: &SupervisorOrder) -> Result<(), SpawnError> {
        let sent = self.control.async_io(tokio::io::Interest::WRITABLE, || packet::send(&self.control, order, &[]));
        match sent.await {
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => Ok(()),
            sent => sent.map_err(SpawnError::system("tell a supervisor")),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The supervisor takes the end of the socket as the end of the host.
        let _ = shutdown(&self.control, Shutdown::Both);
    }
}

/// Reads the reports of one supervisor, to its end.
async fn listen(control: Arc<UnixStream>, state: watch::Sender<ChildState>) {
    loop {
        let received = control.async_io(tokio::io::Interest::READABLE, || packet::receive(&control)).await;
        let Ok(Some(packet)) = received else { break };
        state.send_modify(|state| state.apply(packet));
    }
    state.send_modify(|state| state.silent = true);
}
