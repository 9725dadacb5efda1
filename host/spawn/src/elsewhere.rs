//! The same names where the system is not Linux: nothing is started there.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use tokio::io::{Empty, Sink};

use crate::{Capabilities, Contained, Ended, ProcessLimit, Signal, SpawnError, SpawnRequest};

/// Starts no children on this system.
#[derive(Debug, Clone, Default)]
pub struct Spawner(());

impl Spawner {
    /// A spawner that refuses.
    #[must_use]
    pub fn new() -> Self {
        Self(())
    }

    /// A spawner that refuses.
    #[doc(hidden)]
    #[must_use]
    pub fn with(_contained: Contained) -> Self {
        Self(())
    }

    /// A spawner that refuses.
    #[must_use]
    pub fn requiring_bubblewrap(self) -> Self {
        self
    }

    /// A spawner that refuses.
    #[doc(hidden)]
    #[must_use]
    pub fn without_waiting(self) -> Self {
        self
    }

    /// What this machine can do, which is nothing.
    ///
    /// # Errors
    /// None.
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, SpawnError> {
        let missing = || SpawnError::Unsupported.to_string();
        Ok(Arc::new(Capabilities {
            containment: Err(missing()),
            bubblewrap: Err(missing()),
            landlock: Err(missing()),
            another_user: false,
            process_limit: ProcessLimit::User,
            memory_of_trees: false,
            user_namespaces: false,
            seccomp: false,
            pidfd: false,
            bubblewrap_required: false,
            settled: true,
            warnings: Vec::new(),
        }))
    }

    /// Refuses.
    ///
    /// # Errors
    /// [`SpawnError::Unsupported`], always.
    pub async fn spawn(&self, _request: SpawnRequest) -> Result<Child, SpawnError> {
        Err(SpawnError::Unsupported)
    }
}

/// A child, of which there are none on this system.
#[derive(Debug)]
pub struct Child(Infallible);

impl Child {
    /// See the same on Linux, as for all below.
    #[must_use]
    pub fn id(&self) -> u64 {
        match self.0 {}
    }

    /// Whether its sandbox had been waiting.
    #[doc(hidden)]
    #[must_use]
    pub fn waited(&self) -> bool {
        match self.0 {}
    }

    /// The program's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        match self.0 {}
    }

    /// Waits for the end of the program.
    ///
    /// # Errors
    /// None.
    pub async fn wait(&self) -> Result<Ended, SpawnError> {
        match self.0 {}
    }

    /// How the program ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        match self.0 {}
    }

    /// Waits until nothing of the tree lives.
    pub async fn wait_for_tree(&self) {
        match self.0 {}
    }

    /// Sends a signal to the program's process group.
    ///
    /// # Errors
    /// None.
    pub async fn signal(&self, _signal: Signal) -> Result<(), SpawnError> {
        match self.0 {}
    }

    /// Ends the whole tree.
    ///
    /// # Errors
    /// None.
    pub async fn kill_tree(&self, _grace: Duration) -> Result<Ended, SpawnError> {
        match self.0 {}
    }

    /// How many processes of the tree live.
    ///
    /// # Errors
    /// None.
    pub async fn descendants(&self) -> Result<u32, SpawnError> {
        match self.0 {}
    }

    /// The writing end of standard input.
    #[must_use]
    pub fn take_stdin(&mut self) -> Option<Sink> {
        match self.0 {}
    }

    /// The reading end of standard output.
    #[must_use]
    pub fn take_stdout(&mut self) -> Option<Empty> {
        match self.0 {}
    }

    /// The reading end of standard error.
    #[must_use]
    pub fn take_stderr(&mut self) -> Option<Empty> {
        match self.0 {}
    }
}

/// Refuses: only Linux offers what it takes.
///
/// # Errors
/// Always.
pub fn lock_down() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, SpawnError::Unsupported.to_string()))
}
