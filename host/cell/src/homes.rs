//! Which host is the home of a session, as the database says.

use std::time::Duration;

use async_trait::async_trait;
use wharf_core::{SessionId, TenantId};

use crate::{Incarnation, StoreUnavailable};

/// A session of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// Whose.
    pub tenant: TenantId,
    /// Which one.
    pub session: SessionId,
}

/// A host that would be the home of a session.
#[derive(Debug, Clone, Copy)]
pub struct Claimant<'c> {
    /// Its life.
    pub incarnation: Incarnation,
    /// Names the files that it has.
    pub files: &'c str,
    /// How long the mark of a dead home must have stood before another host takes its place: so
    /// long as a host that was taken for dead may need to learn it.
    pub patience: Duration,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The claimant is the home. Each claim counts the epoch on.
    Mine {
        /// Names this tenure.
        epoch: i64,
    },
    /// Another host is, and lives.
    Held {
        /// Its life.
        by: Incarnation,
    },
    /// No host is, and one that lives has files of the session: it should be the home.
    FilesAt {
        /// Its life.
        by: Incarnation,
    },
    /// The home was declared dead a moment ago.
    Dying {
        /// After how long another host may take its place.
        wait: Duration,
    },
    /// The claimant was declared dead itself.
    ClaimantDead,
}

/// What the home of a session knows of the session's files in its own data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesHere {
    /// They are as this host left them, perhaps long ago.
    AsTheyWere,
    /// This host has just removed them.
    Removed,
}

/// What became of the files of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesUse {
    /// The home keeps files of the session from now on.
    Kept,
    /// Another host had the latest, and they are lost: the home has to remove what it may have of
    /// earlier ones first.
    Lost,
    /// The host is not the home any more.
    NotHome,
}

/// The homes of the sessions of a cell. Each change is a compare-and-swap in the database.
#[async_trait]
pub trait Homes: Send + Sync + 'static {
    /// Makes the claimant the home of a session that has none, or whose home is dead.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn claim(&self, session: &SessionKey, claimant: Claimant<'_>) -> Result<Claim, StoreUnavailable>;

    /// Enters that the home keeps files of a session from now on. Where files were lost, it enters
    /// nothing before the home has removed those that it may have of an earlier time.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn use_files(
        &self,
        session: &SessionKey,
        incarnation: Incarnation,
        here: FilesHere,
    ) -> Result<FilesUse, StoreUnavailable>;

    /// Gives up tenures: each where its epoch is still this one.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn release(&self, tenures: &[(SessionKey, i64)], incarnation: Incarnation) -> Result<(), StoreUnavailable>;
}
