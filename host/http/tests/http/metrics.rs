//! Metrics are served as Prometheus reads them, and to nobody without the token.

use std::sync::Arc;

use hyper::{StatusCode, header};
use tokio_util::sync::CancellationToken;
use wharf_completion::Streams;
use wharf_core::{StreamLimits, Token, service::MetricsService};
use wharf_http::{HttpClient, HttpServer, HttpSettings};

use crate::{
    client::Client,
    support::{services, start},
};

struct Numbers;

impl MetricsService for Numbers {
    fn metrics(&self) -> String {
        "wharf_calls_running 1\n# EOF\n".to_owned()
    }
}

#[tokio::test]
async fn metrics_are_served_as_text_to_whoever_shows_the_token() {
    let text = Token::generate().expect("randomness");
    let streams = Streams::new(StreamLimits::default());
    let services = services(streams);
    let settings = HttpSettings::new(Token::new(&text).expect("legal"));
    let server = HttpServer::bind("127.0.0.1:0".parse().expect("an address"), services, settings).expect("listens");
    let server = server.with_metrics(Arc::new(Numbers));
    let client = Client { address: server.address().port().expect("a port"), token: text, headers: Vec::new() };
    tokio::spawn(server.serve(CancellationToken::new()));

    let served = client.get("/metrics").await;
    assert_eq!((served.status, served.body.as_str()), (StatusCode::OK, "wharf_calls_running 1\n# EOF\n"));
    let kind = served.headers[header::CONTENT_TYPE].to_str().expect("text");
    assert_eq!(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let nobody = Client { token: String::new(), ..client };
    assert_eq!(nobody.get("/metrics").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn metrics_are_of_all_tenants_and_for_tokens_alone_that_may_read_them() {
    let texts = [(); 3].map(|()| Token::generate().expect("randomness"));
    let [mut all, mut host, mut metrics] =
        texts.each_ref().map(|text| HttpClient::new(&text[..8], Token::new(text).expect("legal")));
    all.rights.metrics = false;
    (host.rights.metrics, host.rights.plugins) = (false, Some(vec!["host".into()]));
    metrics.rights.plugins = Some(Vec::new());
    let settings = HttpSettings::of_clients(vec![all, host, metrics]);
    let services = services(Streams::new(StreamLimits::default()));
    let server = HttpServer::bind("127.0.0.1:0".parse().expect("an address"), services, settings).expect("listens");
    let server = server.with_metrics(Arc::new(Numbers));
    let address = server.address().port().expect("a port");
    tokio::spawn(server.serve(CancellationToken::new()));
    let [all, host, metrics] = texts.map(|token| Client { address, token, headers: Vec::new() });
    for refused in [&all, &host] {
        let answered = refused.get("/metrics").await;
        assert_eq!((answered.status, answered.code().as_str()), (StatusCode::FORBIDDEN, "denied"));
        assert!(answered.body.contains("`metrics = true`"), "{}", answered.body);
    }
    assert_eq!(metrics.get("/metrics").await.status, StatusCode::OK);
    assert_eq!(metrics.get("/v1/streams").await.status, StatusCode::FORBIDDEN, "that is all that it may");
    assert_eq!(host.get("/v1/streams").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_server_without_metrics_says_so() {
    let answered = start().client.get("/metrics").await;
    assert_eq!((answered.status, answered.code().as_str()), (StatusCode::NOT_FOUND, "not-found"));
}
