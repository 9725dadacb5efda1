//! Tunnels.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::support::{Served, head, policy, rest, within};

#[tokio::test]
async fn a_tunnel_carries_both_ways_what_it_is_given_and_also_what_came_early() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("done in time");
    let address = listener.local_addr().expect("an address");
    let served = Served::start(policy(&[&format!("https://{address}")], true)).await;
    let mut browser = served.connect().await;
    let early = format!("CONNECT {address} HTTP/1.1\r\nHost: evil.test:1\r\n\r\n\x16\x03early");
    browser.write_all(early.as_bytes()).await.expect("done in time");
    let (mut server, _) = within(listener.accept()).await.expect("done in time");
    let answered = head(&mut browser).await;
    assert!(answered.starts_with("HTTP/1.1 200 "), "{answered}");
    let mut bytes = [0; 7];
    within(server.read_exact(&mut bytes)).await.expect("done in time");
    assert_eq!(&bytes, b"\x16\x03early");
    // More than any buffer on the way holds, in both directions at once.
    let much = vec![7_u8; 8 << 20];
    let (mut from_browser, mut to_server) = browser.split();
    let (mut from_server, mut to_browser) = server.split();
    let read = |much: usize| async move { vec![0_u8; much] };
    let (mut here, mut there) = (read(much.len()).await, read(much.len()).await);
    let all = async {
        tokio::join!(
            async { to_server.write_all(&much).await.expect("done in time") },
            async { to_browser.write_all(&much).await.expect("done in time") },
            async { from_browser.read_exact(&mut here).await.expect("done in time") },
            async { from_server.read_exact(&mut there).await.expect("done in time") },
        )
    };
    within(all).await;
    assert!(here == much && there == much);
    // One end that is done ends its direction alone.
    browser.shutdown().await.expect("done in time");
    assert_eq!(within(server.read(&mut bytes)).await.expect("done in time"), 0);
    server.write_all(b"last").await.expect("done in time");
    drop(server);
    assert_eq!(rest(&mut browser).await, "last");
}

#[tokio::test]
async fn a_tunnel_leads_to_granted_hosts_and_ports_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("done in time");
    let address = listener.local_addr().expect("an address");
    let served = Served::start(policy(&["https://example.com", "http://127.0.0.1:1"], true)).await;
    for target in
        [address.to_string(), "example.com:80".to_owned(), "example.com.:444".to_owned(), "a@b:443".to_owned()]
    {
        let answer = served
            .ask(&format!("CONNECT {target} HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n"))
            .await;
        let status = if target.contains('@') { "HTTP/1.1 400 " } else { "HTTP/1.1 403 " };
        assert!(answer.starts_with(status), "{target}: {answer}");
    }
    assert_eq!(served.refusals().len(), 4);
    // Granted, and nobody is there.
    let answer = served.ask("CONNECT 127.0.0.1:1 HTTP/1.1\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert_eq!(served.refusals()[4], ("unavailable", "127.0.0.1:1".to_owned()));
    let nobody = tokio::time::timeout(std::time::Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err());
}
