//! The front ends that are connected at the hosts of a cell.

use async_trait::async_trait;
use wharf_core::{
    TenantId,
    handle::Handle,
    service::{ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndsVersion, ShelvedFrontEnd},
};

use crate::{Incarnation, StoreUnavailable};

/// The front ends of all hosts, each with the host that it is connected at. What a host had is gone
/// with it. Each change is a compare-and-swap in the database.
#[async_trait]
pub trait FrontEnds: Send + Sync + 'static {
    /// Writes a front end down that connects at a host.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn connect(
        &self,
        front_end: &ShelvedFrontEnd,
        terms: ConnectTerms,
        host: Incarnation,
    ) -> Result<FrontEndPlace, StoreUnavailable>;

    /// Forgets front ends of a host.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn disconnect(&self, ids: &[Handle], host: Incarnation) -> Result<(), StoreUnavailable>;

    /// The front ends of those tenants that have others than are known, and the change up to which
    /// that holds.
    ///
    /// # Errors
    /// Where the database does not answer.
    async fn changed(&self, known: &[(TenantId, FrontEndsVersion)]) -> Result<ChangedFrontEnds, StoreUnavailable>;
}
