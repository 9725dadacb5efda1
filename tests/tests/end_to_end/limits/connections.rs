//! Limits of connections over HTTP, before a token was shown on them and after.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use wharf_tests::{Data, Server, blocking};

use super::http::{head, limited, names, staying};
use crate::http_mcp::with_tokens;

#[test]
pub(super) fn one_connection_too_many_is_refused() {
    let server = Server::start(&limited("connections", 2).http_limit("arrival_milliseconds", 600_000));
    let (first, second) = (staying(&server), staying(&server));
    for stream in [&first, &second] {
        assert!(head(stream).expect("answered").starts_with("HTTP/1.1 200"));
    }
    let refused = server.ask("GET", "/v1/health", "s", None);
    assert_eq!((refused.status, refused.head.contains("retry-after")), (429, true), "{refused:?}");
    names(&refused, "connections");
    drop(first);
    until_served(&server);
    drop(second);
}

/// Asks until there is a place again.
pub(super) fn until_served(server: &Server) {
    blocking::until("the place is given back", || server.ask("GET", "/v1/health", "s", None).status != 429);
}

#[test]
pub(super) fn one_connection_of_a_tenant_too_many_is_refused() {
    let setup = limited("connections_per_tenant", 1).http_limit("arrival_milliseconds", 600_000);
    let options: [&[&str]; 2] = [&["--name", "a", "--tenant", "a"], &["--name", "b", "--tenant", "b"]];
    let (mut server, tokens) = with_tokens(setup, options);
    server.token.clone_from(&tokens[0]);
    let kept = staying(&server);
    assert!(head(&kept).expect("answered").starts_with("HTTP/1.1 200"));
    let refused = server.ask("GET", "/v1/health", "s", None);
    assert_eq!(refused.status, 429, "{refused:?}");
    names(&refused, "connections_per_tenant");
    server.token.clone_from(&tokens[1]);
    assert_eq!(server.ask("GET", "/v1/health", "s", None).status, 200, "another tenant has its own");
}

/// Whether the server has closed this connection, which says nothing.
fn is_over(mut stream: impl Read) -> bool {
    !matches!(stream.read(&mut [0]), Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
}

/// One after the other, until all were accepted.
fn strangers(server: &Server, address: SocketAddr, number: usize) -> Vec<TcpStream> {
    let strangers = (0..number).map(|_| TcpStream::connect(address).expect("connects")).collect();
    assert_eq!(server.ask("GET", "/v1/health", "s", None).status, 200, "it comes after them");
    strangers
}

#[test]
pub(super) fn one_stranger_too_many_costs_the_oldest_its_connection() {
    // The last one of them is the client, before it has shown its token.
    let patience = limited("connections_without_token", 3).http_limit("arrival_without_token_milliseconds", 600_000);
    let server = Server::start(&patience);
    let mut strangers = strangers(&server, server.address, 3);
    assert!(is_over(&mut strangers[0]), "the oldest");
    for stream in &mut strangers[1..] {
        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
        assert!(!is_over(stream));
    }
}

/// The address of this machine that is not the loopback, with the port of a server that listens on all.
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn own_address(server: &Server) -> Option<SocketAddr> {
    // Nothing is sent: the system only says by which address it would be.
    let own = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let own = own.ok().filter(|own| !own.ip().is_loopback());
    if own.is_none() {
        eprintln!("not tested: this machine has no address but the loopback");
    }
    own.map(|own| SocketAddr::new(own.ip(), server.address.port()))
}

#[test]
pub(super) fn guesses_of_an_address_lock_out_its_guesses_alone() {
    let data = Data::new();
    data.write("wharf.toml", limited("wrong_tokens_per_address", 3).text());
    let mut server = Server::start_at("0.0.0.0:0", data, &["--http-allow-public"]);
    let Some(address) = own_address(&server) else { return };
    let local = std::mem::replace(&mut server.address, address);
    let guess = |server: &Server, number: u32| server.ask_as(&format!("{number:064}"), "GET", "/v1/terminals", None);
    for number in 0..3 {
        assert_eq!(guess(&server, number).status, 401);
    }
    let refused = guess(&server, 3);
    names(&refused, "wrong_tokens_per_address");
    let wait: u64 = refused.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("seconds");
    assert!(refused.status == 429 && (1..=60).contains(&wait), "{refused:?}");
    let sign_in = server.ask_as("", "POST", "/console/session", Some(serde_json::json!({"code": "x"})));
    assert_eq!(sign_in.status, 429, "{sign_in:?}");
    // What is no guess is served, and so is everybody else.
    assert_eq!(server.ask("GET", "/v1/terminals", "s", None).status, 200);
    server.address = local;
    assert_eq!(guess(&server, 4).status, 401);
}

#[test]
pub(super) fn one_stranger_of_an_address_too_many_costs_its_own_oldest() {
    let patience = limited("connections_without_token_per_address", 2);
    let setup = patience.http_limit("arrival_without_token_milliseconds", 600_000);
    let data = Data::new();
    data.write("wharf.toml", setup.text());
    let server = Server::start_at("0.0.0.0:0", data, &["--http-allow-public"]);
    let Some(address) = own_address(&server) else { return };
    let local = SocketAddr::from(([127, 0, 0, 1], address.port()));
    let mut others: Vec<_> = (0..4).map(|_| TcpStream::connect(local).expect("connects")).collect();
    let mut strangers: Vec<_> = (0..3).map(|_| TcpStream::connect(address).expect("connects")).collect();
    assert!(is_over(&mut strangers[0]), "the oldest of this address");
    for stream in others.iter_mut().chain(&mut strangers[1..]) {
        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
        assert!(!is_over(stream), "the loopback has no such limit");
    }
}

#[test]
pub(super) fn a_stranger_that_takes_too_long_is_not_waited_for() {
    let setup = limited("arrival_without_token_milliseconds", 500).http_limit("arrival_milliseconds", 600_000);
    let server = Server::start(&setup);
    let client = staying(&server);
    assert!(head(&client).expect("answered").starts_with("HTTP/1.1 200"));
    let mut stranger = server.connect();
    stranger.write_all(b"GET /v1/health HTTP/1.1\r\nHost: lo").expect("the server reads");
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).expect("the server closes");
    assert_eq!(answer, "");
    // A client that has shown a token has all the time of `arrival_milliseconds`.
    client.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
    assert!(!is_over(&mut &client));
}
