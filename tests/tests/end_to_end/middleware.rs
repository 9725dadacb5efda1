//! A middleware that writes the context of a call into its arguments, as the design of
//! the tools has it: `__sessionId`, `__assistantId` and `__threadId`. Trusted by the
//! operator, by channel or by token, it is believed; else its calls are told that it was
//! not. The calls are those of that design, as they are written there.

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Setup, replied, wharf};

use crate::http_mcp::with_tokens;

const TRUSTED: &str = "profile = \"developer\"\n[context]\ntrusted_middleware = true";

fn setup() -> Setup {
    let setup = Setup::bare().bundled("planning", "").bundled("playbook", "");
    setup.bundled("content-store", "").bundled("workspace", "")
}

fn served(lines: &str) -> (Client, Data) {
    let data = Data::new();
    let config = data.write("wharf.toml", setup().with(lines).text());
    (Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path())), data)
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// What a call answers that has to succeed.
fn ok(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments.clone(), json!({}));
    assert_eq!(answer["isError"], false, "{tool} {arguments}: {answer}");
    assert!(answer["_meta"].get("dev.wharf/warning").is_none(), "{tool}: {answer}");
    answer
}

#[test]
fn goals_of_the_documents_calls_are_kept_apart_by_session_and_by_assistant() {
    let (mut client, _data) = served(TRUSTED);
    let goal = |goal: &str, session: &str| json!({"goal": goal, "__sessionId": session});
    ok(&mut client, "planning__create_goal", goal("Session 1 Goal", "sess_1"));
    ok(&mut client, "planning__create_goal", goal("Session 2 Goal", "sess_2"));
    let list = ok(&mut client, "planning__list_goals", json!({"__sessionId": "sess_1"}));
    assert!(text(&list).contains("Session 1 Goal") && !text(&list).contains("Session 2 Goal"), "{list}");

    for assistant in ["1", "2"] {
        let arguments = json!({"goal": format!("Assistant {assistant} Goal"), "__sessionId": "sess_3",
                               "__assistantId": format!("asst_{assistant}")});
        ok(&mut client, "planning__create_goal", arguments);
    }
    let list = ok(&mut client, "planning__list_goals", json!({"__sessionId": "sess_3", "__assistantId": "asst_1"}));
    assert!(text(&list).contains("Assistant 1 Goal") && !text(&list).contains("Assistant 2 Goal"), "{list}");

    // What is called without a context has the session `default`.
    ok(&mut client, "planning__create_goal", json!({"goal": "Learn Rust"}));
    let list = ok(&mut client, "planning__list_goals", json!({"__sessionId": "default"}));
    assert!(text(&list).contains("Learn Rust"), "{list}");
}

#[test]
fn the_documents_calls_at_once_change_each_their_own_session() {
    let (mut client, _data) = served(TRUSTED);
    let calls: Vec<u64> = (1..=3)
        .map(|number| {
            let arguments = json!({"goal": format!("Concurrent {number}"), "__sessionId": format!("sess_{number}")});
            client.ask("tools/call", json!({"name": "planning__create_goal", "arguments": arguments}))
        })
        .collect();
    for call in calls {
        assert_eq!(client.answer(call)["result"]["isError"], false);
    }
    for number in 1..=3 {
        let list = ok(&mut client, "planning__list_goals", json!({"__sessionId": format!("sess_{number}")}));
        let others = (1..=3).filter(|other| *other != number);
        assert!(text(&list).contains(&format!("Concurrent {number}")), "{list}");
        assert!(others.into_iter().all(|other| !text(&list).contains(&format!("Concurrent {other}"))), "{list}");
    }
}

