//! What the operator allows a plugin, and the proofs that it was checked.
//!
//! Everything is denied unless it is named here. Each capability has one
//! method on [`Grants`]; what it returns is the only way to the backend behind
//! it, so an unchecked use does not compile. A later capability adds its field
//! and its method, nothing else.

mod child;
mod denial;
mod expiry;
mod http;
mod owner;
mod process;
mod standing;
mod state;
mod terminal;
mod webview;
mod workspace;

use wharf_contract::state::Scope;

use crate::{Code, Error, PluginName, ScopeKind, request::Secrets};

pub use child::{AllowedCommand, ChildGrant, GrantedChildren};
pub use denial::{Capability, Denials, Denied, Refusal};
pub use expiry::{Expiry, InvalidExpiry};
pub use http::{GrantedHttp, GrantedRequest, HttpGrant};
pub use owner::{Owner, StreamOwner, TerminalOwner, WebViewOwner, WorkspaceKey};
pub use process::{GrantedProcess, ProcessGrant};
use standing::Holder;
pub use standing::{GrantClock, Standing};
use state::default_scope;
pub use state::{GrantedState, StateGrant};
pub use terminal::{GrantedTerminal, TerminalGrant};
pub use webview::{GrantedWebView, WebViewGrant};
pub use workspace::{Access, ExchangeFolder, GrantedWorkspace, WorkspaceGrant};

/// What one plugin may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// Durable state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateGrant>,
    /// Progress and messages to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventsGrant>,
    /// Child processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessGrant>,
    /// Interactive programs in terminals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalGrant>,
    /// Web pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webview: Option<WebViewGrant>,
    /// The files of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceGrant>,
    /// HTTP requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpGrant>,
    /// What the host adds to requests; written elsewhere, and never with these.
    #[serde(skip)]
    pub secrets: Secrets,
    /// The state of the grants, which is never written down.
    #[serde(skip)]
    pub standing: Standing,
}

/// Progress and messages to the caller.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
}

impl EventsGrant {
    /// What this reason grants.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), expires: None }
    }
}

/// Proof that a plugin may send events. The way to a [`StreamOwner`].
#[derive(Debug)]
pub struct GrantedEvents<'g> {
    plugin: &'g PluginName,
}

impl Grants {
    /// Whether anything of this capability is granted, expired or not.
    #[must_use]
    pub fn names(&self, capability: Capability) -> bool {
        match capability {
            Capability::State => self.state.is_some(),
            Capability::Events => self.events.is_some(),
            Capability::Process => self.process.is_some(),
            Capability::Terminal => self.terminal.is_some(),
            Capability::WebView => self.webview.is_some(),
            Capability::Workspace => self.workspace.is_some(),
            Capability::Http => self.http.is_some(),
        }
    }

    /// Checks that `plugin` may open state of this kind.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn state(&self, plugin: &PluginName, kind: ScopeKind) -> Result<GrantedState<'_>, Error> {
        let (grant, holder) =
            self.standing.check(plugin, Capability::State, self.state.as_ref(), |grant| grant.expires.as_ref())?;
        if !grant.scopes.contains(&kind) {
            let kind = kind.as_str();
            let (what, change) =
                (format!("may not open state of scope `{kind}`"), format!("add \"{kind}\" to `scopes`"));
            return Err(holder.beyond(what, change));
        }
        Ok(GrantedState { grant })
    }

    /// The kind of scope that a plugin's word names: `default` is what the
    /// operator chose.
    ///
    /// # Errors
    /// `invalid` where there is none of this name.
    pub fn scope_kind(&self, word: &str) -> Result<ScopeKind, Error> {
        if Scope::find(word) == Some(Scope::Default) {
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
    pub fn events<'g>(&self, plugin: &'g PluginName) -> Result<GrantedEvents<'g>, Error> {
        self.standing
            .check(plugin, Capability::Events, self.events.as_ref(), |grant| grant.expires.as_ref())
            .map(|_| GrantedEvents { plugin })
    }

    /// Checks that `plugin` may have processes at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn process<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedProcess<'g>, Error> {
        let expires = |grant: &'g ProcessGrant| grant.children.expires.as_ref();
        let (grant, holder) = self.standing.check(plugin, Capability::Process, self.process.as_ref(), expires)?;
        Ok(GrantedProcess { grant, children: self.children(holder, &grant.children) })
    }

    /// Checks that `plugin` may have terminals at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn terminal<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedTerminal<'g>, Error> {
        let expires = |grant: &'g TerminalGrant| grant.expires.as_ref();
        let (grant, holder) = self.standing.check(plugin, Capability::Terminal, self.terminal.as_ref(), expires)?;
        Ok(GrantedTerminal(self.children(holder, grant)))
    }

    fn children<'g>(&'g self, holder: Holder<'g>, grant: &'g ChildGrant) -> GrantedChildren<'g> {
        GrantedChildren { holder, grant, workspace: self.workspace.as_ref() }
    }

    /// Checks that `plugin` may have web pages at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn webview<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedWebView<'g>, Error> {
        let (grant, holder) =
            self.standing.check(plugin, Capability::WebView, self.webview.as_ref(), |grant| grant.expires.as_ref())?;
        Ok(GrantedWebView { grant, holder, rules: None })
    }

    /// Checks that `plugin` may use the files of its session.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn workspace<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedWorkspace<'g>, Error> {
        let (grant, holder) = self
            .standing
            .check(plugin, Capability::Workspace, self.workspace.as_ref(), |grant| grant.expires.as_ref())?;
        Ok(GrantedWorkspace { grant, holder })
    }

    /// Checks that `plugin` may send requests at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn http<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedHttp<'g>, Error> {
        let (grant, holder) =
            self.standing.check(plugin, Capability::Http, self.http.as_ref(), |grant| grant.expires.as_ref())?;
        Ok(GrantedHttp { grant, secrets: &self.secrets, holder })
    }
}
