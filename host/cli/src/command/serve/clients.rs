//! The clients that may call over HTTP, by the tokens of the configuration and of all hosts of its
//! cluster.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tokio::sync::watch;
use wharf::{
    configuration::TokenSettings,
    http::{ClientRights, HttpClient, HttpClients, Token},
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

/// The files with tokens of this host alone, each made where it is missing.
#[derive(Debug, Clone)]
pub(super) struct TokenFiles {
    /// The token that an agent shows, where it is one.
    pub(super) default: Option<PathBuf>,
    /// The token of the person who operates the host.
    pub(super) operator: PathBuf,
}

/// The clients of these tokens, and those of the files.
pub(super) fn named(tokens: &[TokenSettings], files: &TokenFiles) -> Result<Vec<HttpClient>> {
    let named = tokens.iter().map(|token| token.client(|name| std::env::var(name).ok()));
    let mut clients = named.collect::<Result<Vec<_>, _>>().map_err(|error| unusable(&error))?;
    if let Some(file) = &files.default {
        clients.push(HttpClient::new("default", read(file)?));
    }
    let mut operator = HttpClient::new("operator", read(&files.operator)?);
    operator.rights = ClientRights::of_operator();
    clients.push(operator);
    Ok(clients)
}

fn read(file: &Path) -> Result<Token, Unusable> {
    let token = wharf::http::read_or_make_token(file);
    token.map_err(|error| Unusable(format!("{}: {}", file.display(), wharf::with_causes(&error))))
}

/// Has the server take other tokens once the host is configured with them.
pub(super) async fn renew(mut tokens: watch::Receiver<Vec<TokenSettings>>, clients: HttpClients, files: TokenFiles) {
    // They may have changed since the server began with them.
    tokens.mark_changed();
    while tokens.changed().await.is_ok() {
        let names = tokens.borrow_and_update().clone();
        let files = files.clone();
        let read = tokio::task::spawn_blocking(move || self::named(&names, &files)).await;
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
