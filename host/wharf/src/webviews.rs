//! Opens web pages: those of the host's own browser, or of the embedding app's
//! backend.
//!
//! The browser itself is started with the first page.

#[cfg_attr(not(all(target_os = "linux", feature = "chromium")), path = "webviews/no_browser.rs")]
mod browser;

use std::sync::Arc;

use wharf_core::handle::HandleMint;
use wharf_spawn::Spawner;
use wharf_webview::{Settings, WebViewBackend, WebViews};

/// Where files wait that pages are given, as long as this lives.
pub(crate) use self::browser::Staging;
use crate::configuration::Configuration;

/// The pages, or why there are none.
pub(crate) fn open(
    configuration: &Configuration,
    spawner: &Spawner,
    backend: Option<Arc<dyn WebViewBackend>>,
    handles: HandleMint,
) -> Result<(WebViews, Option<Staging>), String> {
    let staging = browser::staging(&configuration.webview);
    let place = staging.as_ref().ok().map(|staging| staging.path().to_owned());
    let of_host = || browser::open(&configuration.webview, place.as_deref(), spawner);
    let backend = backend.map_or_else(of_host, Ok)?;
    let staging =
        staging.inspect_err(|error| tracing::warn!(target: "wharf::start", "pages are given no files: {error}")).ok();
    let settings = Settings {
        limits: (*configuration.webview.limits).clone(),
        polls: configuration.polls.rules(),
        staging: place,
        handles,
    };
    Ok((WebViews::new(backend, settings), staging))
}
