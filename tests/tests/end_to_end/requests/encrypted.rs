//! Requests over TLS, by the real binary: what it trusts is read from its environment.

use serde_json::{Value, json};
use wharf_tests::{Authority, Data, Finished, Holds, Setup, Upstream, wharf};

const SECRET: &str = "hunter2-hunter2-hunter2";
/// Leads to this machine with any resolver of names.
const NAME: &str = "good.localhost";

/// A host whose guest may ask this server, and tells it a secret.
struct Place {
    data: Data,
    upstream: Upstream,
}

impl Place {
    fn new(upstream: Upstream, trusted: &Authority) -> Self {
        let data = Data::new();
        data.write("trusted.pem", trusted.pem());
        data.write_private("token", SECRET);
        let pattern = format!("GET https://{NAME}:{}", upstream.port());
        let secret = format!(
            "[plugin.hostile.secrets.token]\nfile = '{}'\nto = \"{pattern}\"\nheader = \"Authorization: Bearer {{}}\"",
            data.path().join("token").display()
        );
        let setup = Setup::new().requests(&[&pattern], "private_addresses = true").with_tables(&secret);
        data.write("wharf.toml", setup.text());
        Self { data, upstream }
    }

    fn run(&self) -> Finished {
        let arguments = json!({"scheme": "https", "authority": format!("{NAME}:{}", self.upstream.port())});
        let trusted = self.data.path().join("trusted.pem");
        wharf(["call", "hostile__ask_http", &arguments.to_string()])
            .config(&self.data.path().join("wharf.toml"))
            .data(self.data.path())
            .env("SSL_CERT_FILE", trusted.to_str().expect("UTF-8"))
            .run()
    }

    fn ask(&self) -> Value {
        let run = self.run();
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    }
}

fn echo(head: &str, connection: &mut dyn std::io::Write) {
    Upstream::send(connection, "", head.as_bytes());
}

#[test]
fn a_server_whose_certificate_holds_is_asked_and_gets_the_secret() {
    let authority = Authority::new();
    let place = Place::new(Upstream::over_tls(authority.certify(NAME, Holds::Now), echo), &authority);
    let answer = place.ask();
    assert_eq!(answer["status"], 200, "{answer}");
    let asked = place.upstream.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "{asked:?}");
    assert!(asked[0].contains(&format!("host: {NAME}:{}\r\n", place.upstream.port())), "{asked:?}");
    assert!(!answer.to_string().contains(SECRET), "{answer}");
}

#[test]
fn a_server_whose_certificate_does_not_hold_is_told_nothing_and_the_guest_is_told_why() {
    let (trusted, other) = (Authority::new(), Authority::new());
    for (certificate, why) in [
        (other.certify(NAME, Holds::Now), "UnknownIssuer"),
        (trusted.certify(NAME, Holds::Before), "expired"),
        (trusted.certify(NAME, Holds::Later), "not valid yet"),
        (trusted.certify("other.localhost", Holds::Now), "not valid for name"),
        (trusted.certify("localhost", Holds::Now), "not valid for name"),
        // An error tells the names of a certificate, which may be what a server was once told.
        (trusted.certify(&format!("{SECRET}.localhost"), Holds::Now), "not valid for name"),
    ] {
        let place = Place::new(Upstream::over_tls(certificate, echo), &trusted);
        let answer = place.ask();
        let told = answer["refused"].as_str().unwrap_or_else(|| panic!("{why}: {answer}"));
        assert!(told.starts_with("unavailable: ") && told.contains(why), "{why}: {told}");
        assert!(!told.contains(SECRET), "{told}");
        assert!(place.upstream.asked().is_empty(), "{why}: it was asked all the same");
    }
}

#[test]
fn a_server_that_breaks_off_without_an_end_is_an_error_and_no_shorter_answer() {
    let authority = Authority::new();
    let certificate = authority.certify(NAME, Holds::Now);
    // The bytes that come may be half of the answer, which somebody on the way has cut.
    let upstream = Upstream::over_tls(certificate, |_, connection| {
        let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
    });
    let answer = Place::new(upstream, &authority).ask();
    assert!(answer["broken"].is_string(), "{answer}");
}
