//! A model reads what a person sees: whatever plugins, pages and programs say, no client
//! is sent a character that nobody would see.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Server, Setup, replied, wharf};

use crate::offers::attacker;

/// An order to a model that no person sees, and what turns a text around or breaks it.
const HIDDEN: &str =
    "a\u{e0049}\u{e0067}\u{e006e}\u{200b}\u{202e}\u{61c}\u{feff}\u{ad}\u{e0101}\u{180e}\u{fff9}\u{1}\r\u{2028}b";
/// What a person sees of it, in a text and in one line.
const SEEN: &str = "a\n\nb";
const SEEN_IN_A_LINE: &str = "ab";

/// Every text of a message, names of members among them.
fn texts(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                found(name);
                texts(member, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn assert_seen(what: &str, message: &Value) {
    texts(message, &mut |text| {
        let hidden = text.chars().find(|character| {
            matches!(character,
                '\u{e0000}'..='\u{e0fff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{61c}' | '\u{feff}' | '\u{ad}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}')
                || character.is_control() && !"\n\t".contains(*character)
        });
        assert_eq!(hidden, None, "{what}: {text:?} in {message}");
    });
}

/// A client of the hostile plugin and of one that hides something in all that it lists.
fn connected() -> (Client, Data) {
    let data = Data::new();
    let events = "[plugin.hidden.grants.events]\nreason = \"a test\"";
    let setup =
        Setup::new().with("output_schemas = \"full\"").events().plugin("hidden", &attacker(&data, "hidden"), events);
    let config = data.write("wharf.toml", setup.text());
    (Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path())), data)
}

#[test]
fn nothing_that_a_plugin_lists_has_characters_that_nobody_sees() {
    let (mut client, _data) = connected();
    for (method, list, name) in [
        ("tools/list", "tools", "hidden__changed"),
        ("prompts/list", "prompts", "hidden__hidden"),
        ("resources/list", "resources", SEEN_IN_A_LINE),
        ("resources/templates/list", "resourceTemplates", SEEN_IN_A_LINE),
    ] {
        let answer = client.request(method, json!({}));
        assert_seen(method, &answer);
        let listed = answer["result"][list].as_array().unwrap_or_else(|| panic!("{method}: {answer}"));
        let found = listed.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{method}: {answer}"));
        assert_eq!([&found["description"], &found["title"]], [SEEN, SEEN], "{method}");
        assert_eq!(found["_meta"]["mine"], SEEN, "{method}");
        if method == "tools/list" {
            for schema in ["inputSchema", "outputSchema"] {
                let members = &found[schema]["properties"];
                assert_eq!(members["one"]["description"], SEEN, "{schema}");
                assert_eq!(members["two"]["items"]["default"], SEEN, "{schema}");
            }
        }
    }
}

