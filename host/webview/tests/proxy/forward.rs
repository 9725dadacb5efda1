//! Requests of plain HTTP.

use tokio::io::AsyncWriteExt;

use super::support::{Origin, Served, head, names, policy, rest};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n\
    Wharf-Proxy-Answer: denied\r\nKeep-Alive: timeout=9\r\n\r\nhello";

#[tokio::test]
async fn a_request_for_a_granted_origin_reaches_it_and_says_for_whom_it_is() {
    let origin = Origin::start(HELLO).await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: evil.test\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n\
         Connection: close, X-Secret\r\nX-Secret: 1\r\nUpgrade: websocket\r\nExpect: 100-continue\r\nX-Plain: 2\r\n\r\n",
        origin.url("/path?q=1%2f&x='|")
    );
    let answer = served.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(answer.contains("x-end: 2"), "{answer}");
    for gone in ["x-hop", "keep-alive", "wharf-proxy-answer"] {
        assert!(!answer.to_lowercase().contains(gone), "{gone}: {answer}");
    }
    let seen = origin.seen();
    let [seen] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(seen.starts_with("GET /path?q=1%2f&x='| HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("host: {}\r\n", origin.address)), "{seen}");
    assert!(seen.contains("x-plain: 2\r\n"), "{seen}");
    for gone in ["evil.test", "x-secret", "proxy-", "upgrade", "expect", "connection: "] {
        assert!(!seen.to_lowercase().contains(gone), "{gone}: {seen}");
    }
    assert_eq!(served.refusals(), []);
}

#[tokio::test]
async fn each_request_of_a_connection_is_checked_by_itself() {
    let origin = Origin::start(HELLO).await;
    let other = Origin::start(HELLO).await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let mut stream = served.connect().await;
    // All at once, as a client does that does not wait.
    let requests = [(origin.url("/1"), "keep-alive"), (other.url("/2"), "keep-alive"), (origin.url("/3"), "close")]
        .map(|(url, then)| format!("GET {url} HTTP/1.1\r\nHost: {}\r\nConnection: {then}\r\n\r\n", origin.address))
        .concat();
    stream.write_all(requests.as_bytes()).await.expect("done in time");
    let answers = rest(&mut stream).await;
    let statuses: Vec<_> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "403", "200"], "{answers}");
    assert_eq!(origin.seen().len(), 2);
    assert_eq!(other.seen(), [""; 0]);
    assert_eq!(served.refusals(), [("denied", other.url("/2"))]);
}

#[tokio::test]
async fn a_body_cannot_hide_a_second_request() {
    let origin = Origin::start(HELLO).await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let url = origin.url("/");
    for lengths in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3, 4",
        "Content-Length: +3",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        " Content-Length: 3",
        "Content-Length : 3",
        "X: a\r\n\tb\r\nContent-Length: 3",
    ] {
        let request =
            format!("POST {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lengths}\r\n\r\n0\r\n\r\nGET / HTTP/1.1");
        let answer = served.ask(&request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{lengths}: {answer}");
    }
    assert_eq!(origin.seen(), [""; 0]);
    // Of two lengths, the server learns the one that the proxy went by, and the
    // connection ends behind it.
    for lengths in
        ["Content-Length: 40\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3"]
    {
        let request = format!("POST {url} HTTP/1.1\r\nHost: x\r\n{lengths}\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        let answer = served.ask(&format!("{request}GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 1, "{answer}");
        let seen = origin.seen().pop().expect("there").to_lowercase();
        assert!(seen.contains("transfer-encoding: chunked") && !seen.contains("content-length"), "{seen}");
    }
    assert_eq!(origin.seen().len(), 2);
}

#[tokio::test]
async fn a_server_cannot_speak_for_the_proxy() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "",
    ] {
        let origin = Origin::start(answer).await;
        let served = Served::start(policy(&[&origin.url("")], true)).await;
        let told = served.get(&origin.url("/")).await;
        assert!(told.starts_with("HTTP/1.1 502 "), "{answer:?}: {told}");
        assert!(told.contains("wharf-proxy-answer: unavailable"), "{told}");
        assert_eq!(served.refusals()[0].0, "unavailable");
    }
}

#[tokio::test]
async fn an_answer_without_a_length_comes_whole() {
    let origin = Origin::start("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let answer = served.get(&origin.url("/")).await;
    assert!(answer.contains("until the end"), "{answer}");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_only_where_it_is_granted() {
    let origin = Origin::start(HELLO).await;
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let asking = std::sync::Arc::clone(&asked);
    let lead = names(&[("good.test", &["127.0.0.1"]), ("evil.test", &["127.0.0.1"])]);
    let port = origin.address.port();
    let served = Served::start_with(policy(&[&format!("http://good.test:{port}")], true), |settings| {
        settings.names = Some(std::sync::Arc::new(move |name| {
            asking.lock().expect("a lock").push(name.to_owned());
            lead(name)
        }));
    })
    .await;
    let answer = served.get(&format!("http://evil.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let answer = served.get(&format!("http://good.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(*asked.lock().expect("a lock"), ["good.test"]);
    assert!(origin.seen()[0].contains(&format!("host: good.test:{port}\r\n")));
}

#[tokio::test]
async fn a_connection_goes_on_after_a_refusal() {
    let origin = Origin::start(HELLO).await;
    let served = Served::start(policy(&[&origin.url("")], true)).await;
    let mut stream = served.connect().await;
    stream.write_all(b"GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("done in time");
    let refused = head(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    let length: usize = refused
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .expect("there")
        .parse()
        .expect("well written");
    let mut body = vec![0; length];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut body).await.expect("done in time");
    let said = String::from_utf8(body).expect("there");
    assert!(said.contains("add \"http://evil.test\" to `origins`"), "{said}");
    stream
        .write_all(format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", origin.url("/")).as_bytes())
        .await
        .expect("done in time");
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
}