#[test]
fn a_playbook_of_the_documents_calls_is_denied_to_another_assistant_in_its_letters() {
    let (mut client, _data) = served(TRUSTED);
    let of = |assistant: &str, more: Value| {
        let mut arguments = json!({"__sessionId": "sess_1", "__assistantId": assistant});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        arguments
    };
    let made = ok(&mut client, "playbook__create_playbook", of("asst_1", json!({"name": "Test Playbook"})));
    let playbook = &made["structuredContent"]["playbook"];
    assert_eq!((&playbook["goal"], &playbook["workflow"]), (&json!("Test Playbook"), &json!([])), "{made}");
    assert!(text(&made).contains("update_playbook"), "it says how steps come in: {made}");
    let id = playbook["id"].clone();
    let selected = ok(&mut client, "playbook__select_playbook", of("asst_1", json!({"id": id})));
    assert!(text(&selected).contains("Test Playbook"), "{selected}");
    let denied = client.call("playbook__select_playbook", of("asst_2", json!({"id": id})), json!({}));
    assert_eq!(denied["isError"], true, "{denied}");
    assert!(text(&denied).contains("Permission denied"), "{denied}");

    // Steps come later, and the playbook can be carried out then.
    let step = json!({"description": "Look", "action": {"toolName": "look", "purpose": "to see"}});
    let change = json!({"id": id, "playbook": {"workflow": [step]}});
    ok(&mut client, "playbook__update_playbook", of("asst_1", change));
    ok(&mut client, "playbook__select_playbook", of("asst_1", json!({"id": id})));
    let done = ok(&mut client, "playbook__complete_step", of("asst_1", json!({"stepId": "step-1"})));
    assert_eq!((&done["structuredContent"]["stepsDone"], &done["structuredContent"]["steps"]), (&json!(1), &json!(1)));
}

#[test]
fn contents_of_the_documents_calls_are_of_their_session() {
    let (mut client, _data) = served(TRUSTED);
    for number in [1, 2] {
        let arguments = json!({"filename": format!("test{number}.txt"), "content": format!("Content {number}"),
                               "__sessionId": format!("sess_{number}")});
        ok(&mut client, "content-store__add_content", arguments);
    }
    for (number, other) in [(1, 2), (2, 1)] {
        let list = ok(&mut client, "content-store__list_contents", json!({"__sessionId": format!("sess_{number}")}));
        assert!(text(&list).contains(&format!("test{number}.txt")), "{list}");
        assert!(!text(&list).contains(&format!("test{other}.txt")), "{list}");
    }
    // The names that the tool has itself are taken as before, and both at once are none.
    ok(
        &mut client,
        "content-store__add_content",
        json!({"name": "own.txt", "text": "Content", "__sessionId": "sess_1"}),
    );
    let both = json!({"name": "a", "filename": "b", "text": "Content"});
    let refused = client.call("content-store__add_content", both, json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
}

/// The document calls the tool `execute_command`; here it is `execute_shell`, as its
/// arguments are the same and there is no second one.
#[test]
fn a_process_of_the_documents_calls_is_polled_by_its_own_session_alone() {
    let (mut client, _data) = served(TRUSTED);
    let run = json!({"command": "echo 'Session 1'", "__sessionId": "sess_1"});
    let first = ok(&mut client, "workspace__execute_shell", run);
    let second = json!({"command": "echo 'Session 2'", "__sessionId": "sess_2"});
    ok(&mut client, "workspace__execute_shell", second);
    let id = &first["structuredContent"]["process_id"];
    let poll = |session: &str| json!({"processId": id, "__sessionId": session});
    let polled = ok(&mut client, "workspace__poll_process", poll("sess_1"));
    assert!(text(&polled).contains("Session 1"), "{polled}");
    let foreign = client.call("workspace__poll_process", poll("sess_2"), json!({}));
    assert_eq!(foreign["isError"], true, "{foreign}");
}

#[test]
fn no_second_tool_and_no_context_is_listed_for_the_documents_calls() {
    let (mut client, _data) = served(TRUSTED);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].take();
    let names: Vec<_> = listed.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(!names.iter().any(|name| name.ends_with("execute_command")), "{names:?}");
    assert!(!listed.to_string().contains("\"__"), "{listed}");
    let schema = |name: &str| {
        let tool = listed.as_array().into_iter().flatten().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("no {name}"))["inputSchema"].clone()
    };
    for (tool, second, first) in [
        ("content-store__add_content", "content", "text"),
        ("content-store__add_content", "filename", "name"),
        ("playbook__create_playbook", "name", "goal"),
        ("workspace__poll_process", "processId", "process_id"),
    ] {
        let said = schema(tool)["properties"][second]["description"].clone();
        assert_eq!(said, format!("Another name of `{first}`."), "{tool}");
    }
}

