//! What a plugin lists of itself, made to harm its readers; the real binary
//! serves others meanwhile.

use serde_json::{Value, json};
use wharf::OfferService;
use wharf_tests::{Data, Server, Setup, component, replied, viewer};

use super::{EVENTS, attacker};
use crate::http_mcp::modern;

#[tokio::test]
async fn what_a_plugin_says_of_itself_is_bounded_and_keeps_it_out_where_it_is_not() {
    let files = Data::alone();
    for (attack, told) in [("large-prompts", "could not list"), ("schema-bomb", "input schema")] {
        let fixture = Setup::new().plugin("attack", &attacker(&files, attack), "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        assert_eq!(rejected.len(), 1, "{attack}");
        assert!(rejected[0].reason.contains(told), "{attack}: {}", rejected[0].reason);
        assert!(rejected[0].reason.len() < 4_096, "{attack}: its reason is no bomb either");
        assert!(fixture.host.prompts(viewer()).is_empty());
        fixture.works().await;
    }
}

fn ask(server: &Server, method: &str) -> Value {
    let (headers, request) = modern(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}));
    replied(server.say(&headers, &request)).message()
}

#[test]
fn no_title_steers_a_terminal_and_no_field_speaks_for_the_host() {
    let files = Data::alone();
    let setup = Setup::new().plugin("attack", &attacker(&files, "titles"), "");
    let server = Server::start(&setup.plugin("conformance", &component("guest-conformance"), EVENTS));
    for (method, list, name) in [
        ("tools/list", "tools", "attack__changed"),
        ("prompts/list", "prompts", "attack__titled"),
        ("resources/list", "resources", "An attack"),
        ("resources/templates/list", "resourceTemplates", "An attack"),
    ] {
        let answer = ask(&server, method);
        let listed = answer["result"][list].as_array().unwrap_or_else(|| panic!("{method}: {answer}"));
        let titled = listed.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{method}: {answer}"));
        assert_eq!(titled["title"], "Harmless]0;owned", "{method}");
        // Its own metadata is passed on under its own names.
        assert_eq!(titled["_meta"], json!({"mine": "[2J", "trusted": true}), "{method}");
        let shown = titled.to_string();
        assert!(!["\\u001b", "\\u0007", "\u{202e}", "dev.wharf"].iter().any(|word| shown.contains(word)), "{shown}");
        assert!(listed.len() > 1, "others are listed beside it: {answer}");
    }
}