#[tokio::test]
async fn a_schema_that_checks_against_what_nobody_sees_is_refused_with_its_place() {
    let files = Data::alone();
    for (attack, place) in [("hidden-enum", "`enum`"), ("hidden-name", "`properties`")] {
        let fixture = Setup::new().plugin("attack", &attacker(&files, attack), "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        assert_eq!(rejected.len(), 1, "{attack}");
        let reason = &rejected[0].reason;
        assert!(reason.contains("invisible") && reason.contains(place) && reason.contains("`changed`"), "{reason}");
        fixture.works().await;
    }
}

#[test]
fn nothing_that_a_plugin_answers_has_characters_that_nobody_sees() {
    let (mut client, _data) = connected();
    let structured = json!({HIDDEN: [HIDDEN, {"deep": HIDDEN}]}).to_string();
    let meta = json!({"mine": HIDDEN, HIDDEN: 1, "annotations": {"audience": [HIDDEN]}}).to_string();
    let json_text = format!("{{\"a\": \"{}\"}}", HIDDEN.replace(['\u{1}', '\r'], ""));
    for (tool, arguments, at, expected) in [
        ("text", json!({"text": HIDDEN}), "/content/0/text", SEEN),
        ("error_answer", json!({"text": HIDDEN}), "/content/0/text", SEEN),
        ("error", json!({"code": "invalid", "message": HIDDEN}), "/content/0/text", SEEN),
        ("error", json!({"code": "invalid", "message": HIDDEN}), "/_meta/dev.wharf~1error/message", SEEN),
        ("mime_type", json!({"mimeType": "text/html", "text": HIDDEN}), "/content/0/resource/text", SEEN),
        (
            "mime_type",
            json!({"mimeType": "application/json", "text": json_text}),
            "/content/0/resource/text",
            "{\"a\": \"a\\nb\"}",
        ),
        (
            "mime_type",
            json!({"mimeType": "application/ld+json", "text": json_text}),
            "/content/0/resource/text",
            "{\"a\": \"a\\nb\"}",
        ),
        ("unpromised_structured", json!({"structured": structured}), "/structuredContent/a\n\nb/1/deep", SEEN),
        ("answer_meta", json!({"meta": meta}), "/_meta/mine", SEEN),
        ("content_meta", json!({"meta": meta}), "/content/0/_meta/mine", SEEN),
    ] {
        let answer = client.call(&format!("hostile__{tool}"), arguments, json!({}));
        assert_seen(tool, &answer);
        let found = answer.pointer(at).and_then(Value::as_str);
        assert_eq!(found, Some(expected), "{tool} at {at}: {answer}");
    }
    let unknown = client.request("tools/call", json!({"name": format!("hostile__{HIDDEN}"), "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("hostile__ab")), "{unknown}");
    assert_seen("an unknown tool", &unknown["error"]);
    let wrong = client.call("hostile__text", json!({"text": 1, HIDDEN: 2}), json!({}));
    assert_seen("arguments that do not fit", &wrong);
    for line in &client.seen {
        assert_seen("a line", &serde_json::from_str(line).expect("JSON"));
    }
}

#[test]
fn nothing_that_a_running_call_tells_has_characters_that_nobody_sees() {
    let (mut client, _data) = connected();
    let meta = json!({"progressToken": 1});
    client.call("hostile__progress_message", json!({"message": HIDDEN}), meta.clone());
    let data = json!([HIDDEN, {HIDDEN: HIDDEN}]).to_string();
    client.call("hostile__message_data", json!({"level": "warn", "data": data}), meta);
    let said: Vec<Value> = client.seen.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |method: &str| said.iter().find(|message| message["method"] == method).map(|message| &message["params"]);
    let progress = of("notifications/progress").expect("progress");
    assert_eq!(progress["message"], SEEN_IN_A_LINE);
    assert_eq!(of("notifications/message").expect("a message")["data"], json!([SEEN, {SEEN: SEEN}]));
    said.iter().for_each(|message| assert_seen("what was told", message));
}

#[test]
fn prompts_resources_and_completions_have_no_characters_that_nobody_sees() {
    let (mut client, _data) = connected();
    let prompt = client.request("prompts/get", json!({"name": "hidden__hidden"}));
    assert_eq!(prompt["result"]["description"], SEEN);
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], SEEN);
    let failed = client.request("prompts/get", json!({"name": "hidden__hidden-failure"}));
    assert_eq!(failed["error"]["message"], SEEN);
    let read = client.request("resources/read", json!({"uri": "attack://hidden"}));
    let contents = &read["result"]["contents"];
    assert_eq!([&contents[0]["text"], &contents[2]["text"]], [SEEN, SEEN], "{read}");
    assert_eq!(contents[1]["text"], "{\"a\":\"a\\nb\"}");
    let reference = json!({"type": "ref/prompt", "name": "hidden__hidden"});
    let argument = json!({"name": "text", "value": "hidden"});
    let completed = client.request("completion/complete", json!({"ref": reference, "argument": argument}));
    assert_eq!(completed["result"]["completion"]["values"], json!([SEEN_IN_A_LINE]));
    for (what, message) in [("prompt", prompt), ("error", failed), ("resource", read), ("completion", completed)] {
        assert_seen(what, &message);
    }
}

#[test]
fn what_a_person_is_asked_has_no_characters_that_nobody_sees() {
    let data = Data::new();
    let server = Server::start(&Setup::new().plugin("hidden", &attacker(&data, "hidden"), ""));
    let form =
        json!({"type": "object", "properties": {"name": {"type": "string", "title": HIDDEN, "description": HIDDEN}}});
    let asked = json!({"requests": {"who": {"method": "elicitation/create", "params": {"message": HIDDEN, "requestedSchema": form}}}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"name": "hidden__ask", "arguments": {"ask": asked}}});
    let (headers, mut request) = crate::http_mcp::modern(call);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    let answer = replied(server.say(&headers, &request)).message();
    assert_seen("what is asked", &answer);
    let asks = answer["result"]["inputRequests"]["who"]["params"]["message"].as_str();
    assert_eq!(asks, Some(SEEN), "{answer}");
}

#[test]
fn what_a_front_end_says_has_no_characters_that_nobody_sees() {
    let server = Server::start(&Setup::bare());
    let session = server.handshake().expect("a session");
    let tool = json!({"name": "t", "description": HIDDEN, "title": HIDDEN,
                      "input_schema": {"type": "object", "properties": {"x": {"description": HIDDEN}}}});
    let connected = server.ask("POST", "/v1/front-ends", "page", Some(json!({"name": "editor", "tools": [tool]})));
    let place = connected.header("location").unwrap_or_else(|| panic!("{connected:?}")).to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let listed = replied(server.say(&session, &list)).message();
    assert_seen("a front end's tool", &listed);
    let shown = &listed["result"]["tools"][0];
    assert_eq!([&shown["description"], &shown["title"]], [SEEN, SEEN]);
    assert_eq!(shown["inputSchema"]["properties"]["x"]["description"], SEEN);

    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "app_editor__t", "arguments": {}}});
    let asking = server.say(&session, &call);
    let mut following = server.follow("GET", &format!("{place}/calls/events"), "page", "");
    let began = Instant::now();
    let number = loop {
        let event = following.event().expect("it is followed");
        assert!(began.elapsed() < Duration::from_secs(60), "only comments come");
        if event.kind == "call" {
            break event.data["number"].clone();
        }
    };
    let answer = json!({"content": [{"text": HIDDEN}], "structured": {HIDDEN: HIDDEN}});
    assert_eq!(server.ask("POST", &format!("{place}/calls/{number}/answer"), "page", Some(answer)).status, 204);
    let answered = replied(asking).message();
    assert_seen("a front end's answer", &answered);
    assert_eq!(answered["result"]["content"][0]["text"], SEEN);
    assert_eq!(answered["result"]["structuredContent"], json!({SEEN: SEEN}));
}