#[test]
fn what_an_untrusted_caller_writes_is_ignored_and_its_answer_and_the_log_say_so() {
    let (mut client, _data) = served("");
    let arguments =
        json!({"goal": "Learn Rust", "__sessionId": "sess_123", "__assistantId": "asst_456", "__threadId": "t"});
    let answer = client.call("planning__create_goal", arguments, json!({}));
    assert_eq!(answer["isError"], false, "{answer}");
    let warning = &answer["_meta"]["dev.wharf/warning"];
    assert_eq!(warning["code"], "context-ignored", "{answer}");
    assert_eq!(warning["fields"], json!(["__sessionId", "__assistantId", "__threadId"]));
    assert_eq!(warning["session"], "default");
    let kept = client.call("planning__list_goals", json!({}), json!({"dev.wharf/sessionId": "sess_123"}));
    assert!(!text(&kept).contains("Learn Rust"), "{kept}");
    // An answer that is an error says it, too.
    let failed = client.call("planning__mark_todo", json!({"id": 7, "__sessionId": "sess_123"}), json!({}));
    assert_eq!(
        (&failed["isError"], &failed["_meta"]["dev.wharf/warning"]["fields"]),
        (&json!(true), &json!(["__sessionId"]))
    );
    let (_, log, _) = client.leave();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("context fields in arguments")).collect();
    assert_eq!(lines.len(), 2, "one line for each call: {log}");
    assert!(lines[0].contains("trusted_middleware") && !log.contains("sess_123"), "{log}");
}

#[test]
fn a_trusted_context_that_contradicts_the_metadata_is_refused() {
    let (mut client, _data) = served(TRUSTED);
    for (field, key) in [
        ("__sessionId", "dev.wharf/sessionId"),
        ("__assistantId", "dev.wharf/assistantId"),
        ("__threadId", "dev.wharf/threadId"),
    ] {
        let answer = client.call("planning__list_goals", json!({field: "one"}), json!({key: "two"}));
        assert_eq!(answer["_meta"]["dev.wharf/error"]["code"], "invalid", "{answer}");
        assert!(text(&answer).contains(field), "{answer}");
        ok(&mut client, "planning__list_goals", json!({field: "one"}));
        let same = client.call("planning__list_goals", json!({field: "one"}), json!({key: "one"}));
        assert_eq!(same["isError"], false, "{same}");
    }
}

#[test]
fn over_http_one_token_is_trusted_and_another_one_is_not() {
    let options: [&[&str]; 2] = [&["--name", "agent", "--trusted-middleware"], &["--name", "desk"]];
    // The setting for standard input and output does not hold for HTTP.
    let (mut server, tokens) = with_tokens(setup().with("[context]\ntrusted_middleware = true"), options);
    let mut call = |token: &str, tool: &str, arguments: Value| {
        token.clone_into(&mut server.token);
        let session = server.handshake().expect("a session");
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        replied(server.say(&session, &call)).message()["result"].take()
    };
    let [trusted, other] = &tokens;
    let goal = |goal: &str| json!({"goal": goal, "__sessionId": "sess_1"});
    let made = call(trusted, "planning__create_goal", goal("of the middleware"));
    assert!(made["isError"] == false && made["_meta"].get("dev.wharf/warning").is_none(), "{made}");
    let ignored = call(other, "planning__create_goal", goal("of a model"));
    assert_eq!(ignored["_meta"]["dev.wharf/warning"]["code"], "context-ignored", "{ignored}");
    let kept = call(trusted, "planning__list_goals", json!({"__sessionId": "sess_1"}));
    assert!(text(&kept).contains("of the middleware") && !text(&kept).contains("of a model"), "{kept}");
}
