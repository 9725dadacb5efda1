//! Connections to the server: where it is, how they are encrypted, how many there are.

use std::{
    fmt, fs,
    io::BufReader,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::{
    Client, Config,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;
use wharf_state::StateError;

use crate::{DatabaseOpenError, error};

/// How long a connection may take to be made, where the text of the connection says nothing.
const CONNECTING: Duration = Duration::from_secs(5);
/// After how long a server that acknowledges nothing counts as gone, where the text says nothing.
const SILENCE: Duration = Duration::from_secs(10);
/// A statement is planned once: planning one anew for each call takes five times as long as
/// running it, and the server would, since it takes an array for ten keys and more. And it is
/// planned by its indexes: a plan that was made for an empty table reads all of it until the
/// server looks at the table again, a minute later. Nothing is compiled: a table without an index
/// counts as infinitely dear then, and the server would compile for a tenth of a second, on each
/// connection, what runs in a twentieth of a millisecond.
const PLANS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
/// Bytes of a file with certificates.
const CERTIFICATE_BYTES: u64 = 1 << 20;

/// How a server is connected to.
#[derive(Debug, Clone)]
pub struct ConnectionOptions {
    /// Most connections of a store, 1 to 64. Calls wait for a free one.
    pub connections: usize,
    /// The certificates of the authorities that may sign the server's, as PEM; those that the
    /// system trusts where absent.
    pub authorities: Option<PathBuf>,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self { connections: 8, authorities: None }
    }
}

/// Where the database is and who connects to it, with what that needs.
#[derive(Clone)]
pub struct DatabaseAddress {
    config: Config,
    tls: MakeRustlsConnect,
    shown: String,
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("DatabaseAddress").field(&self.shown).finish()
    }
}

impl DatabaseAddress {
    /// Reads a connection as libpq's programs take it: `host=… dbname=…` or `postgresql://…`.
    ///
    /// A connection to another machine is encrypted, and the server's certificate is checked,
    /// unless the text says `sslmode=disable` or `sslmode=prefer`.
    ///
    /// # Errors
    /// `Text`, `NoHost`, `Authorities`, `SystemAuthorities`.
    pub fn parse(text: &str, options: &ConnectionOptions) -> Result<Self, DatabaseOpenError> {
        let text = text.trim();
        let mut config: Config = text.parse().map_err(DatabaseOpenError::Text)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(DatabaseOpenError::NoHost);
        }
        if !text.contains("sslmode") && !is_local(&config) {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECTING);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("wharf");
        }
        let shown = shown(&config);
        Ok(Self { config, tls: MakeRustlsConnect::new(client(options.authorities.as_deref())?), shown })
    }

    /// Server, port, database and user, for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn tls(&self) -> &MakeRustlsConnect {
        &self.tls
    }

    /// A connection of its own; the task of its messages runs on this runtime.
    pub(crate) async fn connect(&self) -> Result<Client, DatabaseOpenError> {
        let cannot = |error| DatabaseOpenError::Connect {
            at: self.shown.clone(),
            source: Box::<tokio_postgres::Error>::new(error),
        };
        let (client, connection) = self.config.connect(self.tls.clone()).await.map_err(cannot)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the state database ended");
            }
        });
        Ok(client)
    }

    pub(crate) fn pool(&self, options: &ConnectionOptions) -> Connections {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(self.config.clone(), self.tls.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(options.connections.clamp(1, 64))
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move {
                    tracing::debug!("a connection to the state database was made");
                    client.batch_execute(PLANS).await.map_err(HookError::Backend)
                })
            }))
            .build();
        // Only a pool with timeouts and no runtime cannot be built.
        Connections(pool.expect("a runtime is given"))
    }
}

/// The connections of a store.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Pool);

impl Connections {
    /// The first connection, which tells an operator what is wrong with the server.
    pub(crate) async fn first(&self, at: &str) -> Result<Object, DatabaseOpenError> {
        self.0.get().await.map_err(|failed| DatabaseOpenError::Connect {
            at: at.to_owned(),
            source: match failed {
                PoolError::Backend(error) => Box::new(error),
                failed => Box::new(failed),
            },
        })
    }

    /// A free connection, waited for until then at most.
    pub(crate) async fn get(&self, until: Instant) -> Result<Object, StateError> {
        let left = until.saturating_duration_since(Instant::now());
        let timeouts = Timeouts { wait: Some(left), create: Some(left.min(CONNECTING)), recycle: Some(left) };
        self.0.timeout_get(&timeouts).await.map_err(|failed| match failed {
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => StateError::Busy,
            failed => error::unreachable(failed),
        })
    }
}

fn is_local(config: &Config) -> bool {
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn shown(config: &Config) -> String {
    let mut hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
    let ports: Vec<String> = config.get_ports().iter().map(ToString::to_string).collect();
    let port = if ports.is_empty() { "5432".to_owned() } else { ports.join(",") };
    let (database, user) = (config.get_dbname().or(config.get_user()), config.get_user());
    format!("{}:{port}, database {}, user {}", hosts.join(","), database.unwrap_or("?"), user.unwrap_or("?"))
}

fn client(authorities: Option<&Path>) -> Result<ClientConfig, DatabaseOpenError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(DatabaseOpenError::SystemAuthorities)?;
    let Some(path) = authorities else {
        return Ok(builder
            .with_platform_verifier()
            .map_err(DatabaseOpenError::SystemAuthorities)?
            .with_no_client_auth());
    };
    let cannot = |source| DatabaseOpenError::Authorities { path: path.to_path_buf(), source };
    let roots = read_authorities(path).map_err(cannot)?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn read_authorities(path: &Path) -> Result<RootCertStore, Box<dyn std::error::Error + Send + Sync>> {
    let file = fs::File::open(path)?;
    if file.metadata()?.len() > CERTIFICATE_BYTES {
        return Err(format!("it has more than {CERTIFICATE_BYTES} bytes").into());
    }
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_reader_iter(BufReader::new(file)) {
        roots.add(certificate?)?;
    }
    if roots.is_empty() { Err("it has no certificate".into()) } else { Ok(roots) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> SslMode {
        DatabaseAddress::parse(text, &ConnectionOptions::default()).expect("an address").config.get_ssl_mode()
    }

    #[test]
    fn a_connection_to_another_machine_is_encrypted_unless_the_text_says_otherwise() {
        assert_eq!(mode("host=db.example.com user=wharf"), SslMode::Require);
        assert_eq!(mode("postgresql://wharf@10.0.0.1/state"), SslMode::Require);
        assert_eq!(mode("host=localhost,db.example.com user=wharf"), SslMode::Require, "one of them is far");
        assert_eq!(mode("host=localhost hostaddr=10.0.0.1 user=wharf"), SslMode::Require, "the address counts");
        assert_eq!(mode("host=db.example.com user=wharf sslmode=disable"), SslMode::Disable);
        for local in ["host=/run/postgresql", "host=localhost", "host=127.0.0.1", "host=::1"] {
            assert_eq!(mode(local), SslMode::Prefer, "{local}");
        }
    }

    #[test]
    fn messages_name_the_place_and_no_password() {
        let text = "host=db.example.com port=6432 user=wharf password=hunter2 dbname=state";
        let address = DatabaseAddress::parse(text, &ConnectionOptions::default()).expect("an address");
        assert_eq!(address.shown(), "db.example.com:6432, database state, user wharf");
        assert!(!format!("{address:?}").contains("hunter2"));
    }
}
