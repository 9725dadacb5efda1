//! A program without a supervisor: not limited, not contained, started by the standard
//! library or by what opened its terminal.
//!
//! Its process group ends with it; what has left that group lives on, and nobody counts it.
//! On Windows a job holds all of its descendants, and ends them with the host, too.
//! Programs of systems other than Linux run so. Linux compiles the module for its tests and
//! for those of terminals, and starts nothing so.
//!
//! Knows nothing of requests but what no such program can be given.

mod tree;

use std::{
    io,
    path::Path,
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::watch, time::timeout};

use crate::{
    ChildEnd, ChildExit, ChildLimits, Containment, SandboxMechanism, Signal, SpawnError, TreeProcess,
    pipes::{ChildPipes, hands_out_pipes},
};
use tree::ProcessTree;

/// Why nothing is contained here.
pub(crate) const CONTAINED: &str = "only Linux contains programs";
const FOLLOW: &str = "follow a program to its end";
/// The stack of a thread that waits.
const STACK_BYTES: usize = 128 << 10;

/// A program and its process group. Dropping it kills both.
#[derive(Debug)]
pub struct UncontainedChild {
    id: u64,
    pid: u32,
    ended: Ended,
    tree: SharedTree,
    pipes: ChildPipes,
}

/// How a program ended, or the system's reason for not telling.
type Ended = watch::Receiver<Option<Result<ChildEnd, io::ErrorKind>>>;

/// What of a program can be signalled; nothing once it is reaped, when its number may be
/// another's. Held for a system call, and while the ended program is reaped.
type SharedTree = Arc<Mutex<Option<ProcessTree>>>;

/// Refuses what such a program cannot be given.
///
/// # Errors
/// [`SpawnError::Uncontainable`], [`SpawnError::User`], [`SpawnError::Unsupported`] for
/// limits, and what is wrong with the paths.
pub fn check(
    containment: &Containment,
    user: Option<u32>,
    limits: &ChildLimits,
    program: &Path,
    working_directory: &Path,
) -> Result<(), SpawnError> {
    if let Containment::Required(_) | Containment::Files(_) = containment {
        return Err(SpawnError::Uncontainable { missing: CONTAINED.into(), required: false });
    }
    if let Some(user) = user {
        return Err(SpawnError::User { user });
    }
    if *limits != ChildLimits::default() {
        return Err(SpawnError::Unsupported("only Linux limits what a program uses up"));
    }
    for (what, path) in [("the program", program), ("the working directory", working_directory)] {
        if !path.is_absolute() {
            let shown = path.to_string_lossy().chars().take(60).collect();
            return Err(SpawnError::Illegal { what, shown, why: "it is not absolute" });
        }
    }
    // Asked first, since the error of a start does not say which path it is for.
    if !working_directory.is_dir() {
        let source = io::ErrorKind::NotADirectory.into();
        return Err(SpawnError::Program { step: "enter", path: working_directory.to_owned(), source });
    }
    Ok(())
}

impl UncontainedChild {
    /// Follows a program that has just been started, as the leader of a process group where
    /// there are groups.
    ///
    /// # Errors
    /// [`SpawnError::System`] where there is no thread for it, or on Windows no job; then
    /// the program is killed.
    pub fn follow(mut program: process::Child) -> Result<Self, SpawnError> {
        let tree = match ProcessTree::of(&program) {
            Ok(tree) => tree,
            Err(error) => {
                // Where it has ended, nothing is left to kill.
                let _ = program.kill();
                let _ = program.wait();
                return Err(SpawnError::system(FOLLOW)(error));
            }
        };
        let (pid, pipes) = (program.id(), ChildPipes::of(&mut program));
        Self::watch(pid, tree, pipes, move |tree| tree::wait(program, tree))
    }

    /// The same for a program of a console.
    ///
    /// # Errors
    /// As [`UncontainedChild::follow`]; then the caller kills the program.
    #[cfg(windows)]
    pub fn follow_handle(
        pid: u32,
        handle: std::os::windows::io::RawHandle,
        wait: impl FnOnce() -> io::Result<u32> + Send + 'static,
    ) -> Result<Self, SpawnError> {
        let tree = ProcessTree::of_handle(handle).map_err(SpawnError::system(FOLLOW))?;
        Self::watch(pid, tree, ChildPipes::default(), move |tree| {
            let code = wait();
            tree.lock().take();
            code.map(|code| ChildExit::Exited { code: code.cast_signed() })
        })
    }

