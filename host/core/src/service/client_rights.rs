//! What a client that calls over HTTP may do, and what it is served. Knows no token.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::AllowedPlugins;
use crate::{ContextRules, Quota, TenantId, tool::ToolSelection};

/// The client of a request that one host passes on to another one, which has not seen its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassedClient {
    /// The name of a token of the operator's.
    Named(String),
    /// The tenant of a token that an authorization server issued.
    Issued(TenantId),
}

/// What the operator lets a client do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientRights {
    /// Patterns of the names of plugins of which it sees anything, in which `*` stands
    /// for any text; all where absent. `host` stands for the routes of
    /// terminals and streams.
    pub plugins: Option<Vec<String>>,
    /// Which of their tools it sees, by the names under which they are listed.
    pub tools: ToolSelection,
    /// Whether it may read the metrics, which are of all tenants.
    pub metrics: bool,
    /// Lower than the limit of the same name.
    pub requests_per_second: Option<u64>,
    /// Requests of the protocol at once, lower than the limit `calls_per_client`.
    pub calls: Option<u64>,
    /// Whether it may connect front ends, whose tools its whole tenant sees.
    pub front_ends: bool,
    /// Whether it sees and steers all that the host does, for all tenants: the routes of the operator.
    pub operator: bool,
    /// Whether it is a middleware that writes the context fields in arguments itself,
    /// and that no model reaches past.
    pub trusted_middleware: bool,
}

/// What one client of the protocol is served, and within which bounds.
pub struct ProtocolClient {
    /// Who it is, at whichever host.
    pub client: PassedClient,
    /// The plugins of which it may use anything; all where absent.
    pub plugins: Option<AllowedPlugins>,
    /// How the contexts of its requests are made.
    pub rules: ContextRules,
    /// Requests at once, lower than the limit `calls_per_client`.
    pub calls: Option<u64>,
    /// Places for requests that follow something, which other routes take, too.
    pub readers: Arc<Quota>,
    /// Fires when the host stops: streams that nobody waits for end then.
    pub stopping: CancellationToken,
    /// Fires when all ends.
    pub killed: CancellationToken,
}

impl ClientRights {
    /// All plugins and their tools, and nothing of other clients or tenants: no metrics and no front ends.
    #[must_use]
    pub fn tools_alone() -> Self {
        Self {
            plugins: None,
            tools: ToolSelection::default(),
            metrics: false,
            requests_per_second: None,
            calls: None,
            front_ends: false,
            operator: false,
            trusted_middleware: false,
        }
    }

    /// Everything that an agent may do, with arguments that a model writes.
    #[must_use]
    pub fn everything() -> Self {
        Self { metrics: true, front_ends: true, ..Self::tools_alone() }
    }

    /// What a person may do who operates the host, and no tool.
    #[must_use]
    pub fn of_operator() -> Self {
        Self { plugins: Some(Vec::new()), metrics: true, operator: true, ..Self::tools_alone() }
    }
}
