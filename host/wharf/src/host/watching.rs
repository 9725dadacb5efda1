//! The folder of plugins and the list of what must not run, watched while the host serves.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, spawn_blocking},
    time::sleep,
};
use wharf_core::text::with_causes;

use super::{Host, WeakHost};
use crate::folder::{FolderChanges, SETTLE};

/// How often the folder is looked at where nothing tells of a change: some file systems
/// never do.
const RESCAN: Duration = Duration::from_secs(2);

/// How long changes gather that come one after the other.
const BREATH: Duration = Duration::from_millis(50);

/// What is watched; dropping it ends that.
#[derive(Debug)]
pub struct PluginWatch {
    tasks: Vec<AbortHandle>,
}

impl Drop for PluginWatch {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Host {
    /// Watches the folder that `[plugins] folder` of the configuration names, and the list that
    /// `[plugins.deny]` names, as long as what is returned lives: plugins that appear, change and
    /// disappear in the folder do so for clients, and one that the list names by now is taken away.
    ///
    /// Needs a tokio runtime with time.
    #[must_use]
    pub fn watch_plugins(&self) -> PluginWatch {
        let mut tasks = vec![tokio::spawn(watch_denied(self.downgrade())).abort_handle()];
        if self.shared.sources.folder.is_some() {
            tasks.push(tokio::spawn(watch(self.downgrade())).abort_handle());
        }
        PluginWatch { tasks }
    }

    async fn look_at_denied(&self) {
        if self.shared.sources.configuration().trust.deny.is_none() {
            return;
        }
        let shared = std::sync::Arc::clone(&self.shared);
        let looked = spawn_blocking(move || shared.sources.look_at_denied()).await;
        if looked.unwrap_or_default()
            && let Err(error) = self.reload_plugins().await
        {
            tracing::warn!("plugins are those of before: {}", with_causes(&error));
        }
    }

    async fn look_at_folder(&self) -> FolderChanges {
        let shared = std::sync::Arc::clone(&self.shared);
        let looking = spawn_blocking(move || shared.sources.folder.as_ref().map(|folder| folder.look(Instant::now())));
        let news = looking.await.ok().flatten().unwrap_or_default();
        if news.changed
            && let Err(error) = self.reload_plugins().await
        {
            tracing::warn!("plugins are those of before: {}", with_causes(&error));
        }
        news
    }
}

async fn watch_denied(host: WeakHost) {
    loop {
        match host.upgrade() {
            Some(host) => host.look_at_denied().await,
            None => return,
        }
        sleep(RESCAN).await;
    }
}

async fn watch(host: WeakHost) {
    let (sender, mut told) = mpsc::channel(1);
    let Some(path) = host.upgrade().and_then(|host| Some(host.shared.sources.folder.as_ref()?.path().to_owned()))
    else {
        return;
    };
    // It tells as long as it lives.
    let _watcher = tell(&path, sender)
        .inspect_err(|error| {
            tracing::warn!(
                "{} is looked at every {} s, since it cannot be watched: {error}",
                path.display(),
                RESCAN.as_secs()
            );
        })
        .ok();
    loop {
        // Not held while nothing happens, so that a host without another owner ends.
        let Some(news) = (match host.upgrade() {
            Some(host) => Some(host.look_at_folder().await),
            None => None,
        }) else {
            return;
        };
        let rest = if news.waiting { SETTLE } else { RESCAN };
        tokio::select! {
            () = sleep(rest) => {}
            // No notice comes where the system cannot watch; then the clock alone counts.
            Some(()) = told.recv() => sleep(BREATH).await,
        }
    }
}

fn tell(path: &Path, sender: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // This host's own reading is no news; of what cannot be told, a look says more.
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // One that waits already says the same.
        let _ = sender.try_send(());
    })?;
    watcher.watch(path, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
