//! Requests over real sockets, with names that a test resolves.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::{Request, Response, body::Bytes, header::HeaderMap};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::Instant,
};
use wharf_core::{
    Code, Error, Grants, HttpGrant, PluginName, RequestLimits, Secrets, TenantId,
    grant::GrantedRequest,
    request::{SecretRule, WantedRequest},
};
use wharf_network::{AnswerBody, NameOverrides, OutgoingRequest, RequestClient, RequestMeter, RequestTimeouts};

struct SilentMeter;

impl RequestMeter for SilentMeter {
    fn sent(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn received(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn answered(&self, _: u16) {}

    fn finished(&self) {}

    fn failed(&self, _: &Error) {}
}

/// Answers each request with its head, and keeps it.
async fn echo() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = connection.read_u8().await else { break };
                head.push(byte);
            }
            kept.lock().expect("not poisoned").push(String::from_utf8_lossy(&head).into_owned());
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", head.len());
            let _ = connection.write_all(answer.as_bytes()).await;
            let _ = connection.write_all(&head).await;
        }
    });
    (port, asked)
}

fn granted(url: &str, private_addresses: bool, secrets: Secrets) -> GrantedRequest {
    let plugin: PluginName = "p".parse().expect("legal");
    let requests = vec!["* *".parse().expect("a pattern")];
    let http = HttpGrant { requests, private_addresses, ..HttpGrant::with_reason("a test") };
    let grants = Grants { http: Some(http), secrets, ..Grants::default() };
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let wanted = WantedRequest::read("GET", scheme, authority, path).expect("a request");
    grants.http(&plugin).expect("granted").request(wanted).expect("granted")
}

async fn answered(requests: &RequestClient, granted: GrantedRequest) -> Result<Response<AnswerBody>, Error> {
    let outgoing = OutgoingRequest {
        granted,
        request: Request::new(Empty::<Bytes>::new()),
        permit: requests.permit(&TenantId::local())?,
        timeouts: RequestTimeouts::default(),
        until: Instant::now() + Duration::from_secs(60),
        meter: Arc::new(SilentMeter),
    };
    requests.send(outgoing).await
}

async fn send(requests: &RequestClient, granted: GrantedRequest) -> Result<String, Error> {
    let body = answered(requests, granted).await?.into_body().collect().await?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}

/// Resolves every name to these addresses, one set after the other, and counts.
fn names(answers: &[&[&str]]) -> (NameOverrides, Arc<AtomicUsize>) {
    let answers: Vec<Vec<IpAddr>> =
        answers.iter().map(|set| set.iter().map(|address| address.parse().expect("an address")).collect()).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let names: NameOverrides =
        Arc::new(move |_| Some(answers[counted.fetch_add(1, Relaxed).min(answers.len() - 1)].clone()));
    (names, asked)
}

#[tokio::test]
async fn a_name_that_is_led_elsewhere_after_the_check_is_connected_to_where_it_was_checked() {
    let (port, asked) = echo().await;
    // A second look-up would lead to an address where no server listens.
    let (names, looked_up) = names(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let requests = RequestClient::new(RequestLimits::default()).with_names(names);
    let url = format!("http://rebound.test:{port}/a");
    let body = send(&requests, granted(&url, true, Secrets::default())).await.expect("an answer");
    assert!(body.contains(&format!("host: rebound.test:{port}\r\n")), "{body}");
    assert_eq!((looked_up.load(Relaxed), asked.lock().expect("not poisoned").len()), (1, 1));
}

#[tokio::test]
async fn a_granted_name_that_leads_to_a_private_address_is_not_connected_to() {
    let (port, asked) = echo().await;
    for set in [
        &["127.0.0.1"][..],
        &["169.254.169.254"],
        &["fd00:ec2::254"],
        &["10.1.2.3", "127.0.0.1"],
        &["::ffff:127.0.0.1"],
        &["0.0.0.0"],
    ] {
        let (names, _) = names(&[set]);
        let requests = RequestClient::new(RequestLimits::default()).with_names(names);
        let url = format!("http://metadata.test:{port}/");
        let error = send(&requests, granted(&url, false, Secrets::default())).await.expect_err("refused");
        assert!(error.code == Code::Denied && error.message.contains("`private_addresses = true`"), "{error}");
    }
    assert!(asked.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn an_address_that_is_refused_is_not_tried_behind_one_that_is_granted_and_fails() {
    let (port, asked) = echo().await;
    // No server listens at the public address, if it is reached at all.
    let (names, _) = names(&[&["2001:4860::1", "127.0.0.1", "::1"]]);
    let requests = RequestClient::new(RequestLimits { connect_milliseconds: 2_000, ..RequestLimits::default() });
    let url = format!("http://both.test:{port}/");
    let refused = send(&requests.with_names(names), granted(&url, false, Secrets::default())).await;
    assert!(matches!(refused.expect_err("refused").code, Code::Unavailable | Code::Timeout | Code::Denied));
    assert!(asked.lock().expect("not poisoned").is_empty());
}

/// A secret for this server.
fn secret_of(url: &str, text: &str) -> Secrets {
    let rule = SecretRule::new("token", format!("GET {url}").parse().expect("a pattern"), "A: {}");
    Secrets::new(vec![rule.expect("a rule").with_text(text).expect("a secret")])
}

/// Answers one request with these bytes.
async fn answering(answer: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.expect("a client");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = connection.read_u8().await else { return };
            head.push(byte);
        }
        let _ = connection.write_all(answer.as_bytes()).await;
        // Until the client goes.
        let _ = connection.read_u8().await;
    });
    port
}

