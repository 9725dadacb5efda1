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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) task: Task,
    /// What a control group is to hold the tree to, if one is to be made.
    pub(crate) group: Option<Bounds>,
}

/// What a new supervisor is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A fork of the root.
    Supervise,
    /// A program run by bubblewrap.
    Contain(Contain),
}

/// What a whole tree may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    pub(crate) processes: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

/// A supervisor in bubblewrap, in the order of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contain {
    /// bubblewrap and what stands before the files.
    pub(crate) command: Vec<Vec<u8>>,
    /// Files of the system of which the sandbox gets copies, where they exist.
    pub(crate) copies: Vec<Vec<u8>>,
    /// Files that are the sandbox's own: path and contents.
    pub(crate) made: Vec<(Vec<u8>, Vec<u8>)>,
    /// What stands after the files; the supervisor's program and argument are
    /// put at the end.
    pub(crate) rest: Vec<Vec<u8>>,
    /// The user that bubblewrap is run as, and what that user is shown below
    /// [`STAGE`], each under its number: the way there may be closed to it.
    pub(crate) user: Option<u32>,
    pub(crate) staged: Vec<Vec<u8>>,
}

/// Where the root puts what another user is to be shown, in a mount namespace
/// of that supervisor.
pub(crate) const STAGE: &str = "/tmp";

/// What a child may reach where Landlock contains it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) writable: Vec<Vec<u8>>,
    pub(crate) readable: Vec<Vec<u8>>,
    pub(crate) network: bool,
}

/// What keeps a child in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Walls {
    /// Nothing.
    None,
    /// The sandbox in which the supervisor itself is.
    Around,
    /// What the child gives up before it becomes the program.
    Landlock(Confinement),
}

/// The child to start, in a file of memory that comes with the first packet on
/// its control socket, and with its three streams and what else it has open.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) program: Vec<u8>,
    /// The program's own name included.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Each `NAME=value`.
    pub(crate) environment: Vec<Vec<u8>>,
    pub(crate) working_directory: Vec<u8>,
    pub(crate) limits: Limits,
    /// The numbers of what comes after the streams.
    pub(crate) descriptors: Vec<u32>,
    /// Standard input is a terminal, and is to be the controlling one.
    pub(crate) terminal: bool,
    /// The user that the child becomes; absent where its supervisor is it.
    pub(crate) user: Option<u32>,
    pub(crate) walls: Walls,
}

/// From the host to the supervisor of one child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Start the child; comes with the launch and the streams, maybe long after
    /// the supervisor began.
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
    /// Making or entering the control group that is to bound it.
    Bound,
    /// Before anything of the request was tried.
    Prepare,
    /// Giving up what it is not to reach.
    Confine,
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
