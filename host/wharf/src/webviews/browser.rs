//! The browser that the host runs itself: Chromium, on Linux.

use std::{path::Path, sync::Arc};

pub(crate) use wharf_chromium::Staging;
use wharf_chromium::{Chromium, ChromiumSettings};
use wharf_core::text::with_causes;
use wharf_spawn::Spawner;
use wharf_webview::WebViewBackend;

use crate::configuration::WebViewSettings;

impl WebViewSettings {
    /// How the host's own browser is run.
    #[must_use]
    pub fn chromium(&self) -> ChromiumSettings {
        ChromiumSettings {
            program: self.program.clone(),
            user: self.user,
            no_sandbox: !self.sandbox,
            shared: self.shared,
            readable: self.readable.clone(),
            staging: None,
            temporary: self.temporary.clone().unwrap_or_else(std::env::temp_dir),
            limits: Arc::clone(&self.limits),
        }
    }
}

/// The browser, or why there is none.
pub(super) fn open(
    settings: &WebViewSettings,
    staging: Option<&Path>,
    spawner: &Spawner,
) -> Result<Arc<dyn WebViewBackend>, String> {
    let settings = ChromiumSettings { staging: staging.map(Path::to_owned), ..settings.chromium() };
    if settings.no_sandbox {
        tracing::warn!(
            target: "wharf::start",
            "web pages run without the browser's sandbox ([webview] `sandbox = false`): a page that breaks out of it has all \
             that the browser's user has"
        );
    }
    let chromium = Chromium::new(spawner.clone(), settings).map_err(|error| with_causes(&error))?;
    Ok(Arc::new(chromium))
}

/// A place for the files that pages are given.
pub(super) fn staging(settings: &WebViewSettings) -> Result<Staging, String> {
    Staging::create(&settings.chromium()).map_err(|error| with_causes(&error))
}
