//! Registries over TLS: which are believed, and that nothing leads out of it.

use std::{net::TcpListener, sync::Arc, thread};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use wharf_tests::{Finished, Setup};

use super::*;
use crate::plugins::commands::Place;

/// Made for `localhost`, by itself.
pub(crate) const CERTIFICATE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../host/http/tests/http/certificate/certificate.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/http/tests/http/certificate/key.pem");

/// What a server that calls itself so needs.
pub(crate) fn as_localhost() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).expect("PEM");
    let key = PrivateKeyDer::from_pem_file(KEY).expect("PEM");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("known")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together");
    Arc::new(config)
}

/// A door with TLS before a server without: its port.
fn protected(behind: &Upstream) -> u16 {
    let config = as_localhost();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let behind = behind.authority();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let (config, behind) = (Arc::clone(&config), behind.clone());
            // A client that does not trust it goes during the handshake.
            thread::spawn(move || carry(&config, connection, &behind).ok());
        }
    });
    port
}

/// One request and its answer.
fn carry(config: &Arc<ServerConfig>, connection: TcpStream, behind: &str) -> std::io::Result<()> {
    use std::io::Read as _;
    let session = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut client = StreamOwned::new(session, connection);
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let mut server = TcpStream::connect(behind)?;
    server.write_all(&head)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    client.write_all(&answer)?;
    client.conn.send_close_notify();
    client.flush()
}

/// Adds from `localhost`, where the certificates in this file are trusted.
fn add(place: &Place, port: u16, trusted: &str, docker: &str) -> Finished {
    let address = format!("oci://localhost:{port}/team/greeter:1.2");
    wharf_tests::wharf(["plugin", "add", &address, "--json"])
        .config(&place.files.path().join("wharf.toml"))
        .data(place.data.path())
        .env("SSL_CERT_FILE", trusted)
        .env("DOCKER_CONFIG", docker)
        .run()
}

#[test]
fn a_registry_that_nobody_vouches_for_is_not_asked() {
    let place = Place::new(&Setup::bare());
    let registry = honest(&saying(true));
    let port = protected(&registry);
    let refused = add(&place, port, "/dev/null", "/nonexistent");
    assert!(refused.code.is_some_and(|code| code != 0), "{refused:?}");
    assert!(refused.err.contains("cannot be asked") && refused.err.contains("certificate"), "{refused:?}");
    assert!(registry.asked().is_empty(), "{:?}", registry.asked());
    assert!(!place.data.path().join("plugins").exists(), "nothing is kept");
    // The same with a certificate that is trusted, so it was for that.
    let added = add(&place, port, CERTIFICATE, "/nonexistent");
    assert_eq!(added.code, Some(0), "{added:?}");
    // And no plain server is taken for a protected one.
    let plain: u16 = registry.authority().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let refused = add(&place, plain, CERTIFICATE, "/nonexistent");
    assert!(refused.code != Some(0), "{refused:?}");
}

#[test]
fn nothing_leads_out_of_tls() {
    let place = Place::new(&Setup::bare());
    let component = saying(true);
    let plain = honest(&component);
    let target = format!("http://{}/v2/team/greeter/blobs/{}", plain.authority(), sha256(&component));
    let leading = registry(&component, move |_, path, connection| {
        if path.contains("/blobs/") {
            answer(connection, "307 Elsewhere", &format!("location: {target}\r\n"), b"");
        }
        path.contains("/blobs/")
    });
    let refused = add(&place, protected(&leading), CERTIFICATE, "/nonexistent");
    assert!(refused.code.is_some_and(|code| code != 0) && refused.err.contains("https only"), "{refused:?}");
    assert!(plain.asked().is_empty(), "{:?}", plain.asked());
    assert!(!place.data.path().join("plugins").exists(), "nothing is kept");
}

#[test]
fn a_token_does_not_go_along_to_where_a_layer_really_lies() {
    let place = Place::new(&Setup::bare());
    let component = saying(true);
    let store = honest(&component);
    let target = format!("https://localhost:{}/v2/team/greeter/blobs/{}", protected(&store), sha256(&component));
    let leading = registry(&component, move |head, path, connection| {
        let is_known = head.to_ascii_lowercase().contains("authorization: basic bwu6c2vjcmv0");
        if !is_known {
            answer(connection, "401 Unauthorized", "www-authenticate: Basic realm=\"x\"\r\n", b"");
        } else if path.contains("/blobs/") {
            answer(connection, "307 Elsewhere", &format!("location: {target}\r\n"), b"");
        }
        !is_known || path.contains("/blobs/")
    });
    let port = protected(&leading);
    let docker = wharf_tests::Data::alone();
    docker.write_private(
        "config.json",
        json!({"auths": {format!("localhost:{port}"): {"auth": "bWU6c2VjcmV0"}}}).to_string(),
    );
    let added = add(&place, port, CERTIFICATE, &docker.path().display().to_string());
    assert_eq!(added.code, Some(0), "{added:?}");
    let asked = store.asked();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].to_ascii_lowercase().contains("authorization"), "{asked:?}");
}
