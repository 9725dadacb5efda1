//! Who is let in, and with what.

use hyper::{StatusCode, header};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use wharf_completion::Streams;
use wharf_core::{ContextRules, HttpLimits, StreamLimits, Token};
use wharf_http::{HttpError, HttpServer, HttpServices, HttpSettings};
use wharf_test_support::in_time;

use crate::{
    client::Client,
    support::{services, start, start_with},
};

/// Sends bytes, and reads all that comes back.
async fn raw(client: &Client, request: &str) -> String {
    let mut stream = TcpStream::connect(client.address).await.expect("connects");
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut answer = Vec::new();
    in_time("the server closes", stream.read_to_end(&mut answer)).await.expect("readable");
    String::from_utf8(answer).expect("UTF-8")
}

#[tokio::test]
async fn without_the_token_there_is_only_health_and_the_description() {
    let served = start();
    for token in ["", "wrong", &served.client.token[1..], &format!("{}0", served.client.token)] {
        let client = Client { token: token.into(), ..served.client.clone() };
        for path in ["/v1/terminals", "/v1/streams", "/v1/streams/x/events", "/", "/v1/unknown"] {
            let refused = client.get(path).await;
            assert_eq!((refused.status, refused.code().as_str()), (StatusCode::UNAUTHORIZED, "denied"), "{path}");
            assert_eq!(refused.headers[header::WWW_AUTHENTICATE], "Bearer realm=\"wharf\"");
        }
        assert_eq!(client.post("/v1/terminals", json!({})).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(client.ask("POST", "/v1/health", None).await.status, StatusCode::UNAUTHORIZED);
        for path in ["/v1/health", "/v1/ready"] {
            assert_eq!(client.get(path).await.json(), json!({"status": "ok"}));
        }
        assert_eq!(client.get("/v1/openapi.json").await.status, StatusCode::OK);
    }
    let none = Client { token: String::new(), ..served.client.clone() };
    for scheme in ["Basic", "Token", "bearer:", "Bearer  "] {
        let header = format!("{scheme} {}", served.client.token);
        assert_eq!(none.with("authorization", header).get("/v1/streams").await.status, StatusCode::UNAUTHORIZED);
    }
    let lower = none.with("authorization", format!("bearer {}", served.client.token));
    assert_eq!(lower.get("/v1/streams").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_name_that_is_not_ours_is_refused_so_that_no_page_can_rebind_its_own() {
    let served = start_with(|settings| settings.hosts = vec!["wharf.test".into()], StreamLimits::default());
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.1.2.3", "[::1]:8080", "wharf.test:443"] {
        assert_eq!(served.client.with("host", host).get("/v1/streams").await.status, StatusCode::OK, "{host}");
    }
    for host in ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "192.168.0.1", "0.0.0.0", "[::2]", "1"] {
        for path in ["/v1/streams", "/v1/health", "/v1/openapi.json"] {
            let refused = served.client.with("host", host).get(path).await;
            assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "denied"), "{host}");
        }
    }
    for head in [
        "GET /v1/health HTTP/1.1\r\n",
        "GET /v1/health HTTP/1.0\r\n",
        "GET /v1/health HTTP/1.1\r\nHost:\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: a@localhost\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n",
        "GET http://evil.test/v1/health HTTP/1.1\r\nHost: localhost\r\n",
    ] {
        let answer = raw(&served.client, &format!("{head}Connection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.0 400"), "{head}: {answer}");
    }
}

#[tokio::test]
async fn a_page_of_a_stranger_is_refused_and_one_that_the_operator_named_is_not() {
    let named = "https://app.example";
    let served = start_with(|settings| settings.origins = vec![named.into()], StreamLimits::default());
    let client = &served.client;
    for origin in
        ["https://evil.test", "null", "http://localhost:1", "https://app.example.evil.test", "HTTPS://APP.EXAMPLE"]
    {
        for method in ["GET", "POST", "OPTIONS"] {
            let refused = client.with("origin", origin).ask(method, "/v1/terminals", None).await;
            assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "denied"), "{origin}");
        }
    }
    let own = client.with("origin", format!("http://{}", client.address)).get("/v1/streams").await;
    assert_eq!((own.status, own.headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN)), (StatusCode::OK, None));
    let page = client.with("origin", named);
    let allowed = page.get("/v1/streams").await;
    assert_eq!(allowed.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], named);
    let asked = Client { token: String::new(), ..page.clone() }.ask("OPTIONS", "/v1/terminals", None).await;
    assert_eq!(asked.status, StatusCode::NO_CONTENT);
    assert!(asked.headers[header::ACCESS_CONTROL_ALLOW_HEADERS].to_str().expect("ASCII").contains("authorization"));
    let refused = Client { token: String::new(), ..page }.get("/v1/streams").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_body_is_json_of_a_bounded_size_with_the_fields_that_are_described() {
    let limits = HttpLimits { body_bytes: 1_000, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let client = &served.client;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
        let refused = client.with("content-type", kind).post("/v1/terminals", json!({})).await;
        assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
    }
    let kind = client.with("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(kind.post("/v1/terminals", json!({})).await.status, StatusCode::CREATED);
    let large = client.post("/v1/terminals", json!({"program": "x".repeat(1_000)})).await;
    assert_eq!((large.status, large.code().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "limit"));
    for body in [json!([]), json!("x"), json!({"columns": -1}), json!({"columns": 70_000}), json!({"__sessionId": "t"})]
    {
        let refused = client.post("/v1/terminals", body.clone()).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::BAD_REQUEST, "invalid"), "{body}");
    }
}

