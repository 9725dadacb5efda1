//! Who belongs to a cell, as its database says.

use async_trait::async_trait;

use crate::{Incarnation, StoreUnavailable};

/// A host that joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMember {
    /// The life that begins.
    pub incarnation: Incarnation,
    /// The name of the cell: the database belongs to one.
    pub cell: String,
    /// The name of the host, for people.
    pub host: String,
    /// Where the other hosts reach it.
    pub address: String,
    /// Names the files that it has: those of its data directory, or a mount that all hosts share.
    pub files: String,
    /// The version of the program.
    pub version: String,
}

/// What a host says of itself with each beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostReport {
    /// Sessions whose home it is.
    pub sessions: u64,
    /// Calls that run.
    pub calls: u64,
    /// Whether the host itself takes no further session, since it is about to end.
    pub is_ending: bool,
    /// Batches of changes that it has told the other hosts in this life.
    pub told: u64,
}

/// What a beat brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// The host lives.
    Alive {
        /// Changes with each change of the members.
        revision: i64,
        /// Changes with each change of what is installed: see [`PluginShelf`](crate::PluginShelf).
        plugins: i64,
        /// Changes with each change of the front ends that are connected: see
        /// [`FrontEnds`](crate::FrontEnds). 0 where none ever was.
        front_ends: i64,
        /// The operator wants this host to take no further session.
        is_draining: bool,
    },
    /// The other hosts have declared it dead: this life is over.
    Dead,
}

/// A host, as the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRecord {
    /// Its life.
    pub incarnation: Incarnation,
    /// Its name.
    pub host: String,
    /// Where the other hosts reach it.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// How often it has beaten.
    pub beat: i64,
    /// Milliseconds since its last beat, by the clock of the database.
    pub silent_milliseconds: i64,
    /// Whether it takes no further session.
    pub is_draining: bool,
    /// Whether it was declared dead.
    pub is_dead: bool,
    /// What it said with its last beat.
    pub report: HostReport,
}

/// A host that has not beaten for so long is told of as silent, in milliseconds.
const SILENT: i64 = 3_000;

impl HostRecord {
    /// How it is, in a word: `alive`, `draining`, `silent` or `dead`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match (self.is_dead, self.is_draining) {
            (true, _) => "dead",
            _ if self.silent_milliseconds >= SILENT => "silent",
            (_, true) => "draining",
            _ => "alive",
        }
    }
}

/// Why a host may not join.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinRefused {
    /// The database belongs to another cell.
    #[error(
        "the database belongs to the cell `{found}`, and this host is of `{cell}`: set [cluster] `name`, or give this cell a database of its own"
    )]
    OtherCell {
        /// The cell of the database.
        found: String,
        /// The cell of the host.
        cell: String,
    },
    /// Another life has this number.
    #[error("another host has the same incarnation; start this one again")]
    Taken,
}

/// The members of a cell. Each change is a compare-and-swap in the database.
#[async_trait]
pub trait Members: Send + Sync + 'static {
    /// Enters a host. Earlier lives with its address have ended: it listens there now.
    ///
    /// # Errors
    /// Where the database does not answer. It answers a refusal with the inner error.
    async fn join(&self, member: &NewMember) -> Result<Result<(), JoinRefused>, StoreUnavailable>;

    /// Says that a host lives.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn beat(&self, incarnation: Incarnation, report: HostReport) -> Result<Beat, StoreUnavailable>;

    /// The hosts that live, and those that died within the last hour.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn list(&self) -> Result<Vec<HostRecord>, StoreUnavailable>;

    /// Declares a host dead that has not beaten since `beat`. Whether it is dead now.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn declare_dead(&self, incarnation: Incarnation, beat: i64) -> Result<bool, StoreUnavailable>;

    /// Has a host take no further session, or take some again. Whether one of this name lives.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn drain(&self, host: &str, is_draining: bool) -> Result<bool, StoreUnavailable>;

    /// Takes a host out that ends in order: its sessions are free at once.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn leave(&self, incarnation: Incarnation) -> Result<(), StoreUnavailable>;
}
