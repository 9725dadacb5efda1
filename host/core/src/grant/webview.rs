//! The grant of web pages: which origins, how many pages, and what comes in and
//! goes out.

use std::sync::Arc;

use super::{expiry::Expiry, standing::Holder};
use crate::{
    Error, PluginName,
    origin::{OriginPattern, OriginPolicy, OriginRules},
};

/// Web pages.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebViewGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Origins that pages may reach: `https://example.com`,
    /// `http://localhost:8080`, `https://*.example.com` (its subdomains), `*` for
    /// all of `http` and `https`.
    #[serde(default)]
    pub origins: Vec<OriginPattern>,
    /// Pages at once of one session and assistant.
    #[serde(default = "default_pages")]
    #[schemars(range(min = 1))]
    pub maximum_pages: u64,
    /// Whether what pages download goes to the workspace of the session. Without
    /// it, downloads are refused.
    #[serde(default)]
    pub downloads: bool,
    /// Whether pages may be given files of the workspace.
    #[serde(default)]
    pub uploads: bool,
    /// Whether pages reach private addresses: the loopback, link-local and private
    /// networks. Origins have to name them all the same.
    #[serde(default)]
    pub private_addresses: bool,
}

fn default_pages() -> u64 {
    4
}

impl WebViewGrant {
    /// No origin, and every other default.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            expires: None,
            origins: Vec::new(),
            maximum_pages: default_pages(),
            downloads: false,
            uploads: false,
            private_addresses: false,
        }
    }
}

/// Proof that a plugin may have web pages. The way to a
/// [`super::WebViewOwner`].
#[derive(Debug)]
pub struct GrantedWebView<'g> {
    pub(super) grant: &'g WebViewGrant,
    pub(super) holder: Holder<'g>,
    /// What of it a person has to allow, too.
    pub(super) rules: Option<Arc<dyn OriginRules>>,
}

impl GrantedWebView<'_> {
    /// The same where a person has to allow the origins that these rules name: a page reaches them after
    /// [`OriginPolicy::let_through`] alone.
    #[must_use]
    pub fn asking(self, rules: Arc<dyn OriginRules>) -> Self {
        Self { rules: Some(rules), ..self }
    }

    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &WebViewGrant {
        self.grant
    }

    pub(super) fn plugin(&self) -> &PluginName {
        self.holder.plugin
    }

    /// Checks that pages may be given files of the workspace.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn uploads(&self) -> Result<(), Error> {
        if self.grant.uploads {
            return Ok(());
        }
        Err(self.holder.beyond("may not give files to pages".to_owned(), "set `uploads = true`".to_owned()))
    }

    /// Where its pages may go.
    #[must_use]
    pub fn policy(&self) -> Arc<OriginPolicy> {
        let (standing, expires) = self.holder.kept();
        let Self { grant: WebViewGrant { origins, private_addresses, .. }, holder, .. } = self;
        let policy = OriginPolicy::new(holder.plugin.clone(), origins.clone(), *private_addresses);
        let policy = policy.under(standing, expires);
        Arc::new(match &self.rules {
            Some(rules) => policy.guarded(Arc::clone(rules)),
            None => policy,
        })
    }
}
