//! Addresses, and who is served.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::support::{Origin, Served, names, policy};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn a_granted_name_that_leads_to_this_machine_leads_nowhere() {
    let origin = Origin::start(HELLO).await;
    let port = origin.address.port();
    let served =
        Served::start_with(policy(&[&format!("http://*.test:{port}"), "http://localhost:*"], false), |settings| {
            settings.names = Some(names(&[
                ("loopback.test", &["127.0.0.1"]),
                ("mapped.test", &["::ffff:127.0.0.1"]),
                ("any.test", &["0.0.0.0", "::"]),
                ("metadata.test", &["169.254.169.254"]),
            ]));
        })
        .await;
    for name in ["loopback.test", "mapped.test", "any.test", "metadata.test", "localhost"] {
        let answer = served.get(&format!("http://{name}:{port}/")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{name}: {answer}");
        assert!(answer.contains("is a private address"), "{name}: {answer}");
    }
    assert_eq!(origin.seen(), [""; 0]);
    // The same names and addresses do lead there where that is granted.
    let granted =
        Served::start_with(policy(&[&format!("http://*.test:{port}"), "http://localhost:*"], true), |settings| {
            settings.names = Some(names(&[("loopback.test", &["127.0.0.1"]), ("mapped.test", &["::ffff:127.0.0.1"])]));
        })
        .await;
    for name in ["loopback.test", "mapped.test", "localhost", "127.0.0.1"] {
        let answer = granted.get(&format!("http://{name}:{port}/")).await;
        let wanted = if name == "127.0.0.1" { "HTTP/1.1 403 " } else { "HTTP/1.1 200 " };
        assert!(answer.starts_with(wanted), "{name}: {answer}");
    }
}

#[tokio::test]
async fn a_request_goes_where_the_one_look_at_its_name_led() {
    let origin = Origin::start(HELLO).await;
    let port = origin.address.port();
    let looks = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&looks);
    // Here at the first look, and elsewhere on this machine from then on.
    let served = Served::start_with(policy(&[&format!("http://rebinding.test:{port}")], true), |settings| {
        settings.names = Some(Arc::new(move |_| {
            let address: IpAddr = match counting.fetch_add(1, Ordering::Relaxed) {
                0 => "127.0.0.1".parse().expect("well written"),
                _ => "127.0.0.2".parse().expect("well written"),
            };
            Some(vec![address])
        }));
    })
    .await;
    let answer = served.get(&format!("http://rebinding.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(looks.load(Ordering::Relaxed), 1);
    let answer = served.get(&format!("http://rebinding.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert_eq!(origin.seen().len(), 1);
}

#[tokio::test]
async fn of_several_addresses_only_those_that_may_be_reached_are_tried() {
    let origin = Origin::start(HELLO).await;
    let port = origin.address.port();
    let granted = policy(&[&format!("http://mixed.test:{port}")], false);
    // The first is public and refuses or is not there; the second is here.
    let served = Served::start_with(granted, |settings| {
        settings.names = Some(names(&[("mixed.test", &["127.0.0.1", "10.0.0.1", "::1"])]));
    })
    .await;
    let answer = served.get(&format!("http://mixed.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert_eq!(origin.seen(), [""; 0]);
    // An address where nobody listens does not hide the one where somebody does.
    let granted = policy(&[&format!("http://mixed.test:{port}")], true);
    let served = Served::start_with(granted, |settings| {
        settings.names = Some(names(&[("mixed.test", &["127.0.0.2", "127.0.0.1"])]));
    })
    .await;
    let answer = served.get(&format!("http://mixed.test:{port}/")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn the_proxies_of_pages_are_no_servers_for_pages() {
    let other = Served::start(policy(&["*"], true)).await;
    let served = Served::start(policy(&["*"], true)).await;
    for proxy in [&served, &other] {
        let port = proxy.proxy.address().port();
        for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "[::]", "127.0.0.7"] {
            for request in [format!("GET http://{host}:{port}/"), format!("CONNECT {host}:{port}")] {
                let answer = served.ask(&format!("{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
                assert!(answer.starts_with("HTTP/1.1 403 "), "{request}: {answer}");
            }
        }
    }
    assert_eq!(other.refusals(), []);
    let answer = served.get(&format!("http://{}/", other.proxy.address())).await;
    assert!(answer.contains("the proxy of a page is no server"), "{answer}");
}

#[tokio::test]
async fn nobody_but_the_browsers_user_is_served() {
    let origin = Origin::start(HELLO).await;
    let own = rustix::process::geteuid().as_raw();
    let granted = policy(&[&origin.url("")], true);
    let served = Served::start_with(Arc::clone(&granted), |settings| settings.user = Some(own)).await;
    assert!(served.get(&origin.url("/")).await.starts_with("HTTP/1.1 200 "));
    let served = Served::start_with(granted, |settings| settings.user = Some(own + 1)).await;
    assert_eq!(served.get(&origin.url("/")).await, "");
    assert_eq!(origin.seen().len(), 1);
}
