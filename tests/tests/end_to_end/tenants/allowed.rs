//! A token that may use some plugins sees what these offer beside tools, and of the
//! others nothing: not their names, not their addresses, not that they change.

use serde_json::{Value, json};
use wharf_tests::{Data, Setup, component, replied};

use super::{Two, heard::Heard, request};
use crate::{http_mcp::with_tokens, offers::attacker};

const EVENTS: &str = "reason = \"a test\"";

/// The one token may use `conformance`, the other `attack`; both are of one tenant.
fn two(files: &Data) -> Two {
    let events = |plugin: &str| format!("[plugin.{plugin}.grants.events]\n{EVENTS}");
    let setup = Setup::new().plugin("conformance", &component("guest-conformance"), &events("conformance")).plugin(
        "attack",
        &attacker(files, "none"),
        &events("attack"),
    );
    let options: [&[&str]; 2] =
        [&["--name", "one", "--plugin", "conformance"], &["--name", "other", "--plugin", "att*"]];
    let (server, tokens) = with_tokens(setup, options);
    Two { server, tokens }
}

fn names(answer: &Value, list: &str, name: &str) -> Vec<String> {
    let listed = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list}: {answer}"));
    listed.iter().map(|one| one[name].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn a_token_sees_prompts_and_resources_of_its_plugins_alone() {
    use super::Tenant::{First, Second};
    let files = Data::alone();
    let mut two = two(&files);
    for (token, own, foreign) in [(First, "conformance__", "attack"), (Second, "attack__", "conformance")] {
        let prompts = names(&two.ask(token, "prompts/list", json!({})), "prompts", "name");
        assert!(!prompts.is_empty() && prompts.iter().all(|name| name.starts_with(own)), "{prompts:?}");
        let unknown = |two: &mut Two, method: &str, parameters: Value| {
            let told = two.ask(token, method, parameters);
            assert!(told["error"].is_object(), "{method}: {told}");
            told["error"].clone()
        };
        let hidden = if token == First { "attack__ask" } else { "conformance__test_simple_prompt" };
        let told = unknown(&mut two, "prompts/get", json!({"name": hidden}));
        let made_up = unknown(&mut two, "prompts/get", json!({"name": "nothing__at_all"}));
        assert_eq!(told["code"], made_up["code"]);
        let words = |error: &Value, name: &str| error["message"].as_str().expect("words").replace(name, "");
        assert!(!words(&told, hidden).contains(foreign), "{told}");
        let completes = |name: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "text", "value": "a"}});
        let told = unknown(&mut two, "completion/complete", completes(hidden));
        assert!(!words(&told, hidden).contains(foreign), "{told}");
        assert_eq!(told["code"], unknown(&mut two, "completion/complete", completes("nothing__at_all"))["code"]);
    }
    let uris = |two: &mut Two, token| names(&two.ask(token, "resources/list", json!({})), "resources", "uri");
    assert_eq!(uris(&mut two, Second), ["attack://listed"]);
    assert!(uris(&mut two, First).iter().all(|uri| uri.starts_with("test://")));
    let templates = two.ask(Second, "resources/templates/list", json!({}));
    assert_eq!(names(&templates, "resourceTemplates", "uriTemplate"), ["attack://template/{id}"]);
    let read = |two: &mut Two, token, uri: &str| two.ask(token, "resources/read", json!({"uri": uri}));
    assert!(read(&mut two, First, "test://static-text")["result"].is_object());
    let (hidden, unknown) = (read(&mut two, Second, "test://static-text"), read(&mut two, Second, "none://at-all"));
    let masked = |told: &Value, uri: &str| told.to_string().replace(uri, "URI");
    assert_eq!(masked(&hidden, "test://static-text"), masked(&unknown, "none://at-all"));
    let variable = |template: &str| json!({"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": "id", "value": "1"}});
    let told = two.ask(Second, "completion/complete", variable("test://template/{id}/data"));
    assert!(told["error"].is_object(), "{told}");
}

#[test]
fn a_token_hears_of_changes_of_its_plugins_alone() {
    use super::Tenant::{First, Second};
    let files = Data::alone();
    let mut two = two(&files);
    let sessions = [First, Second].map(|token| two.of(token).handshake().expect("a session"));
    let say = |two: &mut Two, token, method: &str, parameters: Value| {
        let message = request(method, parameters).1;
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": message["params"]});
        message["params"]["_meta"] = json!({"dev.wharf/sessionId": "s"});
        let session = &sessions[usize::from(token == Second)];
        let told = replied(two.of(token).say(session, &message)).message();
        assert!(told["result"].is_object() && told["result"]["isError"] != true, "{method}: {told}");
    };
    for uri in ["test://watched-resource", "attack://mine"] {
        say(&mut two, Second, "resources/subscribe", json!({"uri": uri}));
    }
    let mut heard = Heard::new(two.of(Second).listen(&sessions[1]));
    for what in ["tool_change", "prompt_change", "resource_change", "resource_update"] {
        let call = json!({"name": format!("conformance__test_trigger_{what}"), "arguments": {}});
        say(&mut two, First, "tools/call", call);
    }
    say(&mut two, Second, "tools/call", json!({"name": "attack__updated", "arguments": {"text": "attack://mine"}}));
    assert_eq!(heard.method(), "notifications/resources/updated", "the first that it hears is of its own plugin");
    say(&mut two, Second, "tools/call", json!({"name": "attack__changed", "arguments": {"text": "prompts"}}));
    assert_eq!(heard.method(), "notifications/prompts/list_changed");
}
