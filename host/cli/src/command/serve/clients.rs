//! The clients that may call over HTTP, by the tokens of the configuration and of all hosts of its
//! cluster.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Result;
use tokio::sync::watch;
use wharf::{
    configuration::{TokenSettings, TokenUnavailable},
    http::{ClientRights, HttpClient, HttpClients, Token},
};

use super::watching::{EACH, FileLook};
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
    let clients = valid(tokens).map(client).collect::<Result<_, _>>().map_err(|error| Unusable::of(&error))?;
    beside_own(clients, files)
}

/// The tokens that hold, which is said of each other one.
fn valid(tokens: &[TokenSettings]) -> impl Iterator<Item = &TokenSettings> {
    let now = SystemTime::now();
    tokens.iter().filter(move |token| {
        let is_over = token.is_over(now);
        if is_over && let Some(expires) = &token.expires {
            tracing::warn!(token = token.name, "this token opens nothing: it expired ({expires})");
        }
        !is_over
    })
}

fn client(token: &TokenSettings) -> Result<HttpClient, TokenUnavailable> {
    token.client(|name| std::env::var(name).ok())
}

/// These clients, and those of the files.
fn beside_own(mut clients: Vec<HttpClient>, files: &TokenFiles) -> Result<Vec<HttpClient>> {
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

/// Has the server take other tokens once the host is configured with them, or their files were written. A token that
/// cannot be read any more opens nothing.
pub(super) async fn renew(mut tokens: watch::Receiver<Vec<TokenSettings>>, clients: HttpClients, files: TokenFiles) {
    // They may have changed since the server began with them.
    let mut looked = None;
    loop {
        let (named, files) = (tokens.borrow_and_update().clone(), files.clone());
        let read = tokio::task::spawn_blocking(move || {
            let now = TokenLooks::of(named, &files);
            let news = (looked.as_ref() != Some(&now)).then(|| held(&now.named, &files));
            (now, news)
        });
        let Ok((now, news)) = read.await else { return };
        looked = Some(now);
        match news {
            Some(Ok(now)) if clients.renew(&now) => {
                tracing::info!(target: "wharf::start", known_clients = now.len(), "clients are known by other tokens now");
            }
            Some(Err(error)) => tracing::error!("clients are known by the tokens of before: {error:#}"),
            Some(Ok(_)) | None => {}
        }
        tokio::select! {
            changed = tokens.changed() => if changed.is_err() {
                return;
            },
            () = tokio::time::sleep(EACH) => {}
        }
    }
}

/// What decides which tokens open the host. Whatever woke who compares two of these, a change is news: one that comes
/// with the clock is no less.
#[derive(Debug, PartialEq)]
struct TokenLooks {
    named: Vec<TokenSettings>,
    /// How the files of tokens look.
    files: Vec<FileLook>,
    /// How many are over.
    over: usize,
}

impl TokenLooks {
    fn of(named: Vec<TokenSettings>, files: &TokenFiles) -> Self {
        let (own, now) = (files.default.as_deref().into_iter().chain([files.operator.as_path()]), SystemTime::now());
        Self {
            files: named.iter().filter_map(TokenSettings::file).chain(own).map(FileLook::at).collect(),
            over: named.iter().filter(|token| token.is_over(now)).count(),
            named,
        }
    }
}

/// The clients whose tokens can be read.
fn held(tokens: &[TokenSettings], files: &TokenFiles) -> Result<Vec<HttpClient>> {
    let readable = valid(tokens).filter_map(|token| {
        let unreadable = |error: &TokenUnavailable| {
            tracing::error!(token = token.name, "this token opens nothing now: {}", wharf::with_causes(error));
        };
        client(token).inspect_err(unreadable).ok()
    });
    beside_own(readable.collect(), files)
}

#[cfg(test)]
mod tests {
    use wharf::Configuration;

    use super::*;

    /// A token that was taken back opened a host for good, where the clock had woken it in the same moment.
    #[test]
    fn other_tokens_are_news_also_where_every_file_looks_as_before() {
        let text = format!("[[http.tokens]]\nname = \"ci\"\ndigest = \"{}\"\n", "ab".repeat(32));
        let with = Configuration::parse(&text, Path::new(".")).expect("usable").http.tokens;
        let files = TokenFiles { default: None, operator: "/no/such/file".into() };
        let looks = |tokens: &[TokenSettings]| TokenLooks::of(tokens.to_vec(), &files);
        assert_eq!(looks(&with), looks(&with));
        assert_ne!(looks(&with), looks(&[]));
    }
}
