//! The grants and limits that hold for the pages of a plugin, and what its backend can
//! do.

use wharf_contract::webview::WebViewRules;
use wharf_core::grant::GrantedWebView;

use super::WebViews;

impl WebViews {
    /// The status of the pages of a plugin.
    #[must_use]
    pub fn status(&self, granted: &GrantedWebView<'_>) -> WebViewRules {
        let (grant, limits) = (granted.grant(), &self.core.limits);
        let abilities = self.core.backend.abilities();
        WebViewRules {
            origins: grant.origins.iter().map(|origin| origin.as_str().to_owned()).collect(),
            maximum_pages: grant.maximum_pages.min(limits.pages),
            downloads: grant.downloads,
            uploads: grant.uploads && self.core.settings.staging.is_some(),
            private_addresses: grant.private_addresses,
            backend: self.core.backend.name().to_owned(),
            operations: abilities.operations.into_iter().map(str::to_owned).collect(),
            isolated_world: abilities.isolated_world,
            enforces_origins: abilities.enforces_origins,
            sandbox: abilities.sandbox,
            idle_seconds: limits.idle_seconds,
            request_milliseconds: limits.request_milliseconds,
            maximum_request_milliseconds: limits.request_ceiling_milliseconds,
        }
    }
}
