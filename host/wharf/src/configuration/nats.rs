//! `[cluster.nats]`: a bus on which the hosts of a cluster tell each other of changes.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Servers of one NATS cluster that are named at most.
const MOST_SERVERS: usize = 16;

/// `[cluster.nats]`. Without it, and while no server answers, hosts tell each other of changes one
/// by one.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NatsSection {
    /// Servers of one NATS cluster, each of which will do: `tls://nats-0.example:4222`. One to 16.
    pub servers: Vec<String>,
    /// The user, whose password is in `password_file`.
    pub user: Option<String>,
    /// A file with the password of `user`.
    pub password_file: Option<PathBuf>,
    /// A file with a token.
    pub token_file: Option<PathBuf>,
    /// A file with credentials, as `nsc generate creds` writes it.
    pub credentials_file: Option<PathBuf>,
    /// The authority that signed the certificates of the servers, PEM; those of the system where
    /// absent.
    pub authority: Option<PathBuf>,
    /// The certificate that this host shows, PEM, where the servers ask for one.
    pub certificate: Option<PathBuf>,
    /// Its private key.
    pub key: Option<PathBuf>,
    /// Whether `nats://` is taken for a server on another machine: who listens on the way learns
    /// the names of tenants, sessions and resources.
    #[serde(default)]
    pub allow_unencrypted: bool,
    /// Whether secrets are taken although others may read their files.
    #[serde(default)]
    pub allow_unprotected: bool,
}

impl NatsSection {
    pub(super) fn check(mut self, base: &Path) -> Result<Self, String> {
        if !(1..=MOST_SERVERS).contains(&self.servers.len()) {
            return Err(format!("cluster.nats.servers names 1 to {MOST_SERVERS} servers"));
        }
        #[cfg(feature = "nats")]
        for server in &self.servers {
            let parsed: wharf_nats::NatsServer =
                server.parse().map_err(|error| format!("cluster.nats.servers: {error}"))?;
            if !parsed.is_encrypted() && !parsed.is_local() && !self.allow_unencrypted {
                return Err(format!(
                    "cluster.nats.servers: {server} is on another machine, and nothing that goes there is encrypted: \
                     name it as tls://, or say `allow_unencrypted = true`"
                ));
            }
        }
        if self.user.is_some() != self.password_file.is_some() {
            return Err("cluster.nats: `user` and `password_file` belong together".to_owned());
        }
        let logins = [&self.password_file, &self.token_file, &self.credentials_file];
        if logins.into_iter().flatten().count() > 1 {
            return Err("cluster.nats: a host has one login: `user`, `token_file` or `credentials_file`".to_owned());
        }
        if self.certificate.is_some() != self.key.is_some() {
            return Err("cluster.nats: `certificate` and `key` belong together".to_owned());
        }
        let Self { password_file, token_file, credentials_file, authority, certificate, key, .. } = &mut self;
        for file in [password_file, token_file, credentials_file, authority, certificate, key].into_iter().flatten() {
            *file = base.join(&*file);
        }
        Ok(self)
    }
}
