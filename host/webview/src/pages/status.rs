//! The grants and limits that hold for the pages of a plugin, and what its backend can
//! do.

use serde::Serialize;
use wharf_core::grant::GrantedWebView;

use super::WebViews;

/// The grants and limits that hold for the pages of a plugin, and what its backend can
/// do, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WebViewStatus {
    /// Patterns of origins that pages may reach.
    pub origins: Vec<String>,
    /// Pages that an owner may have at once.
    pub maximum_pages: u64,
    /// Whether downloads are taken.
    pub downloads: bool,
    /// Whether pages may be given files.
    pub uploads: bool,
    /// Whether private addresses may be reached.
    pub private_addresses: bool,
    /// The name of the backend.
    pub backend: &'static str,
    /// The operations beside running a script.
    pub operations: Vec<&'static str>,
    /// Whether a script can be run apart from those of the page.
    pub isolated_world: bool,
    /// Whether pages cannot leave the granted origins by any means.
    pub enforces_origins: bool,
    /// Whether pages run in the sandbox of the browser.
    pub sandbox: bool,
    /// How long a page may be unused.
    pub idle_seconds: u64,
    /// How long a request may take by default.
    pub request_milliseconds: u64,
    /// The longest time that a request may ask for.
    pub maximum_request_milliseconds: u64,
}

impl WebViews {
    /// The status of the pages of a plugin.
    #[must_use]
    pub fn status(&self, granted: &GrantedWebView<'_>) -> WebViewStatus {
        let (grant, limits) = (granted.grant(), &self.core.limits);
        let abilities = self.core.backend.abilities();
        WebViewStatus {
            origins: grant.origins.iter().map(|origin| origin.as_str().to_owned()).collect(),
            maximum_pages: grant.maximum_pages.min(limits.pages),
            downloads: grant.downloads,
            uploads: grant.uploads && self.core.settings.staging.is_some(),
            private_addresses: grant.private_addresses,
            backend: self.core.backend.name(),
            operations: abilities.operations.into_iter().collect(),
            isolated_world: abilities.isolated_world,
            enforces_origins: abilities.enforces_origins,
            sandbox: abilities.sandbox,
            idle_seconds: limits.idle_seconds,
            request_milliseconds: limits.request_milliseconds,
            maximum_request_milliseconds: limits.request_ceiling_milliseconds,
        }
    }
}
