//! What a client of the protocol has besides tools: sessions of the older era and their
//! events, resources that it watches, rounds of input, calls that run.

use serde_json::{Value, json};
use wharf_tests::{Setup, component, replied};

use super::{
    Tenant::{First, Second},
    Two,
    heard::Heard,
};

const WATCHED: &str = "test://watched-resource";

fn two() -> Two {
    let events = "[plugin.conformance.grants.events]\nreason = \"a test\"";
    Two::start(Setup::new().plugin("conformance", &component("guest-conformance"), events))
}

/// A message of the older era; its answer.
fn say(two: &mut Two, tenant: super::Tenant, session: &str, method: &str, parameters: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
    replied(two.of(tenant).say(session, &message)).message()
}

fn trigger(two: &mut Two, tenant: super::Tenant, session: &str, what: &str) {
    let call = json!({"name": format!("conformance__test_trigger_{what}"), "arguments": {},
                      "_meta": {"dev.wharf/sessionId": "s"}});
    let told = say(two, tenant, session, "tools/call", call);
    assert!(told["result"].is_object() && told["result"]["isError"] != true, "{what}: {told}");
}

#[test]
fn what_has_changed_for_one_tenant_no_other_one_hears() {
    let mut two = two();
    let (first, second) = (two.of(First).handshake().expect("one"), two.of(Second).handshake().expect("another"));
    let watch = json!({"uri": WATCHED, "_meta": {"dev.wharf/sessionId": "s"}});
    say(&mut two, First, &first, "resources/subscribe", watch.clone());
    say(&mut two, Second, &second, "resources/subscribe", watch);
    let (mut mine, mut theirs) = (Heard::new(two.of(First).listen(&first)), Heard::new(two.of(Second).listen(&second)));
    for what in ["tool_change", "prompt_change", "resource_change", "resource_update"] {
        trigger(&mut two, Second, &second, what);
    }
    trigger(&mut two, First, &first, "resource_update");
    assert_eq!(mine.method(), "notifications/resources/updated", "the first that it hears is its own");
    let mut heard = [(); 4].map(|()| theirs.method());
    heard.sort_unstable();
    let lists = ["prompts/list_changed", "resources/list_changed", "resources/updated", "tools/list_changed"];
    assert_eq!(heard, lists.map(|list| format!("notifications/{list}")));
}

#[test]
fn events_of_a_session_come_back_to_its_own_tenant_alone() {
    let mut two = two();
    let (first, second) = (two.of(First).handshake().expect("one"), two.of(Second).handshake().expect("another"));
    // Nobody listens: what is said waits in the session.
    trigger(&mut two, First, &first, "prompt_change");
    let resumes = |session: &str, id: &str| format!("{session}Last-Event-ID: {id}\r\n");
    for id in ["0-0", "1-0"] {
        let reply = replied(two.of(Second).listen(&resumes(&first, id)));
        assert_eq!(reply.status, 404, "{reply:?}");
    }
    let mut theirs = Heard::new(two.of(Second).listen(&resumes(&second, "0-0")));
    trigger(&mut two, Second, &second, "resource_change");
    assert_eq!(theirs.method(), "notifications/resources/list_changed", "what it hears is its own");
    let mut mine = Heard::new(two.of(First).listen(&resumes(&first, "0-0")));
    assert_eq!(mine.method(), "notifications/prompts/list_changed");
}

#[test]
fn the_state_of_a_round_of_input_is_worth_nothing_to_another_tenant() {
    let mut two = two();
    let tool = "conformance__test_input_required_result_request_state";
    let mut asked = |tenant, round: Value| {
        let mut call = json!({"name": tool, "arguments": {}, "_meta": {}});
        call.as_object_mut().expect("an object").extend(wharf_tests::object(round));
        let (headers, mut request) = super::request("tools/call", call);
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
        replied(two.of(tenant).say(&headers, &request)).message()
    };
    let begun = asked(First, json!({}));
    let state = begun["result"]["requestState"].as_str().unwrap_or_else(|| panic!("no round: {begun}")).to_owned();
    let answer = json!({"confirm": {"action": "accept", "content": {"ok": true}}});
    let round = |state: &str| json!({"inputResponses": answer, "requestState": state});
    let stolen = asked(Second, round(&state));
    let made_up = asked(Second, round(&state.chars().rev().collect::<String>()));
    assert!(stolen["error"].is_object() && stolen == made_up, "{stolen} {made_up}");
    let finished = asked(First, round(&state));
    assert!(finished.to_string().contains("state-ok"), "it is worth as much as before: {finished}");
}

#[test]
fn no_tenant_takes_back_the_call_of_another() {
    let mut two = two();
    let (first, second) = (two.of(First).handshake().expect("one"), two.of(Second).handshake().expect("another"));
    let call = json!({"name": "hostile__sleep", "arguments": {"milliseconds": 700}});
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call});
    let running = two.of(First).say(&first, &call);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    assert_eq!(replied(two.of(Second).say(&second, &cancelled)).status, 202);
    assert_eq!(replied(two.of(Second).say(&first, &cancelled)).status, 404);
    let answered = replied(running).message();
    assert!(answered["result"].is_object() && answered["result"]["isError"] != true, "{answered}");
}
