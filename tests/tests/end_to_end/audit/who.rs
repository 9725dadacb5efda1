//! What the audit tells of those who ask over HTTP.

use serde_json::json;
use wharf_tests::{Setup, replied, wharf};

use super::{lines, raw};
use crate::http_mcp::{ask_modern, call, with_tokens};

#[test]
fn a_call_over_http_says_whose_token_was_shown_and_from_where() {
    let setup = Setup::bare().planning().with_tables("[audit]\naddresses = \"network\"");
    let (mut server, tokens) =
        with_tokens(setup, [&["--name", "ci", "--tenant", "a"], &["--name", "other", "--tenant", "b"]]);
    let [first, second] = tokens;
    server.token.clone_from(&first);
    let goal = || call("planning__create_goal", &json!({"goal": "Ship it"}));
    assert_eq!(ask_modern(&server, goal()).status, 200);
    // A session of the older revision goes another way through the host.
    server.token.clone_from(&second);
    let session = server.handshake().expect("a session");
    assert_eq!(replied(server.say(&session, &goal())).status, 200);
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());

    let found = lines(server.data.path());
    let who: Vec<_> = found
        .iter()
        .filter(|line| line.kind == "call")
        .map(|line| [&line.tenant, &line.token, &line.subject, &line.address].map(String::as_str))
        .collect();
    assert_eq!(who, [["a", "ci", "", "127.0.0.0"], ["b", "other", "", "127.0.0.0"]]);
    let asked: Vec<_> = found.iter().filter(|line| line.kind == "host-call").collect();
    assert!(
        !asked.is_empty() && asked.iter().all(|line| line.token.is_empty() && line.address.is_empty()),
        "{asked:?}"
    );
    let all = raw(server.data.path());
    assert!(!all.contains(&first) && !all.contains(&second));
    let shown = wharf(["audit", "--kind", "call"]).data(server.data.path()).run();
    assert!(shown.out.contains("ci  at 127.0.0.0"), "{shown:?}");
}

#[test]
fn a_token_that_asks_too_often_is_counted_among_the_lines_of_its_own_tenant() {
    let slow: &[&str] = &["--name", "slow", "--tenant", "a", "--requests-per-second", "1"];
    let (mut server, tokens) = with_tokens(Setup::bare(), [slow, &["--name", "other", "--tenant", "b"]]);
    server.token.clone_from(&tokens[0]);
    let refused = (0..50).filter(|_| server.ask("GET", "/v1/streams", "s", None).status == 429).count();
    assert!(refused > 0);
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let found = lines(server.data.path());
    let limited: Vec<_> = found.iter().filter(|line| line.kind == "limited").collect();
    let as_told = limited.iter().all(|line| {
        let told = [&line.tenant, &line.token, &line.function, &line.outcome, &line.address].map(String::as_str);
        told == ["a", "slow", "too-many-requests", "limit", "127.0.0.1"]
    });
    assert!(as_told, "{limited:?}");
    assert_eq!(limited.iter().map(|line| line.times()).sum::<u64>(), refused as u64);
    assert!(found.iter().all(|line| line.kind != "authentication"), "its token is a right one");
}
