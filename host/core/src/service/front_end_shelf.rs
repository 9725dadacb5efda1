//! Front ends of a cluster: each is connected at one host, and all hosts list its tools.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use super::{RemoteHome, front_end::FrontEndOwner};
use crate::{Error, TenantId, handle::Handle};

/// A front end as it is written down for all hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelvedFrontEnd {
    /// Its handle, which names the host that it is connected at.
    pub id: Handle,
    /// Whose it is.
    pub owner: FrontEndOwner,
    /// What it called itself.
    pub name: String,
    /// Its tools, in words of the one who wrote them.
    pub tools: String,
}

/// On which terms a front end connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectTerms {
    /// Whether it takes the place of one of this name that the same client has connected.
    pub replaces: bool,
    /// The front end of this name that is connected at this host. Any other one that is written
    /// down for this host has ended.
    pub present: Option<Handle>,
    /// Front ends that one client may have.
    pub per_client: u64,
    /// Front ends that one tenant may have.
    pub per_tenant: u64,
}

/// What becomes of a front end that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEndPlace {
    /// It is written down with this change of the shelf.
    Taken(i64),
    /// Another one has the name.
    Named,
    /// The client has as many as it may.
    ClientFull,
    /// The tenant has as many as it may.
    TenantFull,
    /// The other hosts have declared this one dead.
    HostDead,
}

/// Which front ends of a tenant were read: their latest change, and how many they were. No two
/// sets have the same, since each front end that is added has a later change than all before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontEndsVersion {
    /// The latest change.
    pub latest: i64,
    /// How many there are.
    pub count: i64,
}

impl FrontEndsVersion {
    /// That of a tenant whose front ends were never read.
    pub const UNREAD: Self = Self { latest: -1, count: -1 };
}

/// The front ends of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantFrontEnds {
    /// Whose they are.
    pub tenant: TenantId,
    /// Which ones these are.
    pub version: FrontEndsVersion,
    /// By name.
    pub front_ends: Vec<ShelvedFrontEnd>,
}

/// What has changed on the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFrontEnds {
    /// The change of the shelf up to which this holds.
    pub change: i64,
    /// The tenants that have others than were known.
    pub tenants: Vec<TenantFrontEnds>,
}

/// Where the front ends of all hosts are written down. A front end of a host that has ended is no
/// longer there.
#[async_trait]
pub trait FrontEndShelf: Send + Sync + 'static {
    /// Writes a front end down that connects at this host.
    ///
    /// # Errors
    /// `unavailable` where that is not possible now.
    async fn connect(&self, front_end: &ShelvedFrontEnd, terms: ConnectTerms) -> Result<FrontEndPlace, Error>;

    /// Forgets front ends of this host.
    ///
    /// # Errors
    /// `unavailable` where that is not possible now.
    async fn disconnect(&self, ids: &[Handle]) -> Result<(), Error>;

    /// The front ends of those tenants that have others than are known.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now.
    async fn changed(&self, known: &[(TenantId, FrontEndsVersion)]) -> Result<ChangedFrontEnds, Error>;

    /// The last change of the shelf that this host knows of, within a beat. It is 0 where no
    /// front end was ever connected, negative before the first beat, and ends with the host.
    fn changes(&self) -> watch::Receiver<i64>;

    /// The other host that a front end is connected at.
    ///
    /// # Errors
    /// `gone` where that host has ended; `unavailable` where that cannot be found out now.
    async fn host_of(&self, id: &Handle) -> Result<Arc<dyn RemoteHome>, Error>;
}
