//! Opens web pages: those of the host's own browser, or of the embedding app's
//! backend.
//!
//! The browser itself is started with the first page.

use std::{path::Path, sync::Arc};

use wharf_spawn::Spawner;
use wharf_webview::{Settings, WebViewBackend, WebViews};

use crate::configuration::Configuration;

/// Where files wait that pages are given, as long as this lives.
#[derive(Debug)]
pub(crate) struct Staging(PlatformStaging);

#[cfg(target_os = "linux")]
type PlatformStaging = wharf_chromium::Staging;
#[cfg(not(target_os = "linux"))]
type PlatformStaging = std::convert::Infallible;

impl Staging {
    fn path(&self) -> &Path {
        #[cfg(target_os = "linux")]
        return self.0.path();
        #[cfg(not(target_os = "linux"))]
        match self.0 {}
    }
}

/// The pages, or why there are none.
pub(crate) fn open(
    configuration: &Configuration,
    spawner: &Spawner,
    backend: Option<Arc<dyn WebViewBackend>>,
) -> Result<(WebViews, Option<Staging>), String> {
    let backend = backend.map_or_else(|| browser(configuration, spawner), Ok)?;
    let staging = staging(configuration)
        .inspect_err(|error| tracing::warn!(target: "wharf::start", "pages are given no files: {error}"))
        .ok();
    let settings = Settings {
        limits: (*configuration.webview.limits).clone(),
        polls: configuration.polls.rules(),
        staging: staging.as_ref().map(|staging| staging.path().to_owned()),
    };
    Ok((WebViews::new(backend, settings), staging))
}

#[cfg(target_os = "linux")]
fn browser(configuration: &Configuration, spawner: &Spawner) -> Result<Arc<dyn WebViewBackend>, String> {
    use wharf_chromium::Chromium;
    use wharf_core::text::with_causes;

    let settings = configuration.webview.chromium();
    if settings.no_sandbox {
        tracing::warn!(
            target: "wharf::start",
            "web pages run without the browser's sandbox ([webview] `sandbox = false`): whoever breaks out of one has all \
             that the browser's user has"
        );
    }
    let chromium = Chromium::new(spawner.clone(), settings).map_err(|error| with_causes(&error))?;
    Ok(Arc::new(chromium))
}

#[cfg(not(target_os = "linux"))]
fn browser(_: &Configuration, _: &Spawner) -> Result<Arc<dyn WebViewBackend>, String> {
    Err("the host runs a browser of its own on Linux only; elsewhere an app brings its WebViews".to_owned())
}

#[cfg(target_os = "linux")]
fn staging(configuration: &Configuration) -> Result<Staging, String> {
    use wharf_core::text::with_causes;

    let staging = PlatformStaging::create(&configuration.webview.chromium());
    staging.map(Staging).map_err(|error| with_causes(&error))
}

#[cfg(not(target_os = "linux"))]
fn staging(_: &Configuration) -> Result<Staging, String> {
    Err("there is no place for them on this system".to_owned())
}
