//! What the operator allows a plugin, and the proofs that it was checked.
//!
//! Everything is denied unless it is named here. Each capability has one
//! method on [`Grants`]; what it returns is the only way to the room behind
//! it, so an unchecked use does not compile. A later capability adds its field
//! and its method, nothing else.

use std::time::Duration;

use crate::{Code, Error, PluginName, ScopeKind};

/// What one plugin may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// Durable state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateGrant>,
    /// Progress and messages to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventsGrant>,
}

/// Durable state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateGrant {
    /// Why, for whoever reads the configuration later.
    pub reason: String,
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
fn default_scope() -> ScopeKind {
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

/// Progress and messages to the caller.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsGrant {
    /// Why, for whoever reads the configuration later.
    pub reason: String,
}

/// Proof that a plugin may use state. The way to a [`crate::ScopeKey`].
#[derive(Debug)]
pub struct GrantedState<'g> {
    grant: &'g StateGrant,
}

impl GrantedState<'_> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &StateGrant {
        self.grant
    }
}

/// Proof that a plugin may send events.
#[derive(Debug)]
pub struct GrantedEvents(());

impl Grants {
    /// Checks that `plugin` may open state of this kind.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn state(&self, plugin: &PluginName, kind: ScopeKind) -> Result<GrantedState<'_>, Error> {
        let Some(grant) = &self.state else {
            return Err(denied(plugin, "state"));
        };
        if !grant.scopes.contains(&kind) {
            return Err(Error::new(
                Code::Denied,
                format!(
                    "plugin `{plugin}` may not open state of scope `{0}`; to allow it, add \"{0}\" to `scopes` under \
                     [plugin.{plugin}.grants.state] in wharf.toml",
                    kind.as_str()
                ),
            ));
        }
        Ok(GrantedState { grant })
    }

    /// The kind of scope that a plugin's word names: `default` is what the
    /// operator chose.
    ///
    /// # Errors
    /// `invalid` where there is none of this name.
    pub fn scope_kind(&self, word: &str) -> Result<ScopeKind, Error> {
        if word == "default" {
            return Ok(self.state.as_ref().map_or_else(default_scope, |grant| grant.default_scope));
        }
        ScopeKind::from_word(word).ok_or_else(|| {
            Error::new(Code::Invalid, "`scope` must be `thread`, `session`, `assistant`, `plugin` or `default`")
        })
    }

    /// Checks that `plugin` may send events to its caller.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn events(&self, plugin: &PluginName) -> Result<GrantedEvents, Error> {
        if self.events.is_some() { Ok(GrantedEvents(())) } else { Err(denied(plugin, "events")) }
    }
}

fn denied(plugin: &PluginName, capability: &str) -> Error {
    Error::new(
        Code::Denied,
        format!(
            "plugin `{plugin}` is not granted `{capability}`; to allow it, add [plugin.{plugin}.grants.{capability}] \
             with `reason = \"…\"` to wharf.toml"
        ),
    )
}
