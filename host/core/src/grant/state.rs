//! The grant of durable state.

use std::time::Duration;

use super::expiry::Expiry;
use crate::ScopeKind;

/// Durable state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// The scopes that may be opened; all where absent.
    #[serde(default = "all_scopes")]
    pub scopes: Vec<ScopeKind>,
    /// Bytes of keys and values that one bucket may hold.
    #[serde(default = "default_quota_bytes")]
    pub quota_bytes: u64,
    /// Entries that one bucket may hold.
    #[serde(default = "default_quota_entries")]
    pub quota_entries: u64,
    /// What the scope `default` means. It has a place of its own in the
    /// configuration, since it grants nothing.
    #[serde(skip, default = "default_scope")]
    pub default_scope: ScopeKind,
    /// Seconds after which idle thread state expires; 0 for never.
    #[serde(default = "default_thread_expiry")]
    pub thread_expiry_seconds: u64,
    /// Seconds after which idle session state expires; 0 for never.
    #[serde(default = "default_session_expiry")]
    pub session_expiry_seconds: u64,
    /// Seconds after which idle assistant state expires; 0, the default, for
    /// never.
    #[serde(default)]
    pub assistant_expiry_seconds: u64,
    /// Seconds after which idle plugin state expires; 0, the default, for
    /// never.
    #[serde(default)]
    pub plugin_expiry_seconds: u64,
}

fn all_scopes() -> Vec<ScopeKind> {
    ScopeKind::ALL.to_vec()
}
pub(super) fn default_scope() -> ScopeKind {
    ScopeKind::Session
}
fn default_quota_bytes() -> u64 {
    64 << 20
}
fn default_quota_entries() -> u64 {
    100_000
}
fn default_thread_expiry() -> u64 {
    7 * 24 * 3600
}
fn default_session_expiry() -> u64 {
    30 * 24 * 3600
}

impl StateGrant {
    /// State with every default.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            expires: None,
            scopes: all_scopes(),
            quota_bytes: default_quota_bytes(),
            quota_entries: default_quota_entries(),
            default_scope: default_scope(),
            thread_expiry_seconds: default_thread_expiry(),
            session_expiry_seconds: default_session_expiry(),
            assistant_expiry_seconds: 0,
            plugin_expiry_seconds: 0,
        }
    }

    /// After how long without use a scope of this kind expires.
    #[must_use]
    pub fn idle_expiry(&self, kind: ScopeKind) -> Option<Duration> {
        let seconds = match kind {
            ScopeKind::Thread => self.thread_expiry_seconds,
            ScopeKind::Session => self.session_expiry_seconds,
            ScopeKind::Assistant => self.assistant_expiry_seconds,
            ScopeKind::Plugin => self.plugin_expiry_seconds,
        };
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
}

/// Proof that a plugin may use state. The way to a [`crate::ScopeKey`].
#[derive(Debug)]
pub struct GrantedState<'g> {
    pub(super) grant: &'g StateGrant,
}

impl GrantedState<'_> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &StateGrant {
        self.grant
    }
}
