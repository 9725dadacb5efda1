//! Secrets that the host adds: a guest that looks for one, and servers that send
//! them back.

use std::{io::Write as _, os::unix::fs::PermissionsExt as _, time::Duration};

use serde_json::{Value, json};
use wharf_tests::{Data, Fixture, Setup, Upstream, component, wharf};

use super::{PRIVATE, ask, raw_audit, refused};

const SECRET: &str = "hunter2-\"hunter2\"/hunter2";
const MASKED: &str = "*************************";

/// A host whose guest may ask these servers anything; the secret is for the paths
/// below `/v1/` of the first.
async fn open(upstreams: &[&Upstream]) -> Fixture {
    let patterns: Vec<String> = upstreams.iter().map(|upstream| format!("* http://{}", upstream.authority())).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let data = Data::new();
    let file = data.write_private("token", format!("{SECRET}\n"));
    let secret = format!(
        "[plugin.hostile.secrets.token]\nfile = '{}'\nto = \"* http://{}/v1/*\"\nheader = \"Authorization: Bearer {{}}\"",
        file.display(),
        upstreams[0].authority()
    );
    let fixture = Setup::new().requests(&patterns, PRIVATE).with_tables(&secret).open_in(data).await;
    assert!(fixture.host.rejected().is_empty(), "{:?}", fixture.host.rejected());
    fixture
}

async fn below(fixture: &Fixture, upstream: &Upstream, more: Value) -> Value {
    let mut arguments = json!({"path": "/v1/a"});
    arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
    ask(fixture, &upstream.authority(), arguments).await
}

