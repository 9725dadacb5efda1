//! How much one page may have, and what is left of it.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use wharf_test_support::until;

use super::support::{Origin, Served, head, policy, rest, within};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test(flavor = "multi_thread")]
async fn as_many_connections_as_a_page_may_have_work_at_once_and_one_more_is_refused() {
    const MANY: usize = 256;
    let go = Arc::new(Semaphore::new(0));
    let origin = Origin::start_held(HELLO, Arc::clone(&go)).await;
    let served = Arc::new(Served::start(policy(&[&origin.url("")], true)).await);
    let mut asking = JoinSet::new();
    for _ in 0..MANY {
        let (served, url) = (Arc::clone(&served), origin.url("/"));
        asking.spawn(async move { served.get(&url).await });
    }
    until("all have arrived", || origin.seen.lock().expect("a lock").len() >= MANY).await;
    let refused = served.get(&origin.url("/")).await;
    assert!(refused.starts_with("HTTP/1.1 503 ") || refused.is_empty(), "{refused}");
    go.add_permits(MANY * 2);
    while let Some(answer) = within(asking.join_next()).await {
        let answer = answer.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"), "{answer}");
    }
    // Their places are free again.
    within(async { while !served.get(&origin.url("/")).await.starts_with("HTTP/1.1 200 ") {} }).await;
}

#[tokio::test]
async fn a_head_larger_than_may_be_is_refused() {
    let origin = Origin::start(HELLO).await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let mut stream = served.connect().await;
    let _ = stream.write_all(format!("GET {} HTTP/1.1\r\nX: ", origin.url("/")).as_bytes()).await;
    // It ends, whatever is still to come.
    let endless = async { while stream.write_all(&[b'a'; 4096]).await.is_ok() {} };
    within(endless).await;
    // One that ends, and is larger by half.
    let mut stream = served.connect().await;
    let request =
        |bytes| format!("GET {} HTTP/1.1\r\nConnection: close\r\nX: {}\r\n\r\n", origin.url("/"), "a".repeat(bytes));
    let _ = stream.write_all(request(24 * 1024).as_bytes()).await;
    let answer = rest(&mut stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(origin.seen(), [""; 0]);
    let answer = served.ask(&request(12 * 1024)).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn what_ends_with_the_proxy_are_its_port_its_tunnels_and_its_requests() {
    let go = Arc::new(Semaphore::new(0));
    let origin = Origin::start_held(HELLO, Arc::clone(&go)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("done in time");
    let tunnelled = listener.local_addr().expect("an address");
    let served = Served::start(policy(&[&origin.url(""), &format!("https://{tunnelled}")], true)).await;
    let mut tunnel = served.connect().await;
    tunnel.write_all(format!("CONNECT {tunnelled} HTTP/1.1\r\n\r\n").as_bytes()).await.expect("done in time");
    assert!(head(&mut tunnel).await.starts_with("HTTP/1.1 200 "));
    let (mut server, _) = within(listener.accept()).await.expect("done in time");
    let mut waiting = served.connect().await;
    waiting.write_all(format!("GET {} HTTP/1.1\r\n\r\n", origin.url("/")).as_bytes()).await.expect("done in time");
    until("the request has arrived", || !origin.seen.lock().expect("a lock").is_empty()).await;
    let address = served.proxy.address();
    drop(served);
    assert_eq!(rest(&mut tunnel).await, "");
    assert_eq!(rest(&mut waiting).await, "");
    assert!(matches!(within(server.read(&mut [0; 8])).await, Ok(0) | Err(_)));
    within(async { while TcpStream::connect(address).await.is_ok() {} }).await;
}

#[tokio::test]
async fn a_server_that_never_stops_sending_is_not_kept_in_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("done in time");
    let address = listener.local_addr().expect("an address");
    let served = Served::start(policy(&[&format!("http://{address}")], true)).await;
    let mut stream = served.connect().await;
    stream.write_all(format!("GET http://{address}/ HTTP/1.1\r\n\r\n").as_bytes()).await.expect("done in time");
    let (mut server, _) = within(listener.accept()).await.expect("done in time");
    head(&mut server).await;
    server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.expect("done in time");
    // What nobody reads fills the system's buffers, and then the server waits.
    let block = vec![0_u8; 64 * 1024];
    let mut sent = 0;
    while let Ok(written) = tokio::time::timeout(std::time::Duration::from_secs(2), server.write(&block)).await {
        sent += written.expect("sent");
        assert!(sent < 64 << 20, "the proxy took {sent} bytes that nobody reads");
    }
}
