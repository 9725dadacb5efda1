//! [`Processes`]: child processes of the host, as a tool sees them.
//!
//! What a launch and a wait ask for is in `request`, what the host says of a
//! process in `report`. Processes run in the host only: natively, under
//! [`crate::testing`], every function answers `unavailable`.

pub(crate) mod report;
pub(crate) mod request;

use std::time::Duration;

pub use wharf_contract::process::ProcessRules;

use crate::host::{ActiveHost, HostProcesses};
use crate::{Call, ToolError};

pub use report::{
    Advice, Outcome, OutcomeKind, Piece, PollIntervals, PollStatistics, Polled, ProcessInfo, Status, StreamProgress,
    WaitReason, Waited,
};
pub use request::{Condition, Launch, Position, Signal, Stream};

/// The processes of tenant, plugin and session of a call.
///
/// Every function may also fail with `denied` where something is not granted,
/// with the line of configuration that would allow it, and with `unavailable`
/// where the host's disk or the system refused. Those that take an id answer
/// `not-found` for one that names no process of this owner.
///
/// [`Processes::wait`] is better than [`Processes::poll`]: it blocks until
/// something happened, and is never counted.
#[derive(Debug, Clone, Copy)]
pub struct Processes<'call> {
    host: &'call ActiveHost,
}

impl Call {
    /// The processes of this session.
    #[must_use]
    pub fn processes(&self) -> Processes<'_> {
        Processes { host: &self.host }
    }
}

impl Processes<'_> {
    /// What holds for processes here.
    ///
    /// # Errors
    /// `internal` where the host says something else than it promises.
    pub fn rules(&self) -> Result<ProcessRules, ToolError> {
        Ok(serde_json::from_str(&self.host.process_status()?)?)
    }

    /// Starts a program with arguments, without a shell, and returns its id
    /// once it runs.
    ///
    /// # Errors
    /// `denied` where the grant does not name the program; `limit` (retryable)
    /// where as many run as may; `invalid` where it cannot be run or something
    /// is malformed.
    pub fn spawn(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<String, ToolError> {
        self.host.spawn(program, arguments, launch)
    }

    /// Hands a text to the system's shell, untouched.
    ///
    /// # Errors
    /// As [`Processes::spawn`], and `denied` where no shell is granted.
    pub fn spawn_shell(&self, command: &str, launch: &Launch) -> Result<String, ToolError> {
        self.host.spawn_shell(command, launch)
    }

    /// All processes of this owner, in the order in which they were started,
    /// ended ones as long as they are kept. Counts as no poll.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn list(&self) -> Result<Vec<ProcessInfo>, ToolError> {
        self.host.list_processes()
    }

    /// How a process does, with the last `lines` lines of each stream in at
    /// most `max_bytes` (1 MiB at most) each. Counts as a poll.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn poll(&self, id: &str, lines: u32, max_bytes: u32) -> Result<Polled, ToolError> {
        self.host.poll(id, lines, max_bytes)
    }

    /// Waits until something of `condition` happens, at most so long. Ends
    /// shortly before the call does, too, as [`WaitReason::TimeUp`].
    ///
    /// # Errors
    /// `invalid` for a pattern that is too long or malformed.
    pub fn wait(&self, id: &str, condition: &Condition, longest: Duration) -> Result<Waited, ToolError> {
        self.host.wait(id, condition, milliseconds(longest))
    }

    /// At most `max_bytes` (1 MiB at most) of a stream from a place on. A
    /// character is never split between one read and the next.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn read(&self, id: &str, from: Position, max_bytes: u32) -> Result<Piece, ToolError> {
        self.host.read(id, from, max_bytes)
    }

    /// The first lines that are kept, in at most `max_bytes` (1 MiB at most).
    ///
    /// # Errors
    /// Only those of every function.
    pub fn head(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError> {
        self.host.head(id, stream, lines, max_bytes)
    }

    /// The last lines, in at most `max_bytes` (1 MiB at most); where these are
    /// too few, the last bytes of them.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn tail(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError> {
        self.host.tail(id, stream, lines, max_bytes)
    }

    /// Writes to the standard input and returns how many bytes it took within
    /// the time: fewer than given where it does not read.
    ///
    /// # Errors
    /// `gone` where it is closed, was never open, or nobody reads it.
    pub fn write(&self, id: &str, data: &[u8], longest: Duration) -> Result<u64, ToolError> {
        self.host.write(id, data, milliseconds(longest))
    }

    /// Closes the standard input, once what is being written to it is written.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn close_input(&self, id: &str) -> Result<(), ToolError> {
        self.host.close_input(id)
    }

    /// Sends a signal to the process group.
    ///
    /// # Errors
    /// `gone` where it has ended.
    pub fn signal(&self, id: &str, signal: Signal) -> Result<(), ToolError> {
        self.host.signal(id, signal)
    }

    /// Ends a process and everything that descends from it: it is asked to, and
    /// killed once `grace` (a minute at most) is over. Returns how it is then.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn stop(&self, id: &str, grace: Duration) -> Result<ProcessInfo, ToolError> {
        self.host.stop(id, milliseconds(grace))
    }
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