#[tokio::test]
async fn what_does_not_arrive_is_not_waited_for() {
    let limits = HttpLimits { arrival_milliseconds: 1_000, ..HttpLimits::default() };
    let served = start_with(|settings| settings.limits = limits, StreamLimits::default());
    let client = &served.client;
    let head = format!("POST /v1/terminals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n", client.token);
    let answer = raw(client, &format!("{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{")).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let answer = raw(client, &head).await;
    assert_eq!(answer, "", "a head that does not arrive is not answered");
}

#[tokio::test]
async fn ids_in_headers_follow_the_rules_of_every_other_channel() {
    let served = start();
    for (name, value) in
        [("wharf-session", "a b"), ("wharf-session", ""), ("wharf-thread", "../x"), ("wharf-assistant", "é")]
    {
        let refused = served.client.with(name, value).get("/v1/streams").await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::BAD_REQUEST, "invalid"), "{name}: {value}");
    }
    let mut twice = served.client.clone();
    twice.headers.push(("wharf-session", "t".into()));
    assert_eq!(twice.get("/v1/streams").await.status, StatusCode::BAD_REQUEST);

    let text = Token::generate().expect("randomness");
    let streams = Streams::new(StreamLimits::default());
    let services =
        HttpServices { rules: ContextRules { require_session: true, ..ContextRules::local() }, ..services(streams) };
    let settings = HttpSettings::new(Token::new(&text).expect("legal"));
    let server = HttpServer::bind("127.0.0.1:0".parse().expect("an address"), services, settings).expect("listens");
    let client = Client { address: server.address().port().expect("a port"), token: text, headers: Vec::new() };
    tokio::spawn(server.serve(tokio_util::sync::CancellationToken::new()));
    let refused = client.get("/v1/streams").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("Wharf-Session"), "{}", refused.body);
    assert_eq!(client.with("wharf-session", "s").get("/v1/streams").await.status, StatusCode::OK);
}

#[tokio::test]
async fn an_unknown_route_or_method_or_parameter_says_so_as_json() {
    let served = start();
    for (method, path, status) in [
        ("GET", "/", StatusCode::NOT_FOUND),
        ("GET", "/v1/terminals/x/y", StatusCode::NOT_FOUND),
        ("PUT", "/v1/terminals", StatusCode::METHOD_NOT_ALLOWED),
        ("OPTIONS", "/v1/terminals", StatusCode::METHOD_NOT_ALLOWED),
        ("GET", "/v1/terminals/%ff", StatusCode::BAD_REQUEST),
        ("GET", "/v1/streams/x?from=-1", StatusCode::BAD_REQUEST),
        ("GET", "/v1/streams/x?from=1&form=2", StatusCode::BAD_REQUEST),
    ] {
        let answered = served.client.ask(method, path, None).await;
        assert_eq!(answered.status, status, "{method} {path}");
        assert!(!answered.code().is_empty());
        assert_eq!(answered.headers[header::CACHE_CONTROL], "no-store");
    }
}

#[tokio::test]
async fn an_address_that_others_reach_is_served_only_where_that_was_said() {
    let streams = Streams::new(StreamLimits::default());
    let services = services(streams);
    let mut settings = HttpSettings::new(Token::new("0123456789abcdef").expect("legal"));
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let refused = HttpServer::bind(address.parse().expect("an address"), services.clone(), settings.clone());
        assert!(matches!(refused, Err(HttpError::Public { .. })), "{address}");
    }
    settings.allow_public = true;
    let server = HttpServer::bind("0.0.0.0:0".parse().expect("an address"), services.clone(), settings.clone());
    let taken = server.expect("listens").address().clone();
    assert_ne!(taken.port().expect("a port").port(), 0);
    // The one before was dropped.
    HttpServer::bind(taken, services, settings).expect("listens");
}
