//! The host dies: nothing that it started lives on.

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Setup, blocking, lives, wharf};

fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let id = client.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    let answer = client.answer(id);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no report: {text}"))
}

#[test]
fn no_program_of_a_terminal_outlives_a_killed_host() {
    let data = Data::new();
    let configuration = data.write("wharf.toml", Setup::new().terminals("shell = true").text());
    let start = || Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    // No other process sleeps so long.
    let time = |which: u32| format!("{}.{which}", 2_000_000 + std::process::id());
    let mut client = start();
    let started = call(&mut client, "hostile__start_terminal", json!({}));
    let id = started["ok"]["terminal"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let line = format!(
        "setsid sh -c 'trap \"\" TERM HUP; sleep {}; :' & (trap '' HUP; exec sleep {}) & sleep {}",
        time(1),
        time(2),
        time(3)
    );
    let sent =
        call(&mut client, "hostile__ask_terminal", json!({"function": "send", "id": id, "text": line, "submit": true}));
    assert!(sent["ok"].is_object(), "{sent}");
    // The line itself is recorded, too, a moment after it is shown.
    let recorded = || {
        let hosts = std::fs::read_dir(data.path().join("terminals")).into_iter().flatten().flatten();
        let texts = hosts.filter_map(|host| std::fs::read_to_string(host.path().join(&id).join("text")).ok());
        texts.into_iter().any(|text| text.contains(&time(3)))
    };
    blocking::until("all of them began", || {
        (1..=3).all(|which| lives(&format!("sleep\0{}", time(which)))) && recorded()
    });
    client.kill();
    blocking::until("nothing outlives the host", || !(1..=3).any(|which| lives(&time(which))));
    // It is told to be lost with its host, with the end of what it printed, and
    // a new one works at once.
    let mut client = start();
    let mut ask = |more: Value| {
        let mut arguments = json!({"id": id});
        arguments.as_object_mut().expect("an object").extend(wharf_tests::object(more));
        call(&mut client, "hostile__ask_terminal", arguments)
    };
    let lost = &ask(json!({"function": "get"}))["ok"];
    assert_eq!((&lost["status"], &lost["outcome"]["reason"]), (&json!("closed"), &json!("host-lost")), "{lost}");
    assert!(lost["meta"].as_str().is_some_and(|meta| meta.contains("its host ended without closing it")), "{lost}");
    assert_eq!(ask(json!({"function": "list"}))["ok"][0]["id"], json!(id));
    let read = &ask(json!({"function": "read", "view": "text", "bytes": 60_000}))["ok"];
    assert!(read["data"].as_str().is_some_and(|text| text.contains(&time(3))), "{read}");
    let screen = &ask(json!({"function": "screen"}))["ok"];
    assert_eq!((screen["lines"].as_array().map(Vec::len), &screen["columns"]), (Some(24), &json!(80)), "{screen}");
    for function in ["send", "press", "resize"] {
        let more = json!({"function": function, "text": "x", "keys": ["x"], "columns": 80, "rows": 24});
        let mut more = more;
        if function == "send" {
            more["keys"] = json!([]);
        }
        let refused = &ask(more)["refused"];
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(refused["code"] == "gone" && message.contains("its host ended"), "{function}: {refused}");
    }
    assert_eq!(ask(json!({"function": "close"}))["ok"]["outcome"]["reason"], "host-lost");
    let started = call(&mut client, "hostile__start_terminal", json!({}));
    assert_eq!(started["ok"]["replaced"], json!([]), "{started}");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}
