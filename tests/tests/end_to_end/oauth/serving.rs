//! `wharf serve --http` as a protected resource.

use serde_json::{Value, json};
use wharf_tests::{Data, Reply, Server, Setup, replied};

use super::issuer::{Issuer, Key, RESOURCE};
use crate::{audit, http_mcp::modern};

fn call(server: &Server, tool: &str, arguments: Value) -> Reply {
    let params = json!({"name": tool, "arguments": arguments});
    let (headers, request) = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    replied(server.say(&headers, &request))
}

#[test]
fn clients_are_told_where_tokens_come_from_and_each_subject_is_a_tenant() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let lines = format!(
        "[http.oauth]\nissuer = \"{}\"\nresource = \"{RESOURCE}\"\nscopes = [\"tools\"]\nplugins = [\"planning\"]\n",
        issuer.address
    );
    let data = Data::new();
    data.write("wharf.toml", Setup::bare().planning().with_tables(&lines).text());
    let path = data.path().join("http-token");
    let mut server = Server::start_in(data, &["--http-token-file", path.to_str().expect("UTF-8")]);
    let operator = server.token.clone();

    // Without a token, and what that leads to.
    server.token = "x".repeat(32);
    let refused = call(&server, "planning__list_goals", json!({}));
    let place = "/.well-known/oauth-protected-resource/mcp";
    let challenge = refused.header("www-authenticate").expect("a way").to_owned();
    assert_eq!(refused.status, 401);
    assert!(challenge.contains(&format!("resource_metadata=\"https://wharf.example{place}\"")), "{challenge}");
    assert!(challenge.contains("scope=\"tools\""), "{challenge}");
    for place in [place, "/.well-known/oauth-protected-resource"] {
        let metadata = replied(server.send("GET", place, "s", "", "")).message();
        assert_eq!(metadata["resource"], RESOURCE);
        assert_eq!(metadata["authorization_servers"], json!([issuer.address]));
    }

    let token = |subject: &str, scope: &str| {
        let mut claims = issuer.claims_but("sub", json!(subject));
        claims["scope"] = json!(scope);
        key.sign(&claims)
    };
    server.token = token("ada", "other");
    let refused = call(&server, "planning__list_goals", json!({}));
    let challenge = refused.header("www-authenticate").expect("a way").to_owned();
    assert!(refused.status == 403 && challenge.contains("insufficient_scope"), "{refused:?}");
    assert_eq!(call(&server, "planning__list_goals", json!({})).status, 403, "and again");

    server.token = token("ada", "tools");
    let made = call(&server, "planning__create_goal", json!({"goal": "Ship it"}));
    assert_eq!(made.status, 200, "{made:?}");
    assert!(call(&server, "planning__list_goals", json!({})).body.contains("Ship it"));
    // Terminals are none of the plugins that its clients may use, and metrics the operator's alone.
    for path in ["/v1/terminals", "/metrics"] {
        assert_eq!(replied(server.send("GET", path, "s", "", "")).status, 403, "{path}");
    }
    server.token = token("grace", "tools");
    let listed = call(&server, "planning__list_goals", json!({}));
    assert!(listed.status == 200 && !listed.body.contains("Ship it"), "{listed:?}");
    server.token = operator;
    let listed = call(&server, "planning__list_goals", json!({}));
    assert!(listed.status == 200 && !listed.body.contains("Ship it"), "{listed:?}");

    // A right that is missing is told to the operator, too; what its client may not ask for is not.
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
    let found = audit::lines(server.data.path());
    let of = |why: &str| found.iter().filter(|line| line.function == why).map(|line| line.times()).sum::<u64>();
    assert_eq!((of("missing-scope"), of("wrong-token")), (2, 1));
}
