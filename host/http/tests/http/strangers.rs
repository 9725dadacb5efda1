//! Clients that show no token: they get one answer each, and never make clients with a token wait.

use std::{io, path::Path, sync::Arc};

use hyper::StatusCode;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};
use tokio_util::sync::CancellationToken;
use wharf_completion::Streams;
use wharf_core::{HttpLimits, StreamLimits, Token};
use wharf_http::{HttpAddress, HttpServer, HttpSettings, Tls};
use wharf_test_support::in_time;

use crate::{
    client::Client,
    support::{Served, services, start_with},
};

/// As many as shut HTTP for everybody once.
const STRANGERS: usize = 1_300;
/// Both ends of every connection are in this process.
const DESCRIPTORS: u64 = 4_000;
const HEALTH: &str = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Limits whose time-outs never fire in a test: a client that is served got a place.
fn patient() -> HttpLimits {
    let hour = 600_000;
    HttpLimits { arrival_milliseconds: hour, arrival_without_token_milliseconds: hour, ..HttpLimits::default() }
}

fn start_patient() -> Served {
    start_with(|settings| settings.limits = patient(), StreamLimits::default())
}

/// Whether this process may have so many files.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn may_open_many() -> bool {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("readable");
    if hard < DESCRIPTORS {
        eprintln!("not tested: this process may open {hard} files, and {DESCRIPTORS} are needed");
        return false;
    }
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(DESCRIPTORS), hard).expect("allowed");
    true
}

async fn say(mut stream: impl AsyncWrite + Unpin, said: &str) {
    // It may have been let go already.
    let _ = stream.write_all(said.as_bytes()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_by_the_thousand_keep_no_client_with_a_token_waiting() {
    if !may_open_many() {
        return;
    }
    let slow_body = "POST /v1/terminals HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    for said in [HEALTH, "GET /v1/health HTTP/1.1\r\nHost: lo", slow_body, ""] {
        let served = start_patient();
        let mut strangers = Vec::new();
        for _ in 0..STRANGERS {
            let mut stream = TcpStream::connect(served.client.address).await.expect("connects");
            say(&mut stream, said).await;
            strangers.push(stream);
        }
        for _ in 0..3 {
            assert_eq!(served.client.get("/v1/streams").await.status, StatusCode::OK, "{said:?}");
        }
        drop(strangers);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_a_token_keep_their_connections_while_strangers_come_and_go() {
    let limits = HttpLimits { connections_without_token: 4, ..patient() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let writer = served.stream();
    let mut events = served.client.follow(&format!("/v1/streams/{}/events", writer.id())).await;
    let mut kept = TcpStream::connect(served.client.address).await.expect("connects");
    let request =
        format!("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", served.client.token);
    let mut asked = async || {
        kept.write_all(request.as_bytes()).await.expect("the server reads");
        let mut answer = [0; 2_048];
        let read = in_time("in time", kept.read(&mut answer)).await.expect("readable");
        let answer = String::from_utf8_lossy(&answer[..read]).to_lowercase();
        assert!(answer.starts_with("http/1.1 200") && !answer.contains("connection: close"), "{answer}");
    };
    asked().await;
    let mut strangers = Vec::new();
    for _ in 0..20 {
        strangers.push(TcpStream::connect(served.client.address).await.expect("connects"));
    }
    let mut nothing = [0];
    let first = in_time("the oldest is let go", strangers[0].read(&mut nothing)).await;
    assert!(matches!(first, Ok(0) | Err(_)), "{first:?}");
    asked().await;
    crate::support::say(&writer, "still there");
    assert_eq!(events.next().await.expect("an event").kind, "message");
}

#[tokio::test]
async fn a_stranger_is_answered_once_and_has_so_long_for_all_of_it() {
    let limits = HttpLimits { arrival_without_token_milliseconds: 500, ..patient() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    for (said, answered) in [
        (format!("{HEALTH}{HEALTH}"), "http/1.1 200 ok"),
        ("GET /v1/streams HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "http/1.1 401"),
        (HEALTH[..20].to_owned(), ""),
        (String::new(), ""),
    ] {
        let mut stream = TcpStream::connect(served.client.address).await.expect("connects");
        say(&mut stream, &said).await;
        let mut answer = Vec::new();
        // A request that was not read may end in a reset.
        let _ = in_time("the server closes", stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer).to_lowercase();
        assert!(answer.starts_with(answered) && answer.matches("http/1.1").count() <= 1, "{answer}");
        assert_eq!(answer.is_empty(), answered.is_empty(), "{said:?}: {answer}");
        assert!(answer.is_empty() || answer.contains("connection: close"), "{answer}");
    }
    // A wrong token counts as no token.
    let wrong = Client { token: "wrong-wrong-wrong-wrong".into(), ..served.client.clone() };
    assert_eq!(wrong.post("/v1/terminals", json!({})).await.headers["connection"], "close");
}

async fn asks(mut stream: impl tokio::io::AsyncRead + AsyncWrite + Unpin) -> io::Result<String> {
    let request = format!("GET /v1/streams HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

const TOKEN: &str = "0123456789abcdef";

fn bind(address: HttpAddress, tls: Option<Tls>) -> HttpServer {
    let mut settings = HttpSettings::new(Token::new(TOKEN).expect("legal"));
    settings.limits = HttpLimits { connections_without_token: 8, ..patient() };
    settings.tls = tls;
    HttpServer::bind(address, services(Streams::new(StreamLimits::default())), settings).expect("listens")
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_of_a_socket_and_handshakes_that_never_come_keep_nobody_waiting() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.sock");
    let shutdown = CancellationToken::new();
    tokio::spawn(bind(HttpAddress::Socket(path.clone()), None).serve(shutdown.clone()));
    let connect = async |path: &Path| UnixStream::connect(path).await.expect("connects");
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(connect(&path).await);
    }
    let answer = in_time("in time", asks(connect(&path).await)).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");

    let tls = Tls::new(crate::addresses::CERTIFICATE, crate::addresses::KEY).expect("usable");
    let server = bind("127.0.0.1:0".parse().expect("an address"), Some(tls));
    let address = server.address().port().expect("a port");
    tokio::spawn(server.serve(shutdown.clone()));
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(address).await.expect("connects"));
    }
    let stream = TcpStream::connect(address).await.expect("connects");
    let name = "localhost".try_into().expect("a name");
    let private = Arc::new(crate::addresses::connector()).connect(name, stream);
    let private = in_time("in time", private).await.expect("private");
    let answer = in_time("in time", asks(private)).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    shutdown.cancel();
}
