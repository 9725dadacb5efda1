//! What is told of processes.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A process.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessReport {
    /// Its handle.
    pub id: String,
    /// Whose it is.
    pub tenant: String,
    /// The plugin that started it.
    pub plugin: String,
    /// In which session.
    pub session: String,
    /// What was started.
    pub command: String,
    /// `starting`, `running`, `finished`, `failed`, `killed`.
    pub status: String,
    /// The system's id of its leader.
    pub pid: Option<u32>,
    /// When it was asked for.
    pub started: String,
    /// When it ended.
    pub finished: Option<String>,
    /// How it ended.
    pub exit: Option<Value>,
    /// Why the host ended it, in words.
    pub reason: Option<String>,
    /// Descendants that live after its leader.
    pub descendants: Option<u32>,
    /// Bytes that it has printed.
    pub stdout_bytes: u64,
    /// Bytes that it has printed as errors.
    pub stderr_bytes: u64,
    /// How it was polled.
    pub polls: PollReport,
}

/// How something was polled: the words of the contract.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PollReport(pub Value);

/// A piece of what a process has printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProcessOutput {
    /// The cursor of its first byte.
    pub from: u64,
    /// The cursor behind its last byte.
    pub next: u64,
    /// The text; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// A process with what it may use up and reach, and all that runs of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessLookReport {
    /// The process.
    pub process: ProcessReport,
    /// What it may use up; absent for one of an earlier host.
    pub limits: Option<ProcessLimitsReport>,
    /// What it may reach; absent for one of an earlier host.
    pub containment: Option<ContainmentReport>,
    /// What runs of it, the first 200 by process id; absent where the system does not tell within
    /// half a second.
    pub tree: Option<Vec<TreeProcessReport>>,
}

/// What a process may use up. An absent number is the system's own; all but `processes` count for
/// each process of its tree by itself, and memory for the whole tree where control groups count it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProcessLimitsReport {
    /// Seconds that it may run.
    pub seconds: u64,
    /// Seconds for which it may print nothing.
    pub silence_seconds: Option<u64>,
    /// Seconds of computing.
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size_bytes: Option<u64>,
}

/// What a process may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContainmentReport {
    /// `namespaces` or `landlock`; `none` where the operator gave containment up, and absent until it
    /// runs.
    pub mechanism: Option<String>,
    /// Whether it has the network of the host.
    pub network: bool,
    /// The user that it is, where it is not that of the host.
    pub user: Option<u32>,
    /// Paths of the host that it reads and writes. With the mechanism `none`, these and those below
    /// are empty: it reaches all that its user may.
    pub writable: Vec<String>,
    /// Paths of the host that it reads, beside programs and libraries of the system.
    pub readable: Vec<String>,
}

/// A process of a tree. Name and command are its own words, which may lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TreeProcessReport {
    /// The system's process id.
    pub pid: u32,
    /// The process that it is a child of; the first ones are children of the host's supervisor.
    pub parent: u32,
    /// What it calls itself.
    pub name: String,
    /// Program and arguments, the first 1,024 bytes of them.
    pub command: String,
    /// `running`, `sleeping`, `waiting`, `stopped` or `other`.
    pub state: String,
    /// Its threads.
    pub threads: u32,
    /// Bytes of memory that it holds, shared ones included.
    pub resident_bytes: u64,
    /// Milliseconds that it has computed.
    pub cpu_milliseconds: u64,
}
