//! Tools of one tenant's front ends are not there for another one, and a front end
//! belongs to the client that connected it alone.

use serde_json::{Value, json};
use wharf::http::Token;
use wharf_tests::{Data, Reply, Server, Setup, replied};

use super::{Page, call, list, next, tool, with_tools};

/// A server with these tokens beside the operator's: name, tenant, further lines.
fn server(tokens: &[(&str, &str, &str)]) -> (Server, Vec<String>) {
    let mut lines = String::new();
    let texts = tokens.iter().map(|(name, tenant, further)| {
        let text = Token::generate().expect("randomness");
        let digest = Token::new(&text).expect("legal").digest();
        lines.push_str(&format!(
            "[[http.tokens]]\nname = '{name}'\ntenant = '{tenant}'\ndigest = '{digest}'\n{further}\n"
        ));
        text
    });
    let texts = texts.collect();
    let data = Data::new();
    data.write("wharf.toml", Setup::bare().with_tables(&lines).text());
    let path = data.path().join("http-token");
    (Server::start_in(data, &["--http-token-file", path.to_str().expect("UTF-8")]), texts)
}

fn names(reply: &Reply) -> Vec<Value> {
    let message = reply.message();
    message["result"]["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect()
}

const MAY: &str = "front_ends = true";

#[test]
fn another_tenant_neither_lists_nor_calls_nor_answers_for_a_front_end() {
    let (mut server, tokens) = server(&[("a", "a", MAY), ("b", "b", MAY)]);
    let place = {
        server.token.clone_from(&tokens[0]);
        Page::connect(&server, with_tools("editor", [tool("save")])).place
    };
    let of_a = server.handshake().expect("a session");
    assert_eq!(names(&replied(server.say(&of_a, &list()))), ["app_editor__save"]);
    // It waits, and nobody else may see or end it.
    let asking = server.say(&of_a, &call(1, "app_editor__save", &json!({"secret": 1})));
    let asked = next(&mut server.follow("GET", &format!("{place}/calls/events"), "page", "")).1;

    for other in [tokens[1].clone(), server_token(&server)] {
        server.token = other;
        let session = server.handshake().expect("a session");
        assert_eq!(names(&replied(server.say(&session, &list()))), [""; 0]);
        let hidden = replied(server.say(&session, &call(1, "app_editor__save", &json!({})))).message();
        let unknown = replied(server.say(&session, &call(1, "app_editor__other", &json!({})))).message();
        assert_eq!(hidden["error"]["code"], unknown["error"]["code"], "{hidden}");
        let told = |message: &Value| message["error"]["message"].as_str().map(|told| told.replace("save", "other"));
        assert_eq!(told(&hidden), told(&unknown), "it does not tell that there is one");
        let answer = format!("{place}/calls/{}/answer", asked["number"]);
        let progress = format!("{place}/calls/{}/progress", asked["number"]);
        for (method, path, body) in [
            ("GET", format!("{place}/calls"), None),
            ("GET", format!("{place}/calls/events"), None),
            ("POST", answer, Some(json!({"content": [{"text": "forged"}]}))),
            ("POST", progress, Some(json!({"done": 1}))),
            ("DELETE", place.clone(), None),
        ] {
            let refused = server.ask(method, &path, "page", body);
            assert_eq!((refused.status, &refused.json()["error"]["code"]), (404, &json!("not-found")), "{path}");
        }
        assert_eq!(server.ask("GET", "/v1/front-ends", "page", None).json()["front_ends"], json!([]));
        // The same name is free there.
        assert_eq!(Page::connect(&server, with_tools("editor", [tool("load")])).disconnect().status, 204);
    }
    server.token.clone_from(&tokens[0]);
    let right = format!("{place}/calls/{}/answer", asked["number"]);
    let answered = server.ask("POST", &right, "page", Some(json!({"content": [{"text": "right"}]})));
    assert_eq!(answered.status, 204, "{answered:?}");
    assert_eq!(replied(asking).message()["result"]["content"][0]["text"], "right");
}

/// The token of the operator, whose tenant is `local`.
fn server_token(server: &Server) -> String {
    std::fs::read_to_string(server.data.path().join("http-token")).expect("a token").trim().to_owned()
}

#[test]
fn another_token_of_the_tenant_uses_the_tools_and_cannot_take_the_front_end() {
    let (mut server, tokens) = server(&[("page", "team", MAY), ("agent", "team", ""), ("other", "team", MAY)]);
    server.token.clone_from(&tokens[0]);
    let place = Page::connect(&server, with_tools("editor", [tool("save")])).place;
    server.token.clone_from(&tokens[1]);
    let session = server.handshake().expect("a session");
    assert_eq!(names(&replied(server.say(&session, &list()))), ["app_editor__save"]);
    let asking = server.say(&session, &call(1, "app_editor__save", &json!({})));
    let wanted = with_tools("viewer", [tool("save")]);
    for (method, path, body) in [
        ("POST", "/v1/front-ends".to_owned(), Some(wanted)),
        ("GET", "/v1/front-ends".to_owned(), None),
        ("GET", format!("{place}/calls"), None),
        ("DELETE", place.clone(), None),
    ] {
        let refused = server.ask(method, &path, "page", body);
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!("denied")), "{refused:?}");
        assert!(refused.body.contains("front_ends = true"), "{refused:?}");
    }
    server.token.clone_from(&tokens[2]);
    let mut stolen = with_tools("editor", [tool("save")]);
    stolen["replace"] = true.into();
    assert_eq!(server.ask("POST", "/v1/front-ends", "page", Some(stolen)).status, 409);
    assert_eq!(server.ask("GET", &format!("{place}/calls"), "page", None).status, 404);
    server.token.clone_from(&tokens[0]);
    let asked = next(&mut server.follow("GET", &format!("{place}/calls/events"), "page", "")).1;
    let answer = format!("{place}/calls/{}/answer", asked["number"]);
    assert_eq!(server.ask("POST", &answer, "page", Some(json!({}))).status, 204);
    assert_eq!(replied(asking).status, 200);
}

#[test]
fn a_token_for_some_plugins_sees_a_front_end_where_it_names_it() {
    let (mut server, tokens) = server(&[
        ("page", "team", "front_ends = true\nplugins = ['host']"),
        ("plain", "team", "plugins = ['planning']"),
        ("named", "team", "plugins = ['app_edit*']"),
    ]);
    server.token.clone_from(&tokens[0]);
    Page::connect(&server, with_tools("editor", [tool("save")]));
    for (token, wanted) in tokens.iter().zip([&[] as &[&str], &[], &["app_editor__save"]]) {
        server.token.clone_from(token);
        let session = server.handshake().expect("a session");
        assert_eq!(names(&replied(server.say(&session, &list()))), wanted);
    }
}
