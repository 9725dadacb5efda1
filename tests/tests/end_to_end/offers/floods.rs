//! Rounds and news without end, told by a plugin of the real binary while others are served.

use std::thread;

use serde_json::{Value, json};
use wharf_tests::{Data, Server, Setup, replied};

use super::attacker;
use crate::http_mcp::modern;

const EVENTS: &str = "[plugin.attack.grants.events]\nreason = \"a test\"";

fn server(files: &Data) -> Server {
    Server::start(&Setup::new().plugin("attack", &attacker(files, "none"), EVENTS))
}

fn call(server: &Server, tool: &str, arguments: &Value, round: &Value) -> Value {
    let mut parameters = json!({"name": tool, "arguments": arguments, "_meta": {}});
    parameters.as_object_mut().expect("an object").extend(wharf_tests::object(round.clone()));
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
    let (headers, mut request) = modern(request);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    replied(server.say(&headers, &request)).message()
}

fn works(server: &Server) {
    let told = call(server, "echo__echo", &json!({"text": "still here"}), &json!({}));
    assert_eq!(told["result"]["content"][0]["text"], "still here", "{told}");
}

#[test]
fn rounds_without_end_end_and_a_state_of_the_plugins_own_is_none() {
    let files = Data::alone();
    let server = server(&files);
    let asks = json!({"ask": {"requests": {"n": {"method": "roots/list"}}, "state": "again"}});
    let (mut round, mut rounds) = (json!({}), 0);
    let last = loop {
        let told = call(&server, "attack__ask", &asks, &round);
        let Some(state) = told["result"]["requestState"].as_str() else { break told };
        // What the plugin says of its state is sealed before a client has it.
        assert!(state != "again" && rounds < 1_000, "{told}");
        (round, rounds) = (json!({"inputResponses": {"n": {"roots": []}}, "requestState": state}), rounds + 1);
    };
    assert!(rounds > 0 && last["result"]["isError"] == true, "{last}");
    assert!(last["result"]["content"][0]["text"].as_str().is_some_and(|told| told.contains("rounds")), "{last}");
    let forged = json!({"inputResponses": {"n": {"roots": []}}, "requestState": "again"});
    assert!(call(&server, "attack__ask", &asks, &forged)["error"].is_object());
    works(&server);
}

#[test]
fn news_without_end_ends_with_its_call_and_others_are_served_meanwhile() {
    let files = Data::alone();
    let server = server(&files);
    let session = server.handshake().expect("a session");
    // A client that watches, and reads nothing of it.
    let watch = json!({"uri": "attack://flood", "_meta": {"dev.wharf/sessionId": "s"}});
    let watch = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": watch});
    assert_eq!(replied(server.say(&session, &watch)).status, 200);
    let _unread = server.listen(&session);
    thread::scope(|scope| {
        let floods: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    (0..10).map(|_| call(&server, "attack__flood", &json!({}), &json!({}))).collect::<Vec<_>>()
                })
            })
            .collect();
        for _ in 0..20 {
            works(&server);
        }
        for flood in floods {
            for told in flood.join().expect("no panic") {
                assert!(
                    told["result"].is_object() && told["result"]["isError"] != true,
                    "its own limit ends it: {told}"
                );
            }
        }
    });
    works(&server);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
    assert_eq!(replied(server.say(&session, &list)).status, 200, "the session is served as before");
}
