//! What a plugin has left where it is taken away: nobody could reach it any more.

use std::time::Duration;

use tokio::runtime::Handle;
use wharf_core::PluginName;
use wharf_engine::Backends;

use crate::host::Host;

/// What pages may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

impl Host {
    /// Ends processes, terminals, pages and streams of plugins that are gone, beside
    /// whatever else goes on. Without a runtime nothing of these can have begun.
    pub(super) fn end_what_is_left(&self, gone: impl Iterator<Item = PluginName>) {
        for plugin in gone {
            let backends = self.shared.backends.clone();
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(async move { end(&backends, &plugin).await });
            }
        }
    }
}

async fn end(backends: &Backends, plugin: &PluginName) {
    let processes = async {
        match &backends.processes {
            Some(processes) => processes.end_plugin(plugin).await,
            None => 0,
        }
    };
    let terminals = async {
        match &backends.terminals {
            Some(terminals) => terminals.end_plugin(plugin).await,
            None => 0,
        }
    };
    let pages = async {
        match &backends.webviews {
            Ok(webviews) => webviews.end_plugin(plugin, PATIENCE).await,
            Err(_) => 0,
        }
    };
    let (processes, terminals, pages) = tokio::join!(processes, terminals, pages);
    // Those of terminals have ended with them.
    let streams = backends.streams.end_plugin(plugin);
    if processes + terminals + pages + streams > 0 {
        tracing::info!(%plugin, processes, terminals, pages, streams, "what a plugin that is gone had left was ended");
    }
}
