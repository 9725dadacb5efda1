//! Who is not of the cell reaches nothing at its port.

use std::sync::Arc;

use http::{Method, Request, StatusCode};
use http_body_util::Full;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wharf_core::Code;
use wharf_test_support::in_time;

use super::{Authority, TestCell, TestHost, free_address, request};
use crate::{
    Cell, CellError, CellStores, Incarnation, JoinRefused,
    peer::{Links, NoAnswer, NotConnected, PassedOn, look, pass_on},
    roster::Peer,
    wire::{CallHead, Directed, Misdirected, Sight},
};

fn peer_of(host: &TestHost) -> Peer {
    Peer {
        incarnation: host.cell.incarnation(),
        host: "one".into(),
        address: host.cell.address().clone(),
        is_draining: false,
    }
}

fn links(tls: &crate::PeerTls) -> Links {
    Links::new(tls, super::TIMES.connecting, super::TIMES.silence)
}

#[tokio::test]
async fn who_shows_no_certificate_of_the_cell_makes_no_call() {
    let test = TestCell::new();
    let one = test.host("one").await;
    one.call("s-1", "plugin__tool").await.expect("an answer");
    let foreign = Authority::new();
    // It trusts the host, which does not trust it; and the other way round.
    for tls in [foreign.host_that_trusts(&test.authority), test.authority.host_that_trusts(&foreign)] {
        let links = links(&tls);
        assert_eq!(look(&links, &peer_of(&one), super::TIMES.connecting).await, Sight::Unclear);
        if let Ok(sender) = links.connect(&peer_of(&one)).await {
            // TLS 1.3 tells a client late that its certificate was refused.
            let body = CallHead::body(
                &request("s-1", "plugin__tool"),
                Directed::ToHome { keeps_files: false, may_claim: true },
            )
            .expect("a body");
            assert!(matches!(pass_on(sender, &peer_of(&one), body, &None, 1 << 20).await, PassedOn::Broken));
        }
    }
    let (name, port) = one.cell.address().parts();
    let mut plain = tokio::net::TcpStream::connect((name, port)).await.expect("a connection");
    plain.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("written");
    let mut read = Vec::new();
    let _ = in_time("it is closed", plain.read_to_end(&mut read)).await;
    assert_eq!(one.calls(), 1);
}

#[tokio::test]
async fn a_call_for_another_life_or_another_home_is_not_taken_up() {
    let test = TestCell::new();
    let one = test.host("one").await;
    let links = links(&test.authority.host());
    let body = || {
        CallHead::body(&request("s-1", "plugin__tool"), Directed::ToHome { keeps_files: false, may_claim: false })
            .expect("a body")
    };
    let sender = links.get(&peer_of(&one)).await.expect("connected");
    let passed = pass_on(sender.clone(), &peer_of(&one), body(), &None, 1 << 20).await;
    assert!(matches!(passed, PassedOn::Misdirected(Misdirected::NotHome)));
    let other = Peer { incarnation: Incarnation::from_i64(1).expect("a number"), ..peer_of(&one) };
    let passed = pass_on(sender, &other, body(), &None, 1 << 20).await;
    assert!(matches!(passed, PassedOn::Misdirected(Misdirected::OtherLife)));
    assert_eq!(look(&links, &other, super::TIMES.connecting).await, Sight::Ended);
    assert_eq!(look(&links, &peer_of(&one), super::TIMES.connecting).await, Sight::Alive);
    let nobody = Peer { address: free_address(), ..peer_of(&one) };
    assert!(matches!(links.connect(&nobody).await, Err(NotConnected::Refused)));
    assert_eq!(one.calls(), 0);
}

#[tokio::test]
async fn what_is_no_call_is_refused_and_what_is_too_long_is_not_kept() {
    let test = TestCell::new();
    let one = test.host("one").await;
    let links = links(&test.authority.host());
    let peer = peer_of(&one);
    let send = async |path: &str, body: Vec<u8>| {
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("https://{}{path}", peer.address))
            .header(crate::wire::INCARNATION, peer.incarnation.number().get())
            .body(Full::from(body))
            .expect("a request");
        let mut sender = links.get(&peer).await.expect("connected");
        sender.send_request(request).await.map(|response| response.status())
    };
    let head = r#"{"tool":"t","tenant":"../x","session":"s","listens":false,"keeps_files":false,"may_claim":true}"#;
    for body in ["", "{}", "{}\n{}", "\n", &format!("{head}\n{{}}"), "{\"tool\":1}\n{}"] {
        let status = send(crate::wire::CALL, body.as_bytes().to_vec()).await.expect("an answer");
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    }
    assert_eq!(send("/peer/2/call", Vec::new()).await.expect("an answer"), StatusCode::NOT_FOUND);
    assert_eq!(send(crate::wire::PROBE, b"{}".to_vec()).await.expect("an answer"), StatusCode::BAD_REQUEST);
    match send(crate::wire::CALL, vec![b' '; 2 << 20]).await {
        Ok(status) => assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE),
        // It may stop reading before all is sent.
        Err(error) => {
            assert!(!matches!(&error, NoAnswer::Broken(broken) if broken.is_timeout()), "{error}");
        }
    }
    assert_eq!(one.calls(), 0);
}

#[tokio::test]
async fn a_host_of_another_cell_does_not_join() {
    let test = TestCell::new();
    let _one = test.host("one").await;
    let mut settings = test.settings("two", free_address(), test.authority.host());
    settings.cell = "other".to_owned();
    let cell = Cell::new(settings, CellStores::of(&test.store)).expect("a host");
    let refused = cell.join(Arc::new(super::Tools::default())).await.expect_err("another cell");
    assert!(matches!(refused, CellError::Refused(JoinRefused::OtherCell { .. })), "{refused}");
}

#[tokio::test]
async fn a_thousand_sessions_claimed_at_once_have_a_home_each() {
    let test = TestCell::new();
    let hosts = [Arc::new(test.host("one").await), Arc::new(test.host("two").await)];
    let calls: Vec<_> = (0..1_000)
        .map(|number| {
            let host = Arc::clone(&hosts[number % 2]);
            tokio::spawn(async move { host.call(&format!("s-{number}"), "plugin__tool").await })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(hosts[0].cell.sessions() + hosts[1].cell.sessions(), 1_000);
    let error = hosts[0].call("s-1", "fail").await.expect_err("as asked");
    assert_eq!(error.code, Code::Limit);
}
