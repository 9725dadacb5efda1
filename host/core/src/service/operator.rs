//! What the operator sees of hosts and does there: all of it, of every tenant.
//!
//! No agent reaches this. A transport asks for rights of its own, and everything that tools,
//! programs and pages say is foreign text to whatever shows it.

mod act;
mod configuring;
mod installing;
mod report;
mod request;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::{Error, SessionId, TenantId, audit::Requester};

pub use act::OperatorAct;
pub use configuring::{CapabilityReport, ChangeReport, ConfigurationChange, ConfigurationService, GrantsReport};
pub use installing::{FoundComponent, PluginChange, PluginChangeReport};
pub use report::{
    ApprovalReport, ApprovalRule, BucketReport, BucketsReport, CallReport, ClusterHostReport, ContainmentReport,
    HostReport, PageLookReport, PagePicture, PageReport, PluginLimitReport, PluginLookReport, PluginReport, PollReport,
    ProcessLimitsReport, ProcessLookReport, ProcessOutput, ProcessReport, SessionReport, StateReport, StreamReport,
    TerminalReport, ToolReport, TreeProcessReport, TrialContent, TrialReport, TurnReport,
};
pub use request::{ApprovalAnswer, AuditQuery, OperatorList, OperatorRequest, ProcessStream, StateSelection};

/// A terminal of any owner before the operator. Dropping it ends that, and nothing else.
#[async_trait]
pub trait OperatedTerminal: Send {
    /// What is seen next; nothing once there will be nothing more. Cancel-safe.
    async fn next(&mut self) -> Option<OperatorSees>;
}

/// What the operator sees of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorSees {
    /// The whole screen, for a terminal of this size that has just been reset: first of all, and
    /// again where this viewer was too slow for what came.
    Screen {
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
        /// What draws it.
        text: String,
    },
    /// What came then, with control sequences that only draw.
    Text(String),
    /// It has another size now.
    Resized {
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
    },
}

/// Pieces of a file as it is made; after an error there are no more.
pub type Pieces = mpsc::Receiver<Result<Vec<u8>, Error>>;

/// Hosts, as their operator sees them and acts on them.
#[async_trait]
pub trait OperatorService: Send + Sync + 'static {
    /// Does what is asked: the answer is JSON, of the type that the request names. The audit tells
    /// of what `by` does.
    ///
    /// # Errors
    /// `not-found` for what is not there, or not any more; what the act itself is refused with.
    async fn operate(&self, request: OperatorRequest, by: &Requester) -> Result<Value, Error>;

    /// One terminal, live.
    ///
    /// # Errors
    /// `not-found`; `limit` where too many look at it already.
    async fn attach(&self, terminal: &str) -> Result<Box<dyn OperatedTerminal>, Error>;

    /// The files of a session as a tar, while programs may change them; the audit tells that `by` took
    /// them. Dropping the pieces ends it.
    ///
    /// # Errors
    /// `not-found` where it has none; `limit` where two are being made.
    async fn files(&self, tenant: &TenantId, session: &SessionId, by: &Requester) -> Result<Pieces, Error>;

    /// Tells of each change of the calls that wait for a person at this host; those of others are
    /// seen when they are listed.
    fn approval_changes(&self) -> watch::Receiver<()>;
}
