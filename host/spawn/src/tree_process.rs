//! A process of a child's tree, for people.

use std::time::Duration;

/// A living process of a tree, as the system tells of it. Name and command are the program's
/// own words, which may lie and may hold any character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeProcess {
    /// The system's process id, as the host sees it.
    pub pid: u32,
    /// The process that it is a child of. That of a first process is the supervisor, which is
    /// no member of the tree.
    pub parent: u32,
    /// What it calls itself; 15 bytes at most.
    pub name: String,
    /// Program and arguments, as far as the first 1,024 bytes hold them; empty where the
    /// system does not tell.
    pub command: String,
    /// `running`, `sleeping`, `waiting` (for a device, and not to be interrupted), `stopped`,
    /// or `other`.
    pub state: &'static str,
    /// Its threads.
    pub threads: u32,
    /// Bytes of its memory that are not swapped out, pages that it shares included.
    pub resident_bytes: u64,
    /// For how long it has computed.
    pub computed: Duration,
}
