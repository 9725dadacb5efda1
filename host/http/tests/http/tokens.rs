//! Clients with tokens of their own: none has anything of another.

use hyper::StatusCode;
use serde_json::json;
use wharf_completion::stream::{OpenStream, Turns};
use wharf_core::{Context, StreamLimits, StreamOwner, Token};
use wharf_http::HttpClient;

use crate::{
    client::Client,
    support::{Served, start_with},
};

/// A server with a second client, and that client.
fn with_another(change: impl FnOnce(&mut HttpClient)) -> (Served, Client) {
    let text = Token::generate().expect("randomness");
    let mut other = HttpClient::new("other", Token::new(&text).expect("legal"));
    change(&mut other);
    let served = start_with(|settings| settings.clients.push(other), StreamLimits::default());
    let client = Client { token: text, ..served.client.clone() };
    (served, client)
}

fn tenant(name: &str) -> impl FnOnce(&mut HttpClient) {
    let tenant = name.parse().expect("legal");
    move |client| client.tenant = Some(tenant)
}

#[tokio::test]
async fn terminals_and_streams_of_one_tenant_are_not_found_by_another() {
    let (served, other) = with_another(tenant("another"));
    let started = served.client.post("/v1/terminals", json!({})).await.json();
    let terminal = format!("/v1/terminals/{}", started["terminal"].as_str().expect("a handle"));
    let stream = format!("/v1/streams/{}", started["stream"].as_str().expect("a stream"));
    for (method, path, body) in [
        ("GET", terminal.clone(), None),
        ("DELETE", terminal.clone(), None),
        ("POST", format!("{terminal}/turns"), Some(json!({"text": "exit"}))),
        ("POST", format!("{terminal}/keys"), Some(json!({"keys": ["C-d"]}))),
        ("POST", format!("{terminal}/cancel"), Some(json!({}))),
        ("POST", format!("{terminal}/resize"), Some(json!({"columns": 90, "rows": 20}))),
        ("GET", format!("{terminal}/screen"), None),
        ("GET", format!("{terminal}/output"), None),
        ("GET", stream.clone(), None),
        ("GET", format!("{stream}/events"), None),
        ("DELETE", stream.clone(), None),
    ] {
        let refused = other.ask(method, &path, body).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::NOT_FOUND, "not-found"), "{method} {path}");
    }
    assert_eq!(other.get("/v1/terminals").await.json()["terminals"], json!([]));
    assert_eq!(other.get("/v1/streams").await.json()["streams"], json!([]));
    // The other way round, the same session of the other tenant is another one.
    let context = Context::new("another".parse().expect("legal"), "s".parse().expect("legal"));
    let request = OpenStream { title: "test", turns: Turns::Told, held_by: None };
    let writer = served.streams.open(StreamOwner::host(&context), request).expect("opens");
    let place = format!("/v1/streams/{}", writer.id());
    assert_eq!(other.get(&place).await.status, StatusCode::OK);
    assert_eq!(served.client.get(&place).await.status, StatusCode::NOT_FOUND);
    assert_eq!(served.client.get(&terminal).await.status, StatusCode::OK, "it is as it was");
}

#[tokio::test]
async fn a_client_that_asks_too_often_is_told_so_and_no_other_one_is() {
    let (served, other) = with_another(|client| client.rights.requests_per_second = Some(1));
    let first = other.get("/v1/terminals").await;
    assert_eq!(first.status, StatusCode::OK);
    let mut refused = other.get("/v1/terminals").await;
    while refused.status == StatusCode::OK {
        refused = other.get("/v1/terminals").await;
    }
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "limit"));
    assert!(refused.headers.contains_key("retry-after") && refused.body.contains("`requests_per_second`"));
    for _ in 0..10 {
        assert_eq!(served.client.get("/v1/terminals").await.status, StatusCode::OK);
    }
}
