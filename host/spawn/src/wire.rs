//! The messages between the host and the supervisors, each one packet
//! of bounded length. Both sides are the same program, so the format needs no version.
//!
//! Knows nothing of how packets travel.

use serde::{Deserialize, Serialize};

use crate::{ChildLimits, Signal};

/// The longest packet; longer messages travel in a file.
pub(crate) const MAX_PACKET_BYTES: usize = 32 * 1024;

/// The supervisor that the host orders from the root; comes with the control socket
/// of the new child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SupervisorSpec {
    pub(crate) task: SupervisorTask,
    /// Bounds of a control group for the tree, where it gets one.
    pub(crate) group: Option<TreeBounds>,
}

/// The task of a new supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SupervisorTask {
    /// A fork of the root.
    Supervise,
    /// A fork of the root in the namespaces of a sandbox.
    Contain {
        /// Whether it has the host's network.
        network: bool,
    },
}

/// Limits of a whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeBounds {
    pub(crate) processes: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

/// What the sandbox of one child has beside what all have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxView {
    /// Files and directories beside the system's own, each as the host and as the child
    /// names it.
    pub(crate) readable: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) writable: Vec<(Vec<u8>, Vec<u8>)>,
    /// Its user; absent for the host's own.
    pub(crate) user: Option<u32>,
    /// The home of that user, as the child names it.
    pub(crate) home: Vec<u8>,
}

/// The paths and the network that Landlock leaves to a child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LandlockRules {
    pub(crate) writable: Vec<Vec<u8>>,
    pub(crate) readable: Vec<Vec<u8>>,
    pub(crate) network: bool,
}

/// The enclosure of a child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Enclosure {
    /// None.
    None,
    /// The sandbox around its supervisor, which enters it with this view.
    Around(SandboxView),
    /// Landlock, which the child enters before it becomes the program.
    Landlock(LandlockRules),
    /// The files of this view alone, by as much of Landlock as there is; the child contains others itself.
    Files(LandlockRules),
}

/// The child to start, in a file of memory that comes with the first packet on
/// its control socket, together with its three streams and further descriptors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChildLaunch {
    pub(crate) program: Vec<u8>,
    /// The program's own name included.
    pub(crate) arguments: Vec<Vec<u8>>,
    /// Each `NAME=value`.
    pub(crate) environment: Vec<Vec<u8>>,
    pub(crate) working_directory: Vec<u8>,
    pub(crate) limits: ChildLimits,
    /// The numbers of the descriptors after the streams.
    pub(crate) descriptors: Vec<u32>,
    /// Standard input is a terminal, which becomes the controlling one.
    pub(crate) terminal: bool,
    /// The user that the child becomes; absent where it keeps its supervisor's.
    pub(crate) user: Option<u32>,
    pub(crate) enclosure: Enclosure,
}

/// From the host to the supervisor of one child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SupervisorOrder {
    /// Start the child; comes with the launch and the streams, possibly long after
    /// the supervisor began.
    Launch,
    /// Send a signal to the child's group.
    Signal(Signal),
    /// End the tree: by SIGTERM, and after this time by SIGKILL.
    Stop { grace_milliseconds: u64 },
    /// Count the living descendants.
    Count,
}

/// From the supervisor to the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SupervisorReport {
    /// Sent by the child itself, just before it becomes the program: the
    /// system puts its process id beside it, as the host sees it.
    Starting,
    /// The child is the program now.
    Started,
    /// The sandbox could not be made.
    NoSandbox(SandboxFailure),
    /// The child could not be started.
    Failed { step: StartStep, errno: i32 },
    /// The program ended.
    Ended { status: WaitStatus, descendants: u32 },
    /// The number of living processes beside the program itself.
    Descendants(u32),
    /// The whole tree has ended; the last packet.
    Gone,
}

/// Why a sandbox could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxFailure {
    /// The step and the system's reason, for people.
    pub(crate) why: String,
    /// Whether this machine does not let the host's user take the step, for any child.
    pub(crate) forbidden: bool,
}

/// The step of a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StartStep {
    /// Making or entering its control group.
    Bound,
    /// A step before those of the request.
    Prepare,
    /// Entering its enclosure.
    Confine,
    /// Entering the working directory.
    Enter,
    /// Becoming the program.
    Execute,
}

/// How a process ended, as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WaitStatus {
    Exited(i32),
    Signaled(i32),
}
