//! The end of a server, at a signal.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wharf::Host;

use super::service_manager::ServiceManager;

/// Ends what is served at a signal: a host of a cluster lets go of its sessions first, for as
/// long as that may take, or until the next signal.
pub(super) fn stop_on_signal(
    shutdown: CancellationToken,
    host: Host,
    drain: Option<Duration>,
    manager: ServiceManager,
) {
    // A host that is kept here would outlive its server, and leave its folders behind.
    let draining = drain.map(|patience| (host, patience));
    tokio::spawn(async move {
        let is_signalled = tokio::select! {
            is_signalled = signalled() => is_signalled,
            () = shutdown.cancelled() => false,
        };
        manager.stopping(drain.filter(|_| is_signalled));
        if !is_signalled {
            return;
        }
        if let Some((host, patience)) = draining {
            tracing::info!(target: "wharf::start", "this host takes no further session and ends when its sessions have nothing that runs");
            tokio::select! {
                () = host.drain(patience) => {}
                _ = signalled() => {}
            }
        }
        shutdown.cancel();
    });
}

/// Waits for a signal to end; not at all where there is none to wait for.
async fn signalled() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                }
                true
            }
            Err(error) => {
                tracing::warn!("cannot wait for SIGTERM: {error}");
                false
            }
        }
    }
    #[cfg(not(unix))]
    match tokio::signal::ctrl_c().await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!("cannot wait for an interrupt: {error}");
            false
        }
    }
}
