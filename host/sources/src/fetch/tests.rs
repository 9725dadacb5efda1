use std::{
    io::Write as _,
    net::TcpListener,
    thread::{self, JoinHandle},
};

use super::*;
use crate::error::SourceError;

/// A server that answers one request with these bytes.
fn answering(answer: Vec<u8>) -> (PluginSource, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = format!("http://{}/some/my_tool.wasm", listener.local_addr().expect("bound"));
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let _ = stream.read(&mut [0; 4096]);
        // A client that has read enough is gone.
        let _ = stream.write_all(&answer);
    });
    (address.parse().expect("the loopback"), answering)
}

fn fetched(answer: &[u8], limit: u64) -> Result<Vec<u8>, FetchError> {
    let (source, answering) = answering(answer.to_vec());
    let fetched = source.fetch(limit, &RegistryLogins::none(), &mut |_| {});
    answering.join().expect("answered");
    fetched.map(|fetched| fetched.component)
}

#[test]
fn a_source_is_a_file_or_an_address_that_nobody_on_the_way_can_change() {
    let parse = |text: &str| text.parse::<PluginSource>();
    assert_eq!(parse("a/my_tool.wasm"), Ok(PluginSource::File("a/my_tool.wasm".into())));
    let address = parse("https://example.com/x/my_tool.wasm?v=1").expect("protected");
    assert_eq!(address.stem().as_deref(), Some("my-tool"));
    for loopback in ["http://127.0.0.1:1/x.wasm", "http://[::1]/x.wasm"] {
        assert!(matches!(parse(loopback), Ok(PluginSource::Address(_))), "{loopback}");
    }
    for unprotected in
        ["http://example.com/x", "http://localhost/x", "http://127.0.0.1.example.com/", "http://10.0.0.1/"]
    {
        assert_eq!(parse(unprotected), Err(SourceError::Unprotected), "{unprotected}");
    }
    assert_eq!(parse("file:///x"), Err(SourceError::Scheme("file".into())));
    for reference in ["ghcr.io/acme/tool:1", "localhost:5000/tool:1", "ghcr.io/acme/tool@sha256:00"] {
        assert_eq!(parse(reference), Err(SourceError::NoScheme(reference.to_owned())));
    }
    for file in
        ["./ghcr.io/acme/tool:1", "/srv/a.b/tool:1", "../a.b/tool:1", "a/tool:1", "tool:1", "a.b/tool", "a.b/t:1.wasm"]
    {
        assert_eq!(parse(file), Ok(PluginSource::File(file.into())), "{file}");
    }
    assert_eq!(parse("https://me:secret@example.com/x"), Err(SourceError::Password));
    assert!(matches!(parse("https://"), Err(SourceError::Address(_))));
}

#[test]
fn what_comes_is_taken_up_to_the_limit_whatever_was_announced() {
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    assert_eq!(fetched(ok, 5).expect("fits"), b"hello");
    assert!(matches!(fetched(ok, 4), Err(FetchError::TooLarge { limit: 4, .. })));
    let endless = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(), &[b'x'; 300_000]].concat();
    assert!(matches!(fetched(&endless, 1_000), Err(FetchError::TooLarge { .. })));
    let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n";
    assert!(matches!(fetched(huge, 1_000), Err(FetchError::TooLarge { .. })));
    let broken = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello";
    assert!(matches!(fetched(broken, 1_000), Err(FetchError::Broken { .. })));
}

#[test]
fn a_refusal_or_a_way_elsewhere_is_no_component() {
    let missing = fetched(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 10).expect_err("missing");
    assert!(wharf_core::text::with_causes(&missing).contains("404"), "{missing:?}");
    let elsewhere = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/x\r\nContent-Length: 0\r\n\r\n";
    assert!(matches!(fetched(elsewhere, 10), Err(FetchError::Request { .. })));
}

#[test]
fn a_server_without_tls_is_not_taken_for_one_with_it() {
    let (source, answering) = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx".to_vec());
    let protected: PluginSource = source.to_string().replace("http:", "https:").parse().expect("an address");
    assert!(matches!(protected.fetch(10, &RegistryLogins::none(), &mut |_| {}), Err(FetchError::Request { .. })));
    answering.join().expect("answered");
}
