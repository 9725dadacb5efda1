//! An ordinary plugin, made with the SDK, that sends requests.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};
use wharf_tests::{Fixture, Setup, Upstream, component};

/// The guest, granted these requests.
async fn open(requests: &[&str]) -> Fixture {
    let grant = format!(
        "[plugin.fetching.grants.http]\nreason = \"a test\"\nrequests = {requests:?}\nprivate_addresses = true"
    );
    Setup::new().plugin("fetching", &component("guest-fetching"), &grant).open().await
}

async fn fetch(fixture: &Fixture, arguments: Value) -> (bool, String) {
    let answer = fixture.call("fetching__fetch", arguments).await;
    match answer {
        Ok(answer) => (!answer.is_error, answer.content[0].as_text().unwrap_or_default().to_owned()),
        Err(error) => (false, error.to_string()),
    }
}

#[tokio::test]
async fn a_plugin_gets_sends_and_is_told_which_line_would_allow_more() {
    let upstream = Upstream::start(|head, connection| {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        let _ = connection.read_exact(&mut body);
        Upstream::send(connection, "", &[b"got ", &body[..]].concat());
    });
    let origin = format!("http://{}", upstream.authority());
    let fixture = open(&[&format!("GET,POST {origin}/v1/*")]).await;
    let url = format!("{origin}/v1/a?b=c");
    assert_eq!(fetch(&fixture, json!({"url": url})).await, (true, "200 got ".to_owned()));
    let body = "x".repeat(10_000);
    assert_eq!(fetch(&fixture, json!({"url": url, "body": body})).await, (true, format!("200 got {body}")));
    assert!(upstream.asked()[0].starts_with("GET /v1/a?b=c HTTP/1.1\r\n"), "{:?}", upstream.asked());
    let (is_ok, told) = fetch(&fixture, json!({"url": format!("{origin}/v2")})).await;
    assert!(!is_ok && told.contains(&format!("add \"GET {origin}/v2\" to `requests`")), "{told}");
    assert!(told.contains("[plugin.fetching.grants.http]"), "{told}");
}

#[tokio::test]
async fn a_plugin_that_follows_a_redirect_goes_no_further_than_its_grant() {
    let elsewhere = Upstream::echo();
    let target = format!("http://{}/inner", elsewhere.authority());
    let leads = target.clone();
    let upstream = Upstream::start(move |_, connection| {
        let head = format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {leads}\r\ncontent-length: 0\r\n\r\n");
        let _ = connection.write_all(head.as_bytes());
    });
    let (from, url) = (format!("http://{}", upstream.authority()), format!("http://{}/", upstream.authority()));
    let fixture = open(&[&from]).await;
    let (is_ok, told) = fetch(&fixture, json!({"url": url})).await;
    assert!(!is_ok && told.contains(&format!("may not send GET {target}")), "{told}");
    assert!(elsewhere.asked().is_empty());
    let fixture = open(&[&from, &format!("GET {target}")]).await;
    let (is_ok, told) = fetch(&fixture, json!({"url": url})).await;
    assert!(is_ok && told.starts_with("200 GET /inner"), "{told}");
}
