//! Where a server listens, and how private that is.

use std::{os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
};
use tokio_util::sync::CancellationToken;
use wharf_completion::Streams;
use wharf_core::{StreamLimits, Token};
use wharf_http::{HttpAddress, HttpError, HttpServer, HttpSettings, Tls, TlsError};

use crate::support::services;

const TOKEN: &str = "0123456789abcdef";
pub(crate) const CERTIFICATE: &[u8] = include_bytes!("certificate/certificate.pem");
pub(crate) const KEY: &[u8] = include_bytes!("certificate/key.pem");

fn bind(address: HttpAddress, change: impl FnOnce(&mut HttpSettings)) -> Result<HttpServer, HttpError> {
    let streams = Streams::new(StreamLimits::default());
    let services = services(streams);
    let mut settings = HttpSettings::new(Token::new(TOKEN).expect("legal"));
    change(&mut settings);
    HttpServer::bind(address, services, settings)
}

async fn asked(mut stream: impl AsyncRead + AsyncWrite + Unpin, more: &str) -> String {
    let request = format!("GET /v1/streams HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    answer
}

fn socket(path: &Path) -> HttpAddress {
    HttpAddress::Socket(path.to_owned())
}

/// Speaks TLS with a server that has the key of the certificate.
pub(crate) fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).expect("PEM")).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn a_socket_is_the_users_own_and_goes_with_its_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.sock");
    let server = bind(socket(&path), |_| {}).expect("listens");
    assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(server.serve(shutdown.clone()));
    let answer = asked(UnixStream::connect(&path).await.expect("connects"), "").await;
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    let stranger = asked(UnixStream::connect(&path).await.expect("connects"), "Origin: https://evil.test\r\n").await;
    assert!(stranger.starts_with("HTTP/1.0 403"), "{stranger}");
    // Somebody answers there.
    let refused = bind(socket(&path), |_| {});
    assert!(matches!(&refused, Err(HttpError::Listen { source, .. }) if source.to_string().contains("answers")));
    shutdown.cancel();
    serving.await.expect("ends");
    assert_eq!(std::fs::read_dir(directory.path()).expect("readable").count(), 0, "nothing is left");
}

#[tokio::test]
async fn a_socket_that_nobody_answers_is_replaced_and_nothing_else_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("made"));
    assert!(path.exists(), "it was left behind");
    let server = bind(socket(&path), |_| {}).expect("listens");
    // Another host took the name meanwhile: it is not this one's to remove.
    std::fs::remove_file(&path).expect("removed");
    std::fs::write(&path, "text").expect("written");
    drop(server);
    assert!(path.exists());
    let refused = bind(socket(&path), |_| {});
    assert!(matches!(&refused, Err(HttpError::Listen { source, .. }) if source.to_string().contains("no socket")));
    assert_eq!(std::fs::read_to_string(&path).expect("readable"), "text");
    let dangling = directory.path().join("link");
    std::os::unix::fs::symlink("/nowhere", &dangling).expect("linked");
    assert!(bind(socket(&dangling), |_| {}).is_err(), "no link is followed");
}

#[tokio::test]
async fn with_a_certificate_connections_are_private_and_others_may_reach_it() {
    let tls = Tls::new(CERTIFICATE, KEY).expect("usable");
    let server = bind("0.0.0.0:0".parse().expect("an address"), |settings| settings.tls = Some(tls)).expect("listens");
    let port = server.address().port().expect("a port").port();
    let serving = CancellationToken::new();
    tokio::spawn(server.serve(serving.clone()));
    let connector = connector();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("connects");
    let name = "localhost".try_into().expect("a name");
    let stream = connector.connect(name, stream).await.expect("private");
    let answer = asked(stream, "Origin: https://localhost\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    // Without TLS there is no answer of HTTP.
    let mut plain = TcpStream::connect(("127.0.0.1", port)).await.expect("connects");
    plain.write_all(b"GET /v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n").await.expect("written");
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    serving.cancel();
}

#[test]
fn what_is_no_certificate_or_key_is_refused_with_what_it_has_to_be() {
    assert!(matches!(Tls::new(b"", KEY), Err(TlsError::Certificate(None))));
    assert!(matches!(Tls::new(KEY, KEY), Err(TlsError::Certificate(None))));
    assert!(matches!(Tls::new(CERTIFICATE, CERTIFICATE), Err(TlsError::Key(_))));
    let other = KEY.iter().rev().copied().collect::<Vec<_>>();
    assert!(Tls::new(CERTIFICATE, &other).is_err());
    assert_eq!(format!("{:?}", Tls::new(CERTIFICATE, KEY).expect("usable")), "Tls");
}