#[tokio::test]
async fn names_and_values_of_headers_and_of_trailers_lose_the_secret() {
    let (secret, in_names) = ("Hunter2-Hunter2", "hunter2-hunter2");
    let head = format!("x: a{secret}b\r\n{secret}: y\r\nz-{secret}-z: {secret}\r\n");
    let chunks = format!("2\r\nok\r\n0\r\n{head}\r\n");
    let port = answering(format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{head}\r\n{chunks}")).await;
    let url = format!("http://127.0.0.1:{port}");
    let requests = RequestClient::new(RequestLimits::default());
    let response = answered(&requests, granted(&url, true, secret_of(&url, secret))).await.expect("an answer");
    let shown = |headers: &HeaderMap| {
        let mut lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        lines.sort();
        lines
    };
    let headers = shown(response.headers());
    let body = response.into_body().collect().await.expect("all of it");
    let trailers = shown(body.trailers().expect("trailers"));
    assert_eq!(body.to_bytes(), "ok");
    for lines in [headers, trailers] {
        let text = lines.join("\n").to_ascii_lowercase();
        assert!(!text.contains(in_names), "{text}");
        assert!(text.contains("x: \"a***************b\""), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_gets_no_encrypted_request_and_no_secret() {
    let (port, asked) = echo().await;
    let secrets = secret_of(&format!("https://127.0.0.1:{port}"), "hunter2hunter2");
    let requests = RequestClient::new(RequestLimits { connect_milliseconds: 2_000, ..RequestLimits::default() });
    // The server does not speak TLS.
    let url = format!("https://127.0.0.1:{port}/");
    let error = send(&requests, granted(&url, true, secrets)).await.expect_err("refused");
    assert!(matches!(error.code, Code::Unavailable | Code::Timeout) && !error.message.contains("hunter2"), "{error}");
    assert!(asked.lock().expect("not poisoned").iter().all(|head| !head.contains("hunter2")));
}

#[tokio::test]
async fn a_body_that_says_its_length_is_refused_before_anybody_is_connected_to() {
    let requests = RequestClient::new(RequestLimits { sent_bytes: 10, ..RequestLimits::default() });
    let outgoing = OutgoingRequest {
        granted: granted("http://127.0.0.1:1/", true, Secrets::default()),
        request: Request::new(Full::new(Bytes::from_static(b"eleven bytes"))),
        permit: requests.permit(&TenantId::local()).expect("a permit"),
        timeouts: RequestTimeouts::default(),
        until: Instant::now() + Duration::from_secs(60),
        meter: Arc::new(SilentMeter),
    };
    let error = requests.send(outgoing).await.expect_err("too large");
    assert!(error.code == Code::Limit && error.message.contains("sent_bytes"), "{error}");
    requests.permit(&TenantId::local()).expect("the permit came back");
}
