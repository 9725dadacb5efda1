//! The configuration file, looked at while a host serves: a token that is taken out of it opens nothing from then
//! on, and grants hold as they are written.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Result;
use tokio::task::{JoinHandle, spawn_blocking};
use wharf::{Configuration, Host, with_causes};

/// How often files are looked at. Nothing tells of a change on some file systems, and where a mount takes the place of
/// another one.
pub(super) const EACH: Duration = Duration::from_secs(2);

/// How a file looks: two looks that differ mean that it was written, replaced or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileLook(Option<(SystemTime, u64, u64)>);

impl FileLook {
    pub(super) fn at(path: &Path) -> Self {
        #[cfg(unix)]
        let number = |metadata: &fs::Metadata| std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = |_: &fs::Metadata| 0;
        let look = |metadata: fs::Metadata| Some((metadata.modified().ok()?, metadata.len(), number(&metadata)));
        Self(fs::metadata(path).ok().and_then(look))
    }
}

/// A file, and how it looked before it was read.
pub(super) struct ReadFile {
    path: Arc<Path>,
    look: FileLook,
}

impl ReadFile {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { look: FileLook::at(&path), path: path.into() }
    }
}

/// Has a host take what `reread` brings, whenever the file was written since. The task keeps the host, and never ends
/// by itself.
pub(super) fn watch(
    host: &Host,
    file: ReadFile,
    reread: impl Fn() -> Result<Configuration> + Send + Sync + 'static,
) -> JoinHandle<()> {
    tokio::spawn(look(host.clone(), file, Arc::new(reread)))
}

async fn look(host: Host, read: ReadFile, reread: Arc<dyn Fn() -> Result<Configuration> + Send + Sync>) {
    let ReadFile { path: file, look: mut taken } = read;
    let looked = async || {
        let file = Arc::clone(&file);
        spawn_blocking(move || FileLook::at(&file)).await
    };
    let mut before = taken.clone();
    loop {
        tokio::time::sleep(EACH).await;
        let Ok(now) = looked().await else { return };
        // A file that is just being written is left to itself until the next look.
        let has_settled = std::mem::replace(&mut before, now.clone()) == now;
        if now == taken || !has_settled {
            continue;
        }
        taken = now;
        let reread = Arc::clone(&reread);
        let read = spawn_blocking(move || reread()).await;
        let problem = match read {
            Ok(Ok(configuration)) => {
                host.reconfigure_plugins(configuration).await.err().map(|error| with_causes(&error))
            }
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(error) => Some(error.to_string()),
        };
        match problem {
            None => tracing::info!(file = %file.display(), "the configuration was read again"),
            Some(problem) => {
                tracing::error!(file = %file.display(), "the configuration of before holds, since this one is not usable: {problem}");
            }
        }
    }
}
