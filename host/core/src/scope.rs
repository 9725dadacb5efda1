//! The part of a context that keys stored state.

use wharf_contract::state::Scope;

use crate::{
    AssistantId, BucketName, Code, Context, Error, PluginName, SessionId, TenantId, ThreadId, grant::GrantedState,
};

/// Which part of the calling context keys a bucket.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// Session, assistant and thread.
    Thread,
    /// Session.
    Session,
    /// Assistant, in all its sessions.
    Assistant,
    /// Every call of the plugin by the tenant.
    Plugin,
}

impl ScopeKind {
    /// All kinds, narrowest first.
    pub const ALL: [Self; 4] = [Self::Thread, Self::Session, Self::Assistant, Self::Plugin];

    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thread => Scope::Thread,
            Self::Session => Scope::Session,
            Self::Assistant => Scope::Assistant,
            Self::Plugin => Scope::Plugin,
        }
        .as_str()
    }

    /// The kind that the contract calls `word`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Names one bucket of state: a tuple, never a joined string, so that no
/// choice of ids makes two buckets meet. An absent id differs from every id.
///
/// Only [`GrantedState`] makes one for a call, from the call's own context.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ScopeKey {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which plugin wrote it.
    pub plugin: PluginName,
    /// Which of the ids below are part of the key.
    pub kind: ScopeKind,
    /// Present for `thread` and `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Present for `assistant`, and for `thread` where the call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant: Option<AssistantId>,
    /// Present for `thread` where the call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Tells buckets of one scope apart.
    pub bucket: BucketName,
}

impl ScopeKey {
    /// The parts by which stores name it: tenant, plugin, kind, session, assistant, thread and
    /// bucket. An absent id is '', which is no legal one.
    #[must_use]
    pub fn parts(&self) -> [&str; 7] {
        [
            self.tenant.as_str(),
            self.plugin.as_str(),
            self.kind.as_str(),
            self.session.as_ref().map_or("", |id| id.as_str()),
            self.assistant.as_ref().map_or("", |id| id.as_str()),
            self.thread.as_ref().map_or("", |id| id.as_str()),
            self.bucket.as_str(),
        ]
    }
}

impl GrantedState<'_> {
    /// The bucket `bucket` of the scope `kind` of `context`.
    ///
    /// # Errors
    /// `invalid` for the scope `assistant` where the call has no assistant.
    pub fn scope(
        &self,
        context: &Context,
        plugin: &PluginName,
        kind: ScopeKind,
        bucket: BucketName,
    ) -> Result<ScopeKey, Error> {
        let (session, assistant, thread) = match kind {
            ScopeKind::Thread => (Some(context.session.clone()), context.assistant.clone(), context.thread.clone()),
            ScopeKind::Session => (Some(context.session.clone()), None, None),
            ScopeKind::Assistant => match &context.assistant {
                Some(assistant) => (None, Some(assistant.clone()), None),
                None => {
                    return Err(Error::new(
                        Code::Invalid,
                        "this call names no assistant, so it has no state of scope `assistant`; use `session`",
                    ));
                }
            },
            ScopeKind::Plugin => (None, None, None),
        };
        Ok(ScopeKey {
            tenant: context.tenant.clone(),
            plugin: plugin.clone(),
            kind,
            session,
            assistant,
            thread,
            bucket,
        })
    }
}
