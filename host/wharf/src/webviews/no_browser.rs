//! Other systems than Linux, and builds without the feature `chromium`: pages run in an
//! app's own WebViews, or not at all.

use std::{path::Path, sync::Arc};

use wharf_spawn::Spawner;
use wharf_webview::WebViewBackend;

use crate::configuration::WebViewSettings;

/// A place for the files that pages are given: there is none.
#[derive(Debug)]
pub(crate) enum Staging {}

impl Staging {
    pub(super) fn path(&self) -> &Path {
        match *self {}
    }
}

/// Why there is no browser.
pub(super) fn open(_: &WebViewSettings, _: Option<&Path>, _: &Spawner) -> Result<Arc<dyn WebViewBackend>, String> {
    Err(if cfg!(target_os = "linux") {
        "this build of Wharf has no browser of the host's own: build the crate `wharf` with the feature `chromium`, or \
         bring the app's WebViews"
    } else {
        "the host runs a browser of its own on Linux only; elsewhere an app brings its WebViews"
    }
    .to_owned())
}

/// Why there is no place for the files that pages are given.
pub(super) fn staging(_: &WebViewSettings) -> Result<Staging, String> {
    Err("there is no place for them without a browser of the host's own".to_owned())
}