    fn watch(
        pid: u32,
        tree: ProcessTree,
        pipes: ChildPipes,
        wait: impl FnOnce(&Mutex<Option<ProcessTree>>) -> io::Result<ChildExit> + Send + 'static,
    ) -> Result<Self, SpawnError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let tree = Arc::new(Mutex::new(Some(tree)));
        let (sender, ended) = watch::channel(None);
        // Dropped on the way out, it kills the program.
        let this = Self { id: LAST.fetch_add(1, Relaxed) + 1, pid, ended, tree: Arc::clone(&tree), pipes };
        let waits = move || {
            let exit = wait(&tree);
            let end = exit.map(|exit| ChildEnd { exit, descendants: 0 });
            sender.send_replace(Some(end.map_err(|error| error.kind())));
        };
        let thread = thread::Builder::new().name("wharf-child-wait".into()).stack_size(STACK_BYTES);
        thread.spawn(waits).map_err(SpawnError::system(FOLLOW))?;
        Ok(this)
    }

    /// A number that no other child of this host has had.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether its sandbox was prepared before the request: it has none.
    #[doc(hidden)]
    #[must_use]
    pub fn used_prepared_sandbox(&self) -> bool {
        false
    }

    /// The program's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end of the program. Cancel-safe, and any number of callers may wait.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the system does not say how it ended.
    pub async fn wait(&self) -> Result<ChildEnd, SpawnError> {
        let mut ended = self.ended.clone();
        let ended = *ended.wait_for(Option::is_some).await.map_err(|_| SpawnError::Lost)?;
        ended.and_then(Result::ok).ok_or(SpawnError::Lost)
    }

    /// How the program ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<ChildEnd> {
        self.ended.borrow().and_then(Result::ok)
    }

    /// Waits for the end of the program, with which its group ends. Cancel-safe.
    pub async fn wait_for_tree(&self) {
        // However it ended, it is gone.
        drop(self.wait().await);
    }

    /// Sends a signal to the program's process group, while the program lives.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the system refuses, [`SpawnError::Unsupported`] where it
    /// has no signals; [`Signal::Kill`] works everywhere.
    pub async fn signal(&self, signal: Signal) -> Result<(), SpawnError> {
        match &mut *self.tree.lock() {
            Some(tree) => tree.signal(signal),
            None => Ok(()),
        }
    }

    /// Ends the program and its group: politely where the system can, and after `grace` by
    /// force. Once polled, this goes on though the future is dropped.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the system does not say how it ended.
    pub async fn kill_tree(&self, grace: Duration) -> Result<ChildEnd, SpawnError> {
        let (tree, mut ended) = (Arc::clone(&self.tree), self.ended.clone());
        let end = tokio::spawn(async move {
            let is_asked = tree.lock().as_mut().is_some_and(|tree| tree.signal(Signal::Terminate).is_ok());
            let is_over = is_asked && timeout(grace, ended.wait_for(Option::is_some)).await.is_ok();
            if !is_over {
                kill(&tree);
            }
        });
        // Its end is that of the program.
        drop(end);
        self.wait().await
    }

    /// What contains it: nothing does.
    #[must_use]
    pub fn mechanism(&self) -> Option<SandboxMechanism> {
        None
    }

    /// The processes of its tree: no system but Linux tells.
    #[must_use]
    pub fn tree(&self) -> Vec<TreeProcess> {
        Vec::new()
    }

    /// The number of processes beside the program that are known: none is.
    ///
    /// # Errors
    /// None.
    pub async fn descendants(&self) -> Result<u32, SpawnError> {
        Ok(0)
    }

    hands_out_pipes!();
}

impl Drop for UncontainedChild {
    fn drop(&mut self) {
        kill(&self.tree);
    }
}

fn kill(tree: &Mutex<Option<ProcessTree>>) {
    if let Some(tree) = tree.lock().as_mut() {
        tree.kill();
    }
}
