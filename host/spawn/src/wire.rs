//! What the host and the supervisors tell each other, each message one packet
//! of bounded length. Both are the same program, so the form needs no version.
//!
//! Knows nothing of how packets travel.

use serde::{Deserialize, Serialize};

use crate::{Limits, Signal};

/// The longest packet that is sent; longer things travel in a file.
pub(crate) const MAX_PACKET_BYTES: usize = 32 * 1024;

/// From the host to the root of the supervisors; comes with the control socket
/// of the new child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Charge {
    /// Fork a supervisor.
    Supervise,
    /// Fork, and become this command, which runs a supervisor in a sandbox. The
    /// supervisor's own program and argument are put at the end.
    Contain { command: Vec<Vec<u8>> },
}

/// The child to start, in a file of memory that comes with the first packet on
/// its control socket, and with its three streams.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) program: Vec<u8>,
    /// The program's own name included.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Each `NAME=value`.
    pub(crate) environment: Vec<Vec<u8>>,
    pub(crate) working_directory: Vec<u8>,
    pub(crate) limits: Limits,
}

/// From the host to the supervisor of one child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Start the child; comes with the launch and the streams.
    Launch,
    /// Send a signal to the child's group.
    Signal(Signal),
    /// End the tree: politely, and what is left after the time by force.
    Stop { grace_milliseconds: u64 },
    /// Say how many descendants live.
    Count,
}

/// From the supervisor to the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// Sent by the child itself, just before it becomes the program: the
    /// system puts its process id beside it, as the host sees it.
    Starting,
    /// It is the program now.
    Started,
    /// It could not be started.
    Failed { step: Step, errno: i32 },
    /// The program ended.
    Ended { how: How, descendants: u32 },
    /// This many processes live beside the program itself.
    Descendants(u32),
    /// Nothing of the tree is left; the last packet.
    Gone,
}

/// Where a start failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Before anything of the request was tried.
    Prepare,
    /// Entering the working directory.
    Enter,
    /// Becoming the program.
    Execute,
}

/// How a process ended, as the system says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    Exited(i32),
    Signaled(i32),
}
