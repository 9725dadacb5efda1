//! Whether a host could serve a plugin that all hosts of its cluster would have.

use std::sync::Arc;

use tokio::task::spawn_blocking;
use wharf_core::{service::ProposedPlugin, text::with_causes};
use wharf_engine::{Component, LoadError};

use super::WeakHost;

/// What a host says that ends meanwhile: it will not serve the plugin, and keeps nobody from it.
const ENDS: Result<(), String> = Ok(());

impl WeakHost {
    /// Fetches and compiles the plugin's component, and keeps the code: it is then served at once when
    /// all hosts have it. Why the host could not serve it, where it could not.
    pub(super) async fn tries(&self, plugin: &ProposedPlugin) -> Result<(), String> {
        // Held for moments only, so that a host without another owner ends.
        let Some(host) = self.upgrade() else { return ENDS };
        let may_add = host.shared.sources.configuration().may_add(&plugin.name);
        may_add.map_err(|error| with_causes(&error))?;
        let Some(plugins) = host.shared.clustered.plugins().map(Arc::clone) else { return ENDS };
        let (places, stop, unfinished) = host.shared.compilations.propose();
        let engine = host.shared.engine.clone();
        drop(host);

        // Nobody is left to hear of it once the other host has gone.
        let _end = stop.clone().drop_guard();
        let place = tokio::select! {
            biased;
            () = stop.cancelled() => return ENDS,
            place = places.acquire_owned() => place,
        };
        let component = plugins.component(&plugin.digest).await.map_err(|error| with_causes(&error))?;
        let component = Component::new(component).with_functions(plugin.functions);
        let name = plugin.name.clone();
        let loading = spawn_blocking(move || {
            let _counted = (place, unfinished);
            engine.load_unless(name, component, &stop).map(drop)
        });
        match loading.await {
            Ok(Err(LoadError::Stopped)) | Err(_) => ENDS,
            Ok(loaded) => loaded.map_err(|error| with_causes(&error)),
        }
    }
}
