//! The host dies: nothing that it started lives on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Setup, lives, wharf};

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
    let began = Instant::now();
    while !(1..=3).all(|which| lives(&format!("sleep\0{}", time(which)))) {
        assert!(began.elapsed() < Duration::from_secs(60), "not all of them began");
        std::thread::sleep(Duration::from_millis(2));
    }
    client.kill();
    let began = Instant::now();
    while (1..=3).any(|which| lives(&time(which))) {
        assert!(began.elapsed() < Duration::from_secs(20), "something outlives the host");
        std::thread::sleep(Duration::from_millis(1));
    }
    // What it was is not kept; a new one works at once.
    let mut client = start();
    let asked = call(&mut client, "hostile__ask_terminal", json!({"function": "get", "id": id}));
    assert_eq!(asked["refused"]["code"], "not-found", "{asked}");
    let started = call(&mut client, "hostile__start_terminal", json!({}));
    assert_eq!(started["ok"]["replaced"], json!([]), "{started}");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
}
