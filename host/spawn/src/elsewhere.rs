//! The same names for systems other than Linux: every request is refused with the reason.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use crate::{
    Capabilities, ChildEnd, ProbeWorkspace, ProcessLimitScope, SandboxMechanism, Signal, SpawnError, SpawnRequest,
};

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
    pub fn with(_contained: SandboxMechanism) -> Self {
        Self(())
    }

    /// A spawner that refuses.
    #[must_use]
    pub fn requiring_bubblewrap(self) -> Self {
        self
    }

    /// A spawner that refuses.
    #[must_use]
    pub fn probing_in(self, _make: impl Fn() -> io::Result<ProbeWorkspace> + Send + Sync + 'static) -> Self {
        self
    }

    /// A spawner that refuses.
    #[doc(hidden)]
    #[must_use]
    pub fn without_prepared_sandboxes(self) -> Self {
        self
    }

    /// The abilities of this machine: none.
    ///
    /// # Errors
    /// None.
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, SpawnError> {
        let missing = || SpawnError::Unsupported.to_string();
        Ok(Arc::new(Capabilities {
            containment: Err(missing()),
            bubblewrap: Err(missing()),
            bubblewrap_is_there: false,
            landlock: Err(missing()),
            another_user: false,
            process_limit: ProcessLimitScope::User,
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

/// The writing end of a child's standard input; this system has none.
#[derive(Debug)]
pub struct StdinPipe(Infallible);

impl StdinPipe {
    /// Writes as much as the pipe takes at once.
    ///
    /// # Errors
    /// None.
    pub fn try_write(&self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Waits until the pipe takes more.
    ///
    /// # Errors
    /// None.
    pub async fn writable(&self) -> io::Result<()> {
        match self.0 {}
    }
}

/// The reading end of a child's standard output or error; this system has none.
#[derive(Debug)]
pub struct StdoutPipe(Infallible);

impl StdoutPipe {
    /// Reads some bytes; none at the end.
    ///
    /// # Errors
    /// None.
    pub async fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

/// A child; this system has none.
#[derive(Debug)]
pub struct Child(Infallible);

impl Child {
    /// As on Linux, like every method below.
    #[must_use]
    pub fn id(&self) -> u64 {
        match self.0 {}
    }

    /// Whether its sandbox was prepared before the request.
    #[doc(hidden)]
    #[must_use]
    pub fn used_prepared_sandbox(&self) -> bool {
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
    pub async fn wait(&self) -> Result<ChildEnd, SpawnError> {
        match self.0 {}
    }

    /// How the program ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<ChildEnd> {
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
    pub async fn kill_tree(&self, _grace: Duration) -> Result<ChildEnd, SpawnError> {
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
    pub fn take_stdin(&mut self) -> Option<StdinPipe> {
        match self.0 {}
    }

    /// The reading end of standard output.
    #[must_use]
    pub fn take_stdout(&mut self) -> Option<StdoutPipe> {
        match self.0 {}
    }

    /// The reading end of standard error.
    #[must_use]
    pub fn take_stderr(&mut self) -> Option<StdoutPipe> {
        match self.0 {}
    }
}

/// Refuses: only Linux has the filters that it needs.
///
/// # Errors
/// Always.
pub fn lock_down() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, SpawnError::Unsupported.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChildInput, ChildLimits, ChildOutput, Containment};

    #[tokio::test]
    async fn every_request_is_refused_with_the_reason() {
        let request = SpawnRequest {
            program: "/bin/true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            working_directory: "/".into(),
            stdin: ChildInput::Null,
            stdout: ChildOutput::Null,
            stderr: ChildOutput::Null,
            descriptors: Vec::new(),
            limits: ChildLimits::default(),
            containment: Containment::None,
            user: None,
        };
        let spawner = Spawner::new().requiring_bubblewrap();
        let refused = spawner.spawn(request).await.expect_err("no system but Linux starts children");
        assert!(refused.to_string().contains("on Linux only"), "{refused}");
        let found = spawner.capabilities().await.expect("an answer");
        assert!(found.containment.as_ref().is_err_and(|missing| missing.contains("on Linux only")) && found.settled);
        assert!(lock_down().is_err());
    }
}