#[tokio::test]
async fn the_server_gets_the_secret_and_the_guest_gets_none_of_it_back() {
    // As it came, as JSON, and in a header.
    let upstream = Upstream::start(|head, connection| {
        let sent = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
        let body = format!("{head}{}", json!({ "authorization": sent }));
        Upstream::send(connection, &format!("x-echo: {sent}\r\nlocation: /?t={sent}\r\n"), body.as_bytes());
    });
    let fixture = open(&[&upstream]).await;
    let answer = below(&fixture, &upstream, json!({})).await;
    assert!(upstream.asked()[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "the server got it");
    assert!(upstream.asked()[0].contains("accept-encoding: identity\r\n"), "{:?}", upstream.asked());
    let shown = answer.to_string();
    assert!(shown.contains(&format!("authorization: Bearer {MASKED}")), "{shown}");
    assert!(shown.contains(&format!("x-echo: Bearer {MASKED}")), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let Fixture { host, data } = fixture;
    host.shut_down(Duration::ZERO).await;
    assert!(!raw_audit(data.path()).contains("hunter2"));
}

#[tokio::test]
async fn a_secret_is_taken_out_however_an_answer_is_cut() {
    let upstream = Upstream::start(|head, connection| {
        let sent = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
        let mut write = |bytes: &[u8]| connection.write_all(bytes).and_then(|()| connection.flush());
        let _ = write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-end\r\n\r\n");
        // A byte in each chunk, and the secret twice, one right behind the other.
        for byte in format!("<{sent}{}>", sent.trim_start_matches("Bearer ")).bytes() {
            let _ = write(b"1\r\n").and_then(|()| write(&[byte])).and_then(|()| write(b"\r\n"));
        }
        let _ = write(format!("0\r\nx-end: {sent}\r\n\r\n").as_bytes());
    });
    let fixture = open(&[&upstream]).await;
    let answer = below(&fixture, &upstream, json!({})).await;
    assert_eq!(answer["body"], format!("<Bearer {MASKED}{MASKED}>"), "{answer}");
}

#[tokio::test]
async fn a_secret_goes_nowhere_else_and_no_guest_can_take_its_place() {
    let (upstream, elsewhere) = (Upstream::echo(), Upstream::echo());
    let fixture = open(&[&upstream, &elsewhere]).await;
    // Another server, another path, and ways of writing it.
    assert_eq!(ask(&fixture, &elsewhere.authority(), json!({"path": "/v1/a"})).await["status"], 200);
    for path in ["/", "/v2/a", "/v1/../v2", "/v1/%2e%2e/v2", "/V1/a"] {
        assert_eq!(ask(&fixture, &upstream.authority(), json!({"path": path})).await["status"], 200);
    }
    // The header of another server, or path, is the guest's to set.
    let own = json!({"headers": ["authorization: my own"]});
    assert_eq!(ask(&fixture, &elsewhere.authority(), own.clone()).await["status"], 200);
    assert!(elsewhere.asked().iter().chain(&upstream.asked()).all(|head| !head.contains("hunter2")));
    let asked = upstream.asked().len();
    let answer = below(&fixture, &upstream, own).await;
    assert!(refused(&answer, "denied").contains("the secret `token`"), "{answer}");
    // Parts of an answer would hold parts of a secret.
    let answer = below(&fixture, &upstream, json!({"headers": ["range: bytes=0-3"]})).await;
    assert!(refused(&answer, "denied").contains("`range`"), "{answer}");
    refused(&below(&fixture, &upstream, json!({"method": "TRACE"})).await, "denied");
    assert_eq!(upstream.asked().len(), asked);
}

#[tokio::test]
async fn an_answer_in_which_a_secret_could_not_be_found_is_refused() {
    let upstream = Upstream::start(|head, connection| {
        if head.contains("/v1/packed") {
            let _ = connection
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n6\r\npacked\r\n0\r\n\r\n");
        }
        Upstream::send(connection, "content-encoding: gzip\r\n", b"packed");
    });
    let fixture = open(&[&upstream]).await;
    let answer = below(&fixture, &upstream, json!({"headers": ["accept-encoding: gzip"]})).await;
    assert!(refused(&answer, "unavailable").contains("encoding"), "{answer}");
    assert!(upstream.asked()[0].contains("accept-encoding: identity\r\n"));
    let answer = below(&fixture, &upstream, json!({"path": "/v1/packed"})).await;
    assert!(refused(&answer, "unavailable").contains("encoding"), "{answer}");
    assert_eq!(ask(&fixture, &upstream.authority(), json!({})).await["body"], "packed", "without a secret it is");
}

#[tokio::test]
async fn a_plugin_whose_secret_is_not_there_is_not_loaded_and_says_why() {
    let lines = "[plugin.hostile.secrets.token]\nenvironment = \"WHARF_TEST_THAT_NOBODY_SETS\"\n\
                 to = \"* https://example.com\"\nheader = \"Authorization: Bearer {}\"";
    let fixture = Setup::new().with_tables(lines).open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    assert_eq!(rejected.len(), 1);
    let told = format!("{rejected:?}");
    assert!(told.contains("[plugin.hostile.secrets.token]") && told.contains("WHARF_TEST_THAT_NOBODY_SETS"), "{told}");
    fixture.works().await;
}

#[test]
fn a_secret_is_taken_from_a_credential_of_the_hosts_unit() {
    let upstream = Upstream::echo();
    let origin = format!("http://{}", upstream.authority());
    let grants = format!(
        "[plugin.fetching.grants.http]\nreason = \"a test\"\nrequests = [\"{origin}/v1/*\"]\nprivate_addresses = true\n\
         [plugin.fetching.secrets.token]\ncredential = \"tracker\"\nto = \"* {origin}/v1/*\"\nheader = \"Authorization: \
         Bearer {{}}\""
    );
    let setup = Setup::bare().plugin("fetching", &component("guest-fetching"), &grants);
    let (data, files) = (Data::new(), Data::alone());
    let config = files.write("wharf.toml", setup.text());
    // An access list of systemd's looks like a group that may read.
    let credential = files.write_private("tracker", SECRET);
    std::fs::set_permissions(credential, std::fs::Permissions::from_mode(0o440)).expect("changed");
    let arguments = json!({"url": format!("{origin}/v1/a")}).to_string();
    let call = || wharf(["call", "fetching__fetch", "--json", &arguments]).config(&config).data(data.path());
    let called = call().env("CREDENTIALS_DIRECTORY", files.path().to_str().expect("a plain path")).run();
    assert_eq!(called.code, Some(0), "{called:?}");
    assert!(upstream.asked()[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "{:?}", upstream.asked());
    assert!(!called.out.contains("hunter2"), "{called:?}");
    let without = call().run();
    assert!(without.code != Some(0) && without.err.contains("LoadCredential=tracker:"), "{without:?}");
}
