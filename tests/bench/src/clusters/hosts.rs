//! Hosts of one cluster on a database of their own.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use wharf_test_support::{
    authority::{Authority, Holds},
    free_address,
    nats::NatsServer,
    postgres::PostgresServer,
    write_private,
};

use crate::{Setting, http::Server};

/// A database, and hosts on it.
pub(super) struct Cluster<'s> {
    pub(super) setting: &'s Setting,
    database: PostgresServer,
    authority: Authority,
    tables: &'static str,
    /// Further ones of `wharf serve`.
    arguments: &'static [&'static str],
    nats: Option<NatsServer>,
}

/// A host, and where it keeps its files.
pub(super) struct ClusterHost {
    pub(super) server: Server,
    data: TempDir,
    tables: String,
}

impl<'s> Cluster<'s> {
    /// Hosts whose echo plugin has these grants; nothing where there is no PostgreSQL, which says
    /// what is left out then.
    pub(super) fn new(setting: &'s Setting, tables: &'static str, keys: &[&str]) -> Option<Self> {
        let Some(database) = PostgresServer::start_with(|_| "fsync = on\n".to_owned()) else {
            eprintln!("{} are left out: there is no PostgreSQL", keys.join(", "));
            return None;
        };
        Some(Self { setting, database, authority: Authority::new(), tables, arguments: &[], nats: None })
    }

    /// The same with NATS between the hosts; nothing where there is none.
    pub(super) fn over_nats(setting: &'s Setting, keys: &[&str]) -> Option<Self> {
        let Some(nats) = NatsServer::start() else {
            eprintln!("{} are left out: there is no NATS", keys.join(", "));
            return None;
        };
        Some(Self { nats: Some(nats), ..Self::new(setting, "", keys)? })
    }

    /// Hosts are started with these arguments beside their own.
    pub(super) fn with_arguments(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    pub(super) fn host(&self, name: &str) -> Result<ClusterHost> {
        let data = self.setting.data()?;
        let port = free_address().port();
        let (certificate, key) = self.authority.certificate("localhost", Holds::Now);
        for (file, text) in [
            ("database", self.database.connection("postgres")),
            ("host.pem", certificate),
            ("host.key", key),
            ("authority.pem", self.authority.pem().to_owned()),
            ("http-token", "0123456789abcdef".repeat(4)),
        ] {
            write_private(data.path(), file, text);
        }
        let tables = format!(
            "{}[state]\ndatabase_file = \"database\"\n[cluster]\nname = \"bench\"\nhost = \"{name}\"\n\
             address = \"localhost:{port}\"\n[cluster.tls]\ncertificate = \"host.pem\"\nkey = \"host.key\"\n\
             authority = \"authority.pem\"\n{}",
            self.tables,
            self.nats.as_ref().map(NatsServer::table).unwrap_or_default()
        );
        if let Some(nats) = &self.nats {
            nats.prepare(data.path());
        }
        let server = self.start(&data, &tables)?;
        Ok(ClusterHost { server, data, tables })
    }

    /// Starts a host that was killed, on what it has left.
    pub(super) fn restart(&self, host: &mut ClusterHost) -> Result<()> {
        host.server = self.start(&host.data, &host.tables)?;
        Ok(())
    }

    fn start(&self, data: &TempDir, tables: &str) -> Result<Server> {
        let token = data.path().join("http-token");
        let token = token.to_str().context("a path that is text")?;
        let arguments = [&["--http-token-file", token], self.arguments].concat();
        Server::wharf_with(self.setting, data.path(), tables, &arguments)
    }

    pub(super) fn hosts(&self) -> Result<[ClusterHost; 3]> {
        Ok([self.host("one")?, self.host("two")?, self.host("three")?])
    }
}

impl ClusterHost {
    /// Adds the echo plugin under another name, as an operator does.
    pub(super) fn add(&self, setting: &Setting, name: &str) -> Result<()> {
        let data = self.data.path();
        let mut command = Command::new(&setting.wharf);
        command.args(["plugin", "add", "--cluster", "--name", name]).arg(&setting.echo_component);
        command.arg("--config").arg(data.join("wharf.toml")).arg("--data").arg(data);
        let output = command.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }
}
