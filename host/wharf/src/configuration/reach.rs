//! The files and directories that a configuration names, for a host that gives up all others.
//!
//! Opens nothing. A new key that names a path needs a line here.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use wharf_core::{Grants, grant::Access};
use wharf_sources::PluginSource;

use super::{Configuration, SecretSource, secret_source::credentials};

/// What a configuration names, by what a host does with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigurationReach {
    /// Files that are read, each with what lies beside it: a file that is renewed is another one of the same name.
    pub files: BTreeSet<PathBuf>,
    /// Directories that are read.
    pub readable: BTreeSet<PathBuf>,
    /// Directories that are read and written.
    pub writable: BTreeSet<PathBuf>,
}

impl Configuration {
    /// The paths that a host with this configuration reaches beside its data directory.
    #[must_use]
    pub fn reach(&self) -> ConfigurationReach {
        let mut reach = ConfigurationReach::default();
        self.files_of_host(&mut reach);
        self.files_of_plugins(&mut reach);
        reach.writable.extend(self.terminal.recording_directory().map(Path::to_owned));
        reach.writable.extend(self.webview.temporary.clone());
        reach
    }

    fn files_of_host(&self, reach: &mut ConfigurationReach) {
        let files = &mut reach.files;
        files.extend(self.http.tokens.iter().filter_map(|token| token.file()).map(Path::to_owned));
        let introspection = self.http.oauth.iter().filter_map(|oauth| oauth.introspection.as_ref());
        files.extend(introspection.filter_map(|asked| file_of(&asked.from)));
        if let Some(tls) = &self.http.tls {
            files.extend([tls.certificate.clone(), tls.key.clone()]);
            files.extend(tls.client_authorities.clone());
        }
        files.extend(self.audit.key.clone());
        let keys = self.encryption.iter().flat_map(|encryption| [Some(&encryption.key), encryption.previous.as_ref()]);
        files.extend(keys.flatten().filter_map(|key| file_of(&key.from)));
        files.extend(self.audit.syslog.as_ref().and_then(|syslog| syslog.authority.clone()));
        files.extend(self.state.database_file.clone().into_iter().chain(self.state.database_authorities.clone()));
        if let Some(cluster) = &self.cluster {
            let tls = &cluster.tls;
            files.extend([&tls.certificate, &tls.key, &tls.authority].map(PathBuf::clone));
            files.extend(cluster.secret_files.iter().cloned());
            let nats = cluster.nats.iter().flat_map(|nats| {
                let secrets = [&nats.password_file, &nats.token_file, &nats.credentials_file];
                secrets.into_iter().chain([&nats.authority, &nats.certificate, &nats.key]).flatten()
            });
            files.extend(nats.cloned());
        }
        files.extend(self.traces.headers.iter().filter_map(|header| file_of(&header.from)));
        files.extend(self.trust.files.iter().cloned());
        let indexes = self.plugin_indexes.iter().chain(self.trust.deny.iter().map(|deny| &deny.source));
        files.extend(indexes.filter_map(|source| match source {
            PluginSource::File(path) => Some(path.clone()),
            PluginSource::Address(_) | PluginSource::Registry(_) => None,
        }));
    }

    fn files_of_plugins(&self, reach: &mut ConfigurationReach) {
        reach.readable.extend(self.plugin_folder.clone());
        for plugin in self.plugins.values() {
            reach.files.extend(plugin.source.clone());
            reach.files.extend(plugin.secrets.iter().filter_map(|secret| file_of(&secret.from)));
            reach.extend_by(plugin.grants.as_ref());
        }
        reach.extend_by(self.written_host_grants.as_ref());
    }
}

impl ConfigurationReach {
    /// The host opens folders of files itself. What programs may read, their supervisors open.
    fn extend_by(&mut self, grants: Option<&Grants>) {
        let folders = grants.and_then(|grants| grants.workspace.as_ref()).into_iter();
        for folder in folders.flat_map(|workspace| &workspace.exchange) {
            match folder.access {
                Access::Read => self.readable.insert(folder.path.clone()),
                Access::Write => self.writable.insert(folder.path.clone()),
            };
        }
    }

    /// All of its paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().chain(&self.readable).chain(&self.writable).map(PathBuf::as_path)
    }
}

fn file_of(source: &SecretSource) -> Option<PathBuf> {
    match source {
        SecretSource::File(path) => Some(path.clone()),
        SecretSource::Credential(name) => Some(credentials()?.join(name)),
        // Programs and keys are outside of a confined host, where its supervisors start the ones and read the others.
        SecretSource::Environment(_) | SecretSource::Command(_) | SecretSource::KernelKey(_) => None,
    }
}
