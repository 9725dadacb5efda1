//! Sessions of the older era that outlive their host.

use std::{collections::HashMap, num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower_service::Service as _;
use wharf_core::{
    Code, Error, HttpLimits,
    handle::{Handle, HandleMint},
    service::{
        SessionShelf, ShelvedSession,
        offer::{Change, OfferService},
    },
};
use wharf_mcp::{EndpointRefusal, EndpointRequest, HttpEndpoint, HttpEndpoints, Served};

use super::{
    endpoint::{ask, client, json as answer, request, session},
    shelf::{Shelf, session as conversation},
    support::{info, service},
};

/// What is written down of sessions. The host that has begun one has always ended.
#[derive(Default)]
struct WrittenSessions(Mutex<HashMap<Handle, ShelvedSession>>);

#[async_trait]
impl SessionShelf for WrittenSessions {
    async fn begun(&self, id: &Handle, session: ShelvedSession) -> Result<(), Error> {
        self.0.lock().insert(*id, session);
        Ok(())
    }

    async fn taken_over(&self, id: &Handle) -> Result<Option<ShelvedSession>, Error> {
        Ok(self.0.lock().get(id).cloned())
    }

    async fn set(&self, id: &Handle, settings: &str) -> Result<(), Error> {
        if let Some(session) = self.0.lock().get_mut(id) {
            settings.clone_into(&mut session.settings);
        }
        Ok(())
    }

    async fn ended(&self, id: &Handle) -> Result<bool, Error> {
        Ok(self.0.lock().remove(id).is_some())
    }
}

/// The endpoint of a client at the host of this incarnation.
fn endpoint(shelf: &Arc<WrittenSessions>, incarnation: u32, name: &str) -> HttpEndpoint {
    endpoint_of(shelf, incarnation, name, None)
}

/// The same where plugins offer this.
fn endpoint_of(
    shelf: &Arc<WrittenSessions>,
    incarnation: u32,
    name: &str,
    offers: Option<Arc<dyn OfferService>>,
) -> HttpEndpoint {
    let limits = HttpLimits::default();
    let client = client(name, &limits);
    let served = Served::new(service().tools, offers);
    let handles = HandleMint::of(NonZeroU32::new(incarnation).expect("not zero"));
    let endpoints = HttpEndpoints::new(served, info(), limits).with_handles(handles);
    endpoints.with_session_shelf(Arc::clone(shelf) as _).endpoint(client)
}

fn ping(session: &str) -> EndpointRequest {
    request(Method::POST, Some(session), &json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
}

#[tokio::test]
async fn a_session_goes_on_at_another_host_with_all_that_its_client_said_of_itself() {
    let shelf = Arc::new(WrittenSessions::default());
    let session = session(&endpoint(&shelf, 1, "client")).await;
    let two = endpoint(&shelf, 2, "client");
    // What is sent first is no request: the client is not answered what it has not asked.
    let message = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let noted = ask(&two, request(Method::POST, Some(&session), &message)).await;
    assert_eq!(noted.status(), StatusCode::ACCEPTED);
    assert!(noted.into_body().collect().await.expect("readable").to_bytes().is_empty());
    assert_eq!(answer(ask(&two, ping(&session)).await).await, json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    let list = json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"});
    let listed = answer(ask(&two, request(Method::POST, Some(&session), &list)).await).await;
    assert!(listed["result"]["tools"].is_array(), "{listed}");
}

#[tokio::test]
async fn a_session_goes_on_with_all_that_its_client_has_set() {
    let (written, offers) = (Arc::new(WrittenSessions::default()), Shelf::new());
    let at = |incarnation| endpoint_of(&written, incarnation, "client", Some(Arc::clone(&offers) as _));
    let one = at(1);
    let session = session(&one).await;
    let say = async |host: &HttpEndpoint, method: &str, mut parameters: Value| {
        parameters["_meta"] = json!({"dev.wharf/sessionId": "s"});
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": parameters});
        let answered = answer(ask(host, request(Method::POST, Some(&session), &message)).await).await;
        assert_eq!(answered["result"], json!({}), "{method}: {answered}");
    };
    say(&one, "logging/setLevel", json!({"level": "error"})).await;
    for uri in ["test://a", "test://b"] {
        say(&one, "resources/subscribe", json!({"uri": uri})).await;
    }
    say(&one, "resources/unsubscribe", json!({"uri": "test://b"})).await;

    // It is the first that the other host hears of the session.
    let two = at(2);
    let heard = ask(&two, request(Method::GET, Some(&session), &Value::Null)).await;
    for uri in ["test://b", "test://a"] {
        let (context, plugin) = (conversation("s"), "test".parse().expect("legal"));
        offers.say(Change::Resource { context, uri: uri.to_owned(), plugin });
    }
    let mut heard = heard.into_body();
    let told = loop {
        let frame = heard.frame().await.expect("it goes on").expect("readable");
        let text = String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text");
        if text.contains("data: {") {
            break text;
        }
    };
    assert!(told.contains("resources/updated") && told.contains("test://a"), "{told}");

    say(&two, "resources/subscribe", json!({"uri": "test://c"})).await;
    let settings = written.0.lock().values().next().expect("a session").settings.clone();
    let settings: Value = serde_json::from_str(&settings).expect("JSON");
    assert_eq!(settings["level"], "error", "its level has gone on, too");
    assert_eq!(settings["watched"].as_array().map(Vec::len), Some(2), "{settings}");
}

#[tokio::test]
async fn requests_at_once_go_on_with_one_session() {
    let shelf = Arc::new(WrittenSessions::default());
    let session = session(&endpoint(&shelf, 1, "client")).await;
    let two = endpoint(&shelf, 2, "client");
    let pings = (0..20).map(|id| {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let (two, session) = (two.clone(), session.clone());
        async move { answer(ask(&two, request(Method::POST, Some(&session), &ping)).await).await["id"].clone() }
    });
    let answered = futures_util::future::join_all(pings).await;
    assert_eq!(answered, (0..20).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn nobody_goes_on_with_the_session_of_another_client() {
    let shelf = Arc::new(WrittenSessions::default());
    let session = session(&endpoint(&shelf, 1, "client")).await;
    let other = endpoint(&shelf, 2, "other");
    let refused = status(&other, ping(&session)).await;
    assert_eq!(refused, StatusCode::NOT_FOUND);
    assert_eq!(status(&other, request(Method::DELETE, Some(&session), &Value::Null)).await, StatusCode::NOT_FOUND);
    assert!(ask(&endpoint(&shelf, 2, "client"), ping(&session)).await.status().is_success(), "it is still there");
}

#[tokio::test]
async fn a_session_that_its_client_ends_at_another_host_has_ended() {
    let shelf = Arc::new(WrittenSessions::default());
    let session = session(&endpoint(&shelf, 1, "client")).await;
    let two = endpoint(&shelf, 2, "client");
    assert!(ask(&two, request(Method::DELETE, Some(&session), &Value::Null)).await.status().is_success());
    assert_eq!(status(&two, ping(&session)).await, StatusCode::NOT_FOUND);
    assert!(shelf.0.lock().is_empty());
}

#[tokio::test]
async fn events_of_the_host_that_has_ended_are_not_taken_for_those_of_another_one() {
    let shelf = Arc::new(WrittenSessions::default());
    let session = session(&endpoint(&shelf, 1, "client")).await;
    let two = endpoint(&shelf, 2, "client");
    assert!(ask(&two, ping(&session)).await.status().is_success());
    for stream in [0, 1 << 32, (1 << 32) + 1_u64] {
        let mut resume = request(Method::GET, Some(&session), &Value::Null);
        let last = format!("{stream}-0").parse().expect("legal");
        resume.request.headers_mut().insert("last-event-id", last);
        let resumed = ask(&two, resume).await.into_body().collect().await.expect("it ends").to_bytes();
        assert!(!String::from_utf8_lossy(&resumed).contains("data: {"), "{resumed:?}");
    }
}

#[tokio::test]
async fn a_session_of_too_many_words_ends_with_its_host() {
    let shelf = Arc::new(WrittenSessions::default());
    let one = endpoint(&shelf, 1, "client");
    let client = json!({"name": "test", "version": "z".repeat(70_000)});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    let opened = ask(&one, request(Method::POST, Some(""), &hello)).await;
    let session = opened.headers()["mcp-session-id"].to_str().expect("ASCII").to_owned();
    assert!(ask(&one, ping(&session)).await.status().is_success());
    assert_eq!(status(&endpoint(&shelf, 2, "client"), ping(&session)).await, StatusCode::NOT_FOUND);
}

/// The status of an answer, or of the refusal that is told in its place.
async fn status(endpoint: &HttpEndpoint, request: EndpointRequest) -> StatusCode {
    match endpoint.clone().call(request).await {
        Ok(answered) => answered.status(),
        Err(EndpointRefusal::Refused(error)) if error.code == Code::NotFound => StatusCode::NOT_FOUND,
        Err(refusal) => panic!("{refusal:?}"),
    }
}
