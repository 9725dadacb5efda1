//! What an owner can see of its processes without being counted: how they are, and what
//! they printed.

use super::{Processes, table::oldest_first};
use crate::{Owner, ProcessError, ProcessId, ProcessSnapshot, StreamName, output::OutputPiece};

impl Processes {
    /// A process as it is now. This is for the host's own use: it counts as no
    /// poll.
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], also for what belongs to somebody else.
    pub async fn snapshot(&self, owner: &Owner, id: ProcessId) -> Result<ProcessSnapshot, ProcessError> {
        Ok(self.find(owner, id)?.snapshot().await)
    }

    /// All processes of an owner, in the order in which they were started.
    pub async fn list(&self, owner: &Owner) -> Vec<ProcessSnapshot> {
        let processes = oldest_first(self.table().owned_by(owner));
        let mut snapshots = Vec::with_capacity(processes.len());
        for process in processes {
            snapshots.push(process.snapshot().await);
        }
        snapshots
    }

    /// Reads a stream from a cursor on; see [`crate::output::CapturedOutput::read`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn read(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        cursor: u64,
        max_bytes: usize,
    ) -> Result<OutputPiece, ProcessError> {
        let process = self.find(owner, id)?;
        process.output(stream).read(cursor, max_bytes).map_err(Self::unreadable)
    }

    /// The last lines of a stream; see [`crate::output::CapturedOutput::tail`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn tail(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        lines: usize,
        max_bytes: usize,
    ) -> Result<OutputPiece, ProcessError> {
        let process = self.find(owner, id)?;
        process.output(stream).tail(lines, max_bytes).map_err(Self::unreadable)
    }

    /// The first lines of a stream; see [`crate::output::CapturedOutput::head`].
    ///
    /// # Errors
    /// [`ProcessError::NotFound`], or where the output cannot be read.
    pub fn head(
        &self,
        owner: &Owner,
        id: ProcessId,
        stream: StreamName,
        lines: usize,
        max_bytes: usize,
    ) -> Result<OutputPiece, ProcessError> {
        let process = self.find(owner, id)?;
        process.output(stream).head(lines, max_bytes).map_err(Self::unreadable)
    }
}
