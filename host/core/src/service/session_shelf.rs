//! Sessions of the protocol of 2025-11-25 that outlive their hosts.

use async_trait::async_trait;

use crate::{Error, handle::Handle};

/// A session as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelvedSession {
    /// Whose it is, in words of the one who wrote it.
    pub owner: String,
    /// The parameters of its `initialize`, as JSON.
    pub parameters: String,
    /// What its client has set since, in words of the one who wrote it; empty at first.
    pub settings: String,
}

/// Where sessions of the protocol of 2025-11-25 are written down, so that another host goes on
/// with those of a host that has ended.
#[async_trait]
pub trait SessionShelf: Send + Sync + 'static {
    /// Writes down a session that has begun here.
    ///
    /// # Errors
    /// `unavailable` where that is not possible now.
    async fn begun(&self, id: &Handle, session: ShelvedSession) -> Result<(), Error>;

    /// A session that this host goes on with; nothing where it is none of its own.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now.
    async fn taken_over(&self, id: &Handle) -> Result<Option<ShelvedSession>, Error>;

    /// Writes down what the client of a session of this host has set.
    ///
    /// # Errors
    /// `unavailable` where that is not possible now.
    async fn set(&self, id: &Handle, settings: &str) -> Result<(), Error>;

    /// Forgets a session that has ended here. Whether it was one of this host's.
    ///
    /// # Errors
    /// `unavailable` where that is not possible now.
    async fn ended(&self, id: &Handle) -> Result<bool, Error>;
}
