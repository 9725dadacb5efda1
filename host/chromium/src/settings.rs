//! How the browser is run.

use std::{path::PathBuf, sync::Arc};

use wharf_core::WebViewLimits;

/// The user of the browser where the host is root: one that nothing else is given,
/// above those of sessions. Browsers of tenants have the users from there on.
pub const BROWSER_USER: u32 = 2_147_400_000;

/// How Chromium is run.
#[derive(Debug, Clone)]
pub struct ChromiumSettings {
    /// The program; where absent, the first of the known ones that is installed.
    pub program: Option<PathBuf>,
    /// As root, the user that the browser runs as, or the first of the users of browsers of
    /// tenants: [`BROWSER_USER`] where absent. A host that is not root runs it as its own user.
    pub user: Option<u32>,
    /// Runs the browser without its own sandbox: code that breaks out of a page then
    /// has all that the browser's user has.
    pub no_sandbox: bool,
    /// Whether one browser runs the pages of all tenants; else each tenant has one of its own.
    pub shared: bool,
    /// Further files and directories that browsers read, where Landlock keeps those of the host out
    /// of their reach.
    pub readable: Vec<PathBuf>,
    /// Where files wait that pages are given ([`crate::Staging`]).
    pub staging: Option<PathBuf>,
    /// The directory of profiles and downloads while the browser runs. As root, other
    /// users have to be able to pass there.
    pub temporary: PathBuf,
    /// Limits of the browser itself: how long it idles, and how often it may crash.
    pub limits: Arc<WebViewLimits>,
}

impl ChromiumSettings {
    /// The same with the user that is chosen where none is set.
    pub(crate) fn decided(self) -> Self {
        let user = rustix::process::geteuid().is_root().then(|| self.user.unwrap_or(BROWSER_USER));
        Self { user, ..self }
    }
}
