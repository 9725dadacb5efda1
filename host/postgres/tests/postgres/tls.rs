//! Connections that are encrypted, and servers that are not the right ones.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use wharf_postgres::{ConnectionOptions, DatabaseOpenError, PostgresOptions, PostgresStore};
use wharf_state::StateStore as _;
use wharf_test_support::{free_address, postgres::PostgresServer, soon, write_private};

use super::{policy, put, session};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key")).expect("an authority")
}

/// A server on a port, with the certificate of an authority of the test's own.
struct Encrypted {
    port: u16,
    authorities: PathBuf,
    folder: tempfile::TempDir,
    _server: PostgresServer,
}

impl Encrypted {
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let issuer = authority();
        let authorities = folder.path().join("authority.pem");
        std::fs::write(&authorities, issuer.pem()).expect("written");
        let key = KeyPair::generate().expect("a key");
        let own = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
        let certificate = own.signed_by(&key, &issuer).expect("a certificate");
        let port = free_address().port();
        let server = PostgresServer::start_with(|place| {
            let certificate = write_private(place, "server.pem", certificate.pem());
            let key = write_private(place, "server.key", key.serialize_pem());
            format!(
                "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
                certificate.display(),
                key.display()
            )
        })?;
        Some(Self { port, authorities, folder, _server: server })
    }

    async fn open(&self, host: &str, authorities: Option<PathBuf>) -> Result<PostgresStore, DatabaseOpenError> {
        let connection = ConnectionOptions { authorities, ..ConnectionOptions::default() };
        let text = format!("{host} port={} user=postgres dbname=postgres sslmode=require", self.port);
        PostgresStore::open(&text, PostgresOptions { connection, ..PostgresOptions::default() }).await
    }
}

#[tokio::test]
async fn an_encrypted_connection_needs_the_right_name_and_the_right_authority() {
    let Some(server) = Encrypted::start() else { return };
    let store = server.open("host=localhost", Some(server.authorities.clone())).await.expect("a store");
    store.apply(&session("s"), &policy(), vec![put("key", b"value")], soon()).await.expect("a write");

    let other = server.folder.path().join("other.pem");
    std::fs::write(&other, authority().pem()).expect("written");
    let wrong = [
        ("host=127.0.0.1", Some(server.authorities.clone())),
        ("host=localhost", Some(other)),
        ("host=localhost", None),
    ];
    for (host, authorities) in wrong {
        let error = server.open(host, authorities.clone()).await.expect_err("not trusted");
        assert!(matches!(error, DatabaseOpenError::Connect { .. }), "{host} {authorities:?}: {error:?}");
    }
}

#[tokio::test]
async fn authorities_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").expect("written");
    for path in [empty, folder.path().join("absent.pem")] {
        let connection = ConnectionOptions { authorities: Some(path.clone()), ..ConnectionOptions::default() };
        let options = PostgresOptions { connection, ..PostgresOptions::default() };
        let error = PostgresStore::open("host=localhost", options).await.expect_err("no authorities");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}
