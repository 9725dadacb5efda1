//! Tokens that are bound to the certificate of their client (RFC 8705): the real binary, and clients of rustls.

use std::{
    io::{Read as _, Write as _},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, PKCS_ECDSA_P384_SHA384, SignatureAlgorithm};
use ring::digest::{SHA256, digest};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
    crypto::ring as cryptography,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _},
    version::{TLS12, TLS13},
};
use serde_json::{Value, json};
use wharf_test_support::authority::{Authority, Holds};
use wharf_tests::{Data, Reply, Server, Setup};

use super::issuer::{Issuer, Key, RESOURCE};
use crate::http_mcp::modern;

/// A certificate of a client, and its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// One that its client has signed itself, in the way of a client or of an authority.
    fn own(is_authority: bool, algorithm: &'static SignatureAlgorithm) -> Self {
        let key = KeyPair::generate_for(algorithm).expect("a key");
        let mut parameters = CertificateParams::new(["client".to_owned()]).expect("a name");
        if is_authority {
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        let certificate = parameters.self_signed(&key).expect("a certificate");
        Self { certificate: certificate.der().clone(), key: PrivatePkcs8KeyDer::from(key.serialize_der()) }
    }

    fn new() -> Self {
        Self::own(false, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    fn issued_by(authority: &Authority, holds: Holds) -> Self {
        let (certificate, key) = authority.certificate("client", holds);
        Self {
            certificate: CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM"),
            key: PrivatePkcs8KeyDer::from_pem_slice(key.as_bytes()).expect("PEM"),
        }
    }

    /// How a token names it.
    fn thumbprint(&self) -> Value {
        json!({"x5t#S256": URL_SAFE_NO_PAD.encode(digest(&SHA256, &self.certificate))})
    }
}

/// A host, its issuer, and the authority of its own certificate.
struct Bound {
    server: Server,
    issuer: Issuer,
    key: Key,
    authority: Authority,
}

impl Bound {
    /// With these lines under `[http.oauth]` and `[http.tls]`.
    fn start(oauth: &str, tls: Option<&str>, files: &[(&str, &str)]) -> Self {
        let (key, authority) = (Key::new("one"), Authority::new());
        let issuer = Issuer::new(vec![key.public.clone()]);
        let data = Data::new();
        let (certificate, own_key) = authority.certificate("localhost", Holds::Now);
        data.write("certificate.pem", certificate);
        data.write_private("key.pem", own_key);
        data.write_private("introspection", "s3cr:t");
        for (name, content) in files {
            data.write(name, content);
        }
        let tls = tls.map_or_else(String::new, |lines| {
            format!("[http.tls]\ncertificate = \"certificate.pem\"\nkey = \"key.pem\"\n{lines}\n")
        });
        let lines = format!("{tls}[http.oauth]\nissuer = \"{}\"\nresource = \"{RESOURCE}\"\n{oauth}\n", issuer.address);
        data.write("wharf.toml", Setup::bare().planning().with_tables(&lines).text());
        let path = data.path().join("http-token");
        let server = Server::start_in(data, &["--http-token-file", path.to_str().expect("UTF-8")]);
        Self { server, issuer, key, authority }
    }

    /// A token that names this confirmation.
    fn token(&self, confirmation: &Value) -> String {
        self.key.sign(&self.issuer.claims_but("cnf", confirmation.clone()))
    }

    fn unbound(&self) -> String {
        self.key.sign(&self.issuer.claims())
    }

    fn client(&self, identity: Option<&Identity>, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.pem().as_bytes()).expect("PEM")).expect("an authority");
        let builder = ClientConfig::builder_with_provider(Arc::new(cryptography::default_provider()))
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_root_certificates(roots);
        Arc::new(match identity {
            None => builder.with_no_client_auth(),
            Some(Identity { certificate, key }) => builder
                .with_client_auth_cert(vec![certificate.clone()], PrivateKeyDer::from(key.clone_key()))
                .expect("they belong together"),
        })
    }

    /// The answer over TLS, where there is one: a handshake may fail.
    fn try_ask(&self, token: &str, config: &Arc<ClientConfig>) -> Option<Reply> {
        let session =
            ClientConnection::new(Arc::clone(config), "localhost".try_into().expect("a name")).expect("a session");
        let mut stream = StreamOwned::new(session, self.server.connect());
        stream.write_all(request(token).as_bytes()).ok()?;
        let mut answer = Vec::new();
        // Servers need not say that they close.
        let _ = stream.read_to_end(&mut answer);
        Reply::of(&String::from_utf8_lossy(&answer))
    }

    fn ask(&self, token: &str, identity: Option<&Identity>) -> Reply {
        let config = self.client(identity, &TLS13);
        self.try_ask(token, &config).unwrap_or_else(|| panic!("no answer: {}", self.server.log()))
    }

    #[track_caller]
    fn takes(&self, token: &str, identity: Option<&Identity>) {
        let reply = self.ask(token, identity);
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    #[track_caller]
    fn refuses(&self, token: &str, identity: Option<&Identity>, words: &str) {
        is_refused(&self.ask(token, identity), words);
    }
}

fn request(token: &str) -> String {
    let (headers, message) = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    let body = message.to_string();
    format!(
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// RFC 6750, section 3.1.
#[track_caller]
fn is_refused(reply: &Reply, words: &str) {
    assert_eq!(reply.status, 401, "{reply:?}");
    assert!(reply.body.contains(words), "{reply:?}");
    let challenge = reply.header("www-authenticate").expect("a challenge");
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
}

const ACCEPTED: &str = "certificate_bound_tokens = \"accepted\"";

#[test]
fn a_bound_token_opens_the_host_on_connections_of_its_certificate_alone() {
    let bound = Bound::start(ACCEPTED, Some(""), &[]);
    let (own, other) = (Identity::new(), Identity::new());
    let token = bound.token(&own.thumbprint());
    for version in [&TLS12, &TLS13] {
        let config = bound.client(Some(&own), version);
        // The second connection goes on with the session of the first one, where TLS has it so.
        for _ in 0..3 {
            assert_eq!(bound.try_ask(&token, &config).expect("an answer").status, 200, "{version:?}");
        }
        let config = bound.client(Some(&other), version);
        for _ in 0..3 {
            is_refused(&bound.try_ask(&token, &config).expect("an answer"), "bound to another certificate");
        }
    }
    bound.refuses(&token, None, "this connection shows none");
    // Others are not bound, on any connection.
    bound.takes(&bound.unbound(), None);
    bound.takes(&bound.unbound(), Some(&other));
    // A proof of another kind is none that is checked here.
    bound.refuses(
        &bound.token(&json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"})),
        Some(&own),
        "`x5t#S256`",
    );
    // Certificates as `openssl req -x509` makes them, and other keys.
    let odd = Identity::own(true, &PKCS_ECDSA_P384_SHA384);
    bound.takes(&bound.token(&odd.thumbprint()), Some(&odd));
    // The certificate of another client without its key.
    let stolen = Identity { certificate: own.certificate.clone(), key: other.key.clone_key() };
    let mut config = ClientConfig::clone(&bound.client(None, &TLS13));
    config.client_auth_cert_resolver = Arc::new(Stolen::of(&stolen));
    assert!(bound.try_ask(&token, &Arc::new(config)).is_none(), "the handshake proves the key");
}

/// Shows a certificate with a key of another one.
#[derive(Debug)]
struct Stolen(Arc<rustls::sign::CertifiedKey>);

impl Stolen {
    fn of(identity: &Identity) -> Self {
        let key = PrivateKeyDer::from(identity.key.clone_key());
        let key = cryptography::sign::any_supported_type(&key).expect("a key");
        Self(Arc::new(rustls::sign::CertifiedKey::new(vec![identity.certificate.clone()], key)))
    }
}

impl rustls::client::ResolvesClientCert for Stolen {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<rustls::sign::CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[test]
fn a_host_that_requires_it_takes_no_token_that_is_bound_to_nothing() {
    let bound = Bound::start("certificate_bound_tokens = \"required\"", Some(""), &[]);
    let own = Identity::new();
    bound.takes(&bound.token(&own.thumbprint()), Some(&own));
    bound.refuses(&bound.unbound(), Some(&own), "bound to no certificate");
    bound.refuses(&bound.unbound(), None, "bound to no certificate");
    // The operator's own tokens are none of the issuer's.
    bound.takes(&bound.server.token, None);
}

#[test]
fn a_certificate_of_another_authority_gets_no_connection_where_the_operator_names_some() {
    let authority = Authority::new();
    let bound =
        Bound::start(ACCEPTED, Some("client_authorities = \"clients.pem\""), &[("clients.pem", authority.pem())]);
    let own = Identity::issued_by(&authority, Holds::Now);
    bound.takes(&bound.token(&own.thumbprint()), Some(&own));
    bound.takes(&bound.unbound(), None);
    for other in [
        Identity::new(),
        Identity::issued_by(&Authority::new(), Holds::Now),
        Identity::issued_by(&authority, Holds::Before),
        Identity::issued_by(&authority, Holds::Later),
    ] {
        for version in [&TLS12, &TLS13] {
            let config = bound.client(Some(&other), version);
            assert!(bound.try_ask(&bound.token(&other.thumbprint()), &config).is_none(), "{version:?}");
        }
    }
}

#[test]
fn a_bound_token_is_refused_in_words_where_tls_ends_elsewhere_or_no_client_is_asked() {
    let own = Identity::new();
    let plain = Bound::start("", None, &[]);
    let ask = |token: &str| {
        let mut stream = plain.server.connect();
        stream.write_all(request(token).as_bytes()).expect("it listens");
        wharf_tests::replied(stream)
    };
    is_refused(&ask(&plain.token(&own.thumbprint())), "TLS ends before it, as at a proxy");
    assert_eq!(ask(&plain.unbound()).status, 200);
    let unasked = Bound::start("", Some(""), &[]);
    unasked.refuses(&unasked.token(&own.thumbprint()), Some(&own), "asks clients for none");
    unasked.takes(&unasked.unbound(), Some(&own));
    drop((plain, unasked));
    for (lines, problem) in [
        (
            format!("[http.oauth]\nissuer = \"https://a.example\"\nresource = \"https://b.example\"\n{ACCEPTED}\n"),
            "needs [http.tls]",
        ),
        ("[http.tls]\ncertificate = \"c\"\nkey = \"k\"\nclient_authorities = \"a\"\n".to_owned(), "of no use"),
    ] {
        let read = wharf::Configuration::parse(&lines, "/".as_ref()).expect_err(problem).to_string();
        assert!(read.contains(problem), "{read}");
    }
}

#[test]
fn what_the_issuer_says_of_a_token_binds_it_as_well() {
    let introspection = "[http.oauth.introspection]\nclient = \"wharf host\"\nfile = \"introspection\"\n";
    let bound = Bound::start(&format!("{ACCEPTED}\n{introspection}"), Some(""), &[]);
    let (own, other) = (Identity::new(), Identity::new());
    let says = |token: &str, claims: Value| {
        bound.issuer.active.lock().expect("a lock").insert(token.to_owned(), claims);
    };
    says("opaque", json!({"active": true, "aud": RESOURCE, "sub": "ada", "cnf": own.thumbprint()}));
    let (signed, twice) = (bound.unbound(), bound.token(&other.thumbprint()));
    says(&signed, json!({"active": true, "cnf": own.thumbprint()}));
    says(&twice, json!({"active": true, "cnf": own.thumbprint()}));
    for token in ["opaque", &signed] {
        bound.takes(token, Some(&own));
        bound.refuses(token, Some(&other), "bound to another certificate");
        bound.refuses(token, None, "this connection shows none");
    }
    for identity in [&own, &other] {
        bound.refuses(&twice, Some(identity), "bound to another certificate");
    }
}
