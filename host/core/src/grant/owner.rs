//! Whose processes, terminals, files and streams: what the backends that own them ask for. Only a
//! checked grant makes one, so that a use that was not checked does not
//! compile.

use serde::{Deserialize, Serialize};

use super::{GrantedEvents, GrantedProcess, GrantedTerminal, GrantedWebView, GrantedWorkspace};
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

/// The owner of a terminal. Narrower than the owner of a process, since reading a terminal
/// means reading a conversation, and each assistant of a session has a terminal of its own.
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

/// The owner of a web page. As narrow as the owner of a terminal, since a reader of the
/// page may see what is behind a login.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebViewOwner {
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

    /// Restores the key of a workspace that was found on disk. Grants nothing: code
    /// that works on behalf of a call takes the key from its grant.
    #[must_use]
    pub fn restored(tenant: TenantId, session: SessionId) -> Self {
        Self { tenant, session }
    }
}

/// Whose stream: its plugin alone writes to it, and its session and assistant
/// alone read it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StreamOwner {
    /// The tenant that was served.
    pub tenant: TenantId,
    /// The plugin that writes; `host` for what the host and its app write.
    pub plugin: PluginName,
    /// The session in which it was opened.
    pub session: SessionId,
    /// The assistant for which it was opened.
    pub assistant: Option<AssistantId>,
}

impl StreamOwner {
    /// The owner of a stream of the host's own, opened under `context`.
    #[must_use]
    pub fn host(context: &Context) -> Self {
        Self::of(context, &PluginName::host())
    }

    /// The owner of the stream of something that `plugin` was granted already,
    /// such as a terminal.
    #[must_use]
    pub fn of(context: &Context, plugin: &PluginName) -> Self {
        Self {
            tenant: context.tenant.clone(),
            plugin: plugin.clone(),
            session: context.session.clone(),
            assistant: context.assistant.clone(),
        }
    }

    /// Whether a caller under `context` may read it.
    #[must_use]
    pub fn is_read_by(&self, context: &Context) -> bool {
        self.tenant == context.tenant && self.session == context.session && self.assistant == context.assistant
    }
}

impl GrantedEvents<'_> {
    /// The owner of a stream that is opened in a call under `context`.
    #[must_use]
    pub fn owner(&self, context: &Context) -> StreamOwner {
        StreamOwner::of(context, self.plugin)
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

impl GrantedWebView<'_> {
    /// The owner of what is opened in a call under `context`.
    #[must_use]
    pub fn owner(&self, context: &Context) -> WebViewOwner {
        WebViewOwner {
            tenant: context.tenant.clone(),
            plugin: self.plugin().clone(),
            session: context.session.clone(),
            assistant: context.assistant.clone(),
        }
    }

    /// The workspace to which its downloads go.
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
