//! Components that are fetched over TLS: `wharf plugin add` with an `https:` address.

use std::io::Write;

use wharf_tests::{Authority, Finished, Holds, Setup, Upstream, wharf};

use super::{commands::Place, saying};

/// The name that the address says.
const NAME: &str = "localhost";

/// Runs `wharf plugin add` with this path of the server, trusting this authority.
fn add(place: &Place, upstream: &Upstream, path: &str, trusted: &Authority) -> Finished {
    let address = format!("https://{NAME}:{}{path}", upstream.port());
    let trusted = place.files.write("trusted.pem", trusted.pem());
    wharf(["plugin", "add", &address, "--name", "fetched"])
        .config(&place.files.path().join("wharf.toml"))
        .data(place.data.path())
        .env("SSL_CERT_FILE", trusted.to_str().expect("UTF-8"))
        // The machine that runs the tests may have a proxy.
        .env("NO_PROXY", NAME)
        .run()
}

fn component(_: &str, connection: &mut dyn Write) {
    Upstream::send(connection, "", &saying(true));
}

#[test]
fn a_component_is_added_from_a_server_whose_certificate_holds() {
    let (place, authority) = (Place::new(&Setup::bare()), Authority::new());
    let upstream = Upstream::over_tls(authority.certify(NAME, Holds::Now), component);
    let added = add(&place, &upstream, "/greeter.wasm", &authority);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(place.ran(&["call", "fetched__run", "{}"]), "yes\n");
    let receipt = &place.json(&["plugin", "info", "fetched"])["receipt"];
    assert!(receipt["source"].to_string().contains(&format!("https://{NAME}:{}/", upstream.port())), "{receipt}");
}

#[test]
fn nothing_is_added_from_a_server_whose_certificate_does_not_hold() {
    let (trusted, other) = (Authority::new(), Authority::new());
    for (certificate, why) in [
        (other.certify(NAME, Holds::Now), "UnknownIssuer"),
        (trusted.certify(NAME, Holds::Before), "expired"),
        (trusted.certify(NAME, Holds::Later), "not valid yet"),
        (trusted.certify("good.localhost", Holds::Now), "not valid for name"),
    ] {
        let place = Place::new(&Setup::bare());
        let upstream = Upstream::over_tls(certificate, component);
        let added = add(&place, &upstream, "/greeter.wasm", &trusted);
        assert_eq!(added.code, Some(3), "{why}: {added:?}");
        assert!(added.err.contains("cannot fetch https://") && added.err.contains(why), "{why}: {added:?}");
        assert!(upstream.asked().is_empty(), "{why}: it was asked all the same");
        place.refused(&["plugin", "info", "fetched"], "fetched");
    }
}

#[test]
fn a_redirect_is_followed_within_tls_and_never_out_of_it() {
    let (place, authority) = (Place::new(&Setup::bare()), Authority::new());
    let certificate = authority.certify(NAME, Holds::Now);
    let plain = Upstream::start(|_, connection| Upstream::send(connection, "", &saying(true)));
    let out = format!("http://{}/greeter.wasm", plain.authority());
    let upstream = Upstream::over_tls(certificate, move |head, connection| {
        let leads = match head.split(' ').nth(1) {
            Some("/within") => "/greeter.wasm",
            Some("/out") => &out,
            _ => return component(head, connection),
        };
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {leads}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let _ = connection.write_all(head.as_bytes());
    });
    let refused = add(&place, &upstream, "/out", &authority);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(plain.asked().is_empty(), "it was asked for what anybody on the way could change");
    place.refused(&["plugin", "info", "fetched"], "fetched");
    let added = add(&place, &upstream, "/within", &authority);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert_eq!(place.ran(&["call", "fetched__run", "{}"]), "yes\n");
}
