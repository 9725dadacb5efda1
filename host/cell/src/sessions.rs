//! Sessions of the protocol of 2025-11-25 that another host goes on with.

use async_trait::async_trait;
use wharf_core::{Digest, handle::Handle, service::ShelvedSession};

use crate::{Incarnation, StoreUnavailable};

/// What a session is called in the database: a digest of its id, which is half of what a client
/// proves itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionName(Digest);

impl SessionName {
    /// That of a session with this id.
    #[must_use]
    pub fn of(id: &Handle) -> Self {
        Self(Digest::of(id.to_string().as_bytes()))
    }

    /// 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }
}

/// The sessions of the protocol, each with the host that goes on with it. Each change is a
/// compare-and-swap in the database.
#[async_trait]
pub trait ProtocolSessions: Send + Sync + 'static {
    /// Writes down a session that has begun on a host.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn begin(
        &self,
        name: &SessionName,
        session: &ShelvedSession,
        host: Incarnation,
    ) -> Result<(), StoreUnavailable>;

    /// The host that goes on with a session: the one that has it, while that lives, and else this
    /// one from now on. Nothing where there is no such session, or this host was declared dead.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn adopt(&self, name: &SessionName, host: Incarnation) -> Result<Option<Incarnation>, StoreUnavailable>;

    /// What is written of a session that this host has.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn read(&self, name: &SessionName, host: Incarnation) -> Result<Option<ShelvedSession>, StoreUnavailable>;

    /// Writes down what the client of a session has set, where this host has the session.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn set(&self, name: &SessionName, settings: &str, host: Incarnation) -> Result<(), StoreUnavailable>;

    /// Forgets a session that this host has. Whether it had it.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn end(&self, name: &SessionName, host: Incarnation) -> Result<bool, StoreUnavailable>;
}
