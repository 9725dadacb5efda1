//! The plugins that all hosts of a cell have.

use async_trait::async_trait;
use wharf_core::Digest;

use crate::StoreUnavailable;

/// What is installed at all hosts of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShelvedSet {
    /// How often it was written; 0 where it never was.
    pub revision: i64,
    /// What is installed, in words that the shelf does not read. Empty where it was never written.
    pub text: String,
}

/// The plugins that all hosts of a cell have: one text that says what is installed, and the
/// components that it names.
#[async_trait]
pub trait PluginShelf: Send + Sync + 'static {
    /// What is installed.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn installed(&self) -> Result<ShelvedSet, StoreUnavailable>;

    /// Writes what is installed, where nobody has written since `expected` and every component of
    /// `named` is there. Whether it was written. What is named no more is removed, in an hour.
    ///
    /// # Errors
    /// Where the database does not answer: then nobody knows whether it was written.
    async fn install(&self, expected: i64, text: &str, named: &[Digest]) -> Result<bool, StoreUnavailable>;

    /// Keeps a component, so that it can be named.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn keep_component(&self, digest: &Digest, component: &[u8]) -> Result<(), StoreUnavailable>;

    /// A component; nothing where it is not there, or is longer than `limit` bytes. Its digest is
    /// the reader's to check.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn component(&self, digest: &Digest, limit: u64) -> Result<Option<Vec<u8>>, StoreUnavailable>;
}
