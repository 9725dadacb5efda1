//! What an owner can do to a running process: write to it, signal it, stop it.

use std::time::Duration;

use super::{Processes, termination::LONGEST_GRACE};
use crate::{KilledBy, Owner, ProcessError, ProcessId, ProcessSnapshot, Signal, Status};

impl Processes {
    /// Writes to the standard input of a process, and returns how many bytes
    /// it took `within` the time: fewer than given where it does not read, or
    /// ends. Another writer waits meanwhile. Dropping the future may leave a
    /// part written.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or [`ProcessError::InputClosed`].
    pub async fn write(
        &self,
        owner: &Owner,
        id: ProcessId,
        bytes: &[u8],
        within: Duration,
    ) -> Result<usize, ProcessError> {
        let process = self.find(owner, id)?;
        process.write(bytes, within.min(self.settings.longest_wait)).await
    }

    /// Closes the standard input of a process, once what is being written to
    /// it is written. Closing it again does nothing.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub async fn close_input(&self, owner: &Owner, id: ProcessId) -> Result<(), ProcessError> {
        let process = self.find(owner, id)?;
        process.input.lock().await.take();
        Ok(())
    }

    /// Sends a signal to the group of a process, once it has started. If it
    /// ends by that, its exit says which signal it was.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], [`ProcessError::Ended`], or
    /// [`ProcessError::Unreachable`].
    pub async fn signal(&self, owner: &Owner, id: ProcessId, signal: Signal) -> Result<(), ProcessError> {
        let process = self.find(owner, id)?;
        // It cannot fail: the sender is part of the process, which is held here.
        drop(process.state.subscribe().wait_for(|state| state.status != Status::Starting).await);
        if process.status().has_ended() {
            return Err(ProcessError::Ended);
        }
        let child = process.child().ok_or(ProcessError::Ended)?;
        child.signal(signal).await.map_err(|source| ProcessError::Unreachable { source })
    }

    /// Stops a process and its descendants: asks them to end, and kills them once `grace`
    /// (a minute at most) is over; also where only descendants are left. Returns how the
    /// process is then. Once begun, the stop goes on though the future is dropped.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`].
    pub async fn stop(&self, owner: &Owner, id: ProcessId, grace: Duration) -> Result<ProcessSnapshot, ProcessError> {
        let process = self.find(owner, id)?;
        process.stop(KilledBy::User, grace.min(LONGEST_GRACE)).await;
        Ok(process.snapshot().await)
    }
}
