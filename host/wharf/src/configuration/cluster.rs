//! `[cluster]`: a host that serves as one of many.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::nats::NatsSection;

/// Longest name of a cluster or a host.
const LONGEST_NAME: usize = 63;

/// Secrets at once: the one in use, and those before it.
const MOST_SECRETS: usize = 8;

/// `[cluster]`. The hosts of a cluster share the database of their state.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClusterSettings {
    /// The name of the cluster: the same at all its hosts. 1 to 63 characters of `[a-z0-9-]`.
    pub name: String,
    /// The name of this host, for people and for `wharf hosts`: 1 to 63 characters of
    /// `[A-Za-z0-9.-]`; that of the machine where absent.
    pub host: Option<String>,
    /// Where the other hosts reach this one: `NAME:PORT`, such as `10.0.0.7:7443`. The
    /// certificate has to be for that name or address.
    pub address: String,
    /// Where this host listens for the others, such as `0.0.0.0:7443`; at `address` where absent.
    pub listen: Option<SocketAddr>,
    /// What shows the hosts to each other. The files are read again each minute.
    pub tls: ClusterTls,
    /// Files with one secret each, of at least 32 visible ASCII characters: the same at all hosts.
    /// With them a client may answer at any host what a call has asked for (elicitation, sampling,
    /// roots). The first one seals what the client carries; each of them opens it, so that a secret
    /// is replaced without a client that notices. At most 8; refused where others may read one.
    #[serde(default)]
    pub secret_files: Vec<PathBuf>,
    /// Whether `secret_files` are taken although others may read them.
    #[serde(default)]
    pub secrets_allow_unprotected: bool,
    /// A bus for what hosts tell each other of changes.
    pub nats: Option<NatsSection>,
    /// Whether the files of sessions are on a mount that all hosts share.
    #[serde(default)]
    pub workspaces: ClusterWorkspaces,
    /// How long a host that is told to end waits for what its sessions run, in seconds; 300 where
    /// absent. A second signal ends it at once.
    #[serde(default = "drain_seconds")]
    pub drain_seconds: u64,
}

fn drain_seconds() -> u64 {
    300
}

/// `[cluster.tls]`: files in PEM.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClusterTls {
    /// The certificate of this host, and those of the authorities between it and the one of the
    /// cluster. It is shown to hosts that call and to hosts that are called.
    pub certificate: PathBuf,
    /// Its private key. Refused where others may read it.
    pub key: PathBuf,
    /// The authority of the cluster. It must sign the certificates of hosts and no others: who
    /// shows one of it may make calls on behalf of any tenant.
    pub authority: PathBuf,
    /// Whether the key is taken although others may read it.
    #[serde(default)]
    pub allow_unprotected: bool,
}

/// Where the files of sessions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ClusterWorkspaces {
    /// In the data directory of the session's host: they are lost with it, which the session is
    /// told once.
    #[default]
    Local,
    /// In a data directory that is the same mount at all hosts.
    Shared,
}

impl ClusterSettings {
    pub(super) fn check(mut self, base: &Path) -> Result<Self, String> {
        let is_name =
            |name: &str, legal: fn(char) -> bool| (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(legal);
        if !is_name(&self.name, |character| matches!(character, 'a'..='z' | '0'..='9' | '-')) {
            return Err(format!("cluster.name has 1 to {LONGEST_NAME} characters of [a-z0-9-]"));
        }
        let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
        if self.host.as_deref().is_some_and(|host| !is_name(host, legal)) {
            return Err(format!("cluster.host has 1 to {LONGEST_NAME} characters of [A-Za-z0-9.-]"));
        }
        #[cfg(feature = "postgres")]
        self.address.parse::<wharf_cell::PeerAddress>().map_err(|error| format!("cluster.address: {error}"))?;
        if self.secret_files.len() > MOST_SECRETS {
            return Err(format!("cluster.secret_files names {MOST_SECRETS} files at most"));
        }
        self.nats = self.nats.map(|nats| nats.check(base)).transpose()?;
        let tls = [&mut self.tls.certificate, &mut self.tls.key, &mut self.tls.authority];
        for file in tls.into_iter().chain(&mut self.secret_files) {
            *file = base.join(&*file);
        }
        Ok(self)
    }
}