#[test]
fn texts_of_every_script_reach_a_client_as_they_are() {
    let (mut client, _data) = connected();
    for text in [
        "한국어 문장, 옛말 \u{1112}\u{119e}\u{11ab}",
        "می\u{200c}خواهم کتاب\u{200c}ها را بخوانم",
        "क्\u{200d}ष और क्\u{200c}ष",
        "ภาษาไทย ភាសាខ្មែរ",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f}\u{200d}🔥 👍🏽 1\u{fe0f}\u{20e3}",
        "🇰🇷 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "tab\tand\nlines",
    ] {
        let answer = client.call("hostile__text", json!({"text": text}), json!({}));
        assert_eq!(answer["content"][0]["text"], text);
        let structured = json!({"value": text}).to_string();
        let answer = client.call("hostile__unpromised_structured", json!({"structured": structured}), json!({}));
        assert_eq!(answer["structuredContent"]["value"], text);
    }
}

#[test]
fn a_call_that_computes_and_says_nothing_is_said_to_run() {
    let data = Data::new();
    let setup = Setup::new().limit("cpu_time_milliseconds", 60_000).limit("wall_time_milliseconds", 60_000);
    let config = data.write("wharf.toml", setup.text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let params = json!({"name": "hostile__spin", "arguments": {}, "_meta": {"progressToken": "p"}});
    let call = client.ask("tools/call", params);
    let said = client.notification("notifications/progress");
    assert_eq!(said["params"]["progressToken"], "p");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.starts_with("still running")), "{said}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
}
