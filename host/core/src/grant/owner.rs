//! Whose processes, terminals and files: what the rooms that own them ask for. Only a
//! checked grant makes one, so that a use that was not checked does not
//! compile.

use serde::{Deserialize, Serialize};

use super::{GrantedProcess, GrantedTerminal, GrantedWorkspace};
use crate::{AssistantId, Context, PluginName, SessionId, TenantId};

/// Whose process: no other tenant, plugin or session ever learns that it is
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Owner {
    /// The tenant that was served.
    pub tenant: TenantId,
    /// The plugin that asked.
    pub plugin: PluginName,
    /// The session in which it asked.
    pub session: SessionId,
}

/// Whose terminal: narrower than the owner of a process, since whoever reads a
/// terminal reads a conversation, and one terminal is what each assistant of a
/// session has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TerminalOwner {
    /// The tenant that was served.
    pub tenant: TenantId,
    /// The plugin that asked.
    pub plugin: PluginName,
    /// The session in which it asked.
    pub session: SessionId,
    /// The assistant that asked, where the call named one.
    pub assistant: Option<AssistantId>,
}

/// Whose workspace: every plugin of a session that may use it shares one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkspaceKey {
    /// The tenant that was served.
    pub tenant: TenantId,
    /// The session.
    pub session: SessionId,
}

impl WorkspaceKey {
    fn of(context: &Context) -> Self {
        Self { tenant: context.tenant.clone(), session: context.session.clone() }
    }

    /// Reads back what names a workspace on disk. Grants nothing: who works on
    /// behalf of a call takes the key from its grant.
    #[must_use]
    pub fn restored(tenant: TenantId, session: SessionId) -> Self {
        Self { tenant, session }
    }
}

impl GrantedProcess<'_> {
    /// The owner of what is started in a call under `context`.
    #[must_use]
    pub fn owner(&self, context: &Context) -> Owner {
        Owner { tenant: context.tenant.clone(), plugin: self.plugin().clone(), session: context.session.clone() }
    }

    /// The workspace in which it runs.
    #[must_use]
    pub fn workspace(&self, context: &Context) -> WorkspaceKey {
        WorkspaceKey::of(context)
    }
}

impl GrantedTerminal<'_> {
    /// The owner of what is started in a call under `context`.
    #[must_use]
    pub fn owner(&self, context: &Context) -> TerminalOwner {
        TerminalOwner {
            tenant: context.tenant.clone(),
            plugin: self.plugin().clone(),
            session: context.session.clone(),
            assistant: context.assistant.clone(),
        }
    }

    /// The workspace in which it runs.
    #[must_use]
    pub fn workspace(&self, context: &Context) -> WorkspaceKey {
        WorkspaceKey::of(context)
    }
}

impl GrantedWorkspace<'_> {
    /// The workspace of a call under `context`.
    #[must_use]
    pub fn key(&self, context: &Context) -> WorkspaceKey {
        WorkspaceKey::of(context)
    }
}
