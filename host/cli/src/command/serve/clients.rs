//! The clients that may call over HTTP, by the tokens of the configuration and of all hosts of its
//! cluster.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tokio::sync::watch;
use wharf::{
    configuration::TokenSettings,
    http::{HttpClient, HttpClients},
};

use super::unusable;
use crate::{cluster_shelf::ClusterShelf, exit::Unusable, global::Global};

/// Brings the copy of what all hosts of a cluster have up to date, where the host is one of such.
pub(super) fn catch_up(global: &Global) -> Result<()> {
    match global.configuration()?.cluster {
        Some(_) => ClusterShelf::of_command(global).map(drop),
        None => Ok(()),
    }
}

/// The clients of these tokens, and the one of the file.
pub(super) fn named(tokens: &[TokenSettings], file: Option<&Path>) -> Result<Vec<HttpClient>> {
    let named = tokens.iter().map(|token| token.client(|name| std::env::var(name).ok()));
    let mut clients = named.collect::<Result<Vec<_>, _>>().map_err(|error| unusable(&error))?;
    if let Some(file) = file {
        let token = wharf::http::read_or_make_token(file);
        let token = token.map_err(|error| Unusable(format!("{}: {}", file.display(), wharf::with_causes(&error))))?;
        clients.push(HttpClient::new("default", token));
    }
    Ok(clients)
}

/// Has the server take other tokens once the host is configured with them.
pub(super) async fn renew(
    mut tokens: watch::Receiver<Vec<TokenSettings>>,
    clients: HttpClients,
    file: Option<PathBuf>,
) {
    // They may have changed since the server began with them.
    tokens.mark_changed();
    while tokens.changed().await.is_ok() {
        let names = tokens.borrow_and_update().clone();
        let file = file.clone();
        let read = tokio::task::spawn_blocking(move || self::named(&names, file.as_deref())).await;
        match read {
            Ok(Ok(now)) => {
                if clients.renew(&now) {
                    tracing::info!(target: "wharf::start", known_clients = now.len(), "clients are known by other tokens now");
                }
            }
            Ok(Err(error)) => tracing::error!("clients are known by the tokens of before: {error:#}"),
            Err(_) => {}
        }
    }
}
