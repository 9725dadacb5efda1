//! HTTP requests from host to host.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use tokio::sync::mpsc;
use wharf_core::{Code, Error, service::PassedClient};
use wharf_test_support::in_time;

use super::{TestCell, TestHost, context};
use crate::{HttpDoor, OtherHost, PassedBody, RequestHome};

/// Tells what it was asked, and goes on with what a test sends.
struct Door(parking_lot::Mutex<Option<mpsc::Receiver<Bytes>>>);

#[async_trait]
impl HttpDoor for Door {
    async fn answer(&self, client: PassedClient, request: Request<Bytes>) -> Response<PassedBody> {
        let shown = |name| request.headers().get(name).map(|value| value.to_str().expect("text").to_owned());
        let told = format!(
            "{client:?} {} {} {:?} {:?} {}",
            request.method(),
            request.uri(),
            shown(header::AUTHORIZATION),
            shown(header::ACCEPT),
            String::from_utf8_lossy(request.body())
        );
        let body = match self.0.lock().take() {
            Some(receiver) => {
                let first = stream::once(async move { Bytes::from(told) });
                let rest = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
                let parts = futures_util::StreamExt::chain(first, rest);
                let parts =
                    futures_util::StreamExt::map(parts, |part| Ok::<_, std::convert::Infallible>(Frame::data(part)));
                StreamBody::new(Box::pin(parts)).map_err(Into::into).boxed_unsync()
            }
            None => Full::from(told).map_err(Into::into).boxed_unsync(),
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::CREATED;
        response
    }

    fn refuse(&self, error: Error) -> Response<PassedBody> {
        let mut response = Response::new(Full::from(error.to_string()).map_err(Into::into).boxed_unsync());
        *response.status_mut() = StatusCode::GONE;
        response
    }
}

fn opened(host: &TestHost, stream: Option<mpsc::Receiver<Bytes>>) {
    host.cell.answer_requests(Some(Arc::new(Door(stream.into()))));
}

fn request() -> Request<Bytes> {
    Request::builder()
        .method("POST")
        .uri("/v1/things/1?a=b")
        .header(header::AUTHORIZATION, "Bearer secret")
        .header(header::CONNECTION, "close")
        .header(header::ACCEPT, "text/event-stream")
        .body(Bytes::from_static(b"{}\n{}"))
        .expect("a request")
}

fn client() -> PassedClient {
    PassedClient::Named("ci".to_owned())
}

/// The host that made a handle, as another one finds it.
async fn maker(of: &TestHost, at: &TestHost) -> Option<OtherHost> {
    at.cell.maker_of(&of.cell.handles().handle().expect("a handle")).await.expect("it answers")
}

#[tokio::test]
async fn a_request_passes_whole_and_without_the_token_to_the_host_that_made_a_handle() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    opened(&one, None);
    assert!(maker(&two, &two).await.is_none(), "its own handles are its own");
    let other = maker(&one, &two).await.expect("it lives");
    let response = other.pass(client(), request()).await.expect("an answer");
    assert_eq!(response.status(), StatusCode::CREATED);
    assert!(response.headers().keys().all(|name| !name.as_str().starts_with("wharf-")), "{:?}", response.headers());
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let expected = "Named(\"ci\") POST /v1/things/1?a=b None Some(\"text/event-stream\") {}\n{}";
    assert_eq!(String::from_utf8_lossy(&body), expected);
}

#[tokio::test]
async fn an_answer_comes_as_it_is_sent_and_breaks_off_with_its_host() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    let (send, receive) = mpsc::channel(4);
    opened(&one, Some(receive));
    let other = maker(&one, &two).await.expect("it lives");
    let mut body = other.pass(client(), request()).await.expect("an answer").into_body();
    let first = in_time("the first part", body.frame()).await.expect("a part").expect("no error");
    assert!(first.into_data().expect("data").starts_with(b"Named"));
    send.send(Bytes::from_static(b"later")).await.expect("sent");
    let later = in_time("the next part", body.frame()).await.expect("a part").expect("no error");
    assert_eq!(later.into_data().expect("data"), "later");
    one.kill().await;
    assert!(in_time("it breaks off", body.frame()).await.expect("told").is_err());
}

#[tokio::test]
async fn a_request_of_a_session_goes_to_its_home() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    opened(&one, None);
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let context = context("s-1");
    let home = async |host: &TestHost| host.cell.home_of(&context.tenant, &context.session, false).await;
    assert!(matches!(home(&one).await, Ok(RequestHome::Here(_))));
    let Ok(RequestHome::Elsewhere(other)) = home(&two).await else { panic!("at home elsewhere") };
    assert_eq!(other.pass(client(), request()).await.expect("an answer").status(), StatusCode::CREATED);
    // One that lets go of the session meanwhile does not act.
    let Ok(RequestHome::Elsewhere(other)) = home(&two).await else { panic!("at home elsewhere") };
    one.cell.let_go(std::time::Duration::ZERO).await;
    assert_eq!(other.pass(client(), request()).await.expect_err("it has no home").code, Code::Unavailable);
    assert!(matches!(home(&two).await, Ok(RequestHome::Here(_))), "the next one finds out");
}

#[tokio::test]
async fn a_request_to_a_dead_host_is_gone_and_to_one_that_serves_none_unavailable() {
    let mut test = TestCell::new();
    test.times.dead_without_witness = std::time::Duration::from_secs(60);
    let (one, two, three) = (test.host("one").await, test.host("two").await, test.host("three").await);
    opened(&one, None);
    let other = maker(&three, &two).await.expect("it lives");
    assert_eq!(other.pass(client(), request()).await.expect_err("it serves none").code, Code::Unavailable);
    let other = maker(&one, &two).await.expect("it lives");
    one.kill().await;
    assert_eq!(other.pass(client(), request()).await.expect_err("it has died").code, Code::Gone);
}
