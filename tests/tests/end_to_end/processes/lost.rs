//! The host dies: nothing it started lives on, and the next one knows.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Setup, blocking, lives, wharf};

fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let id = client.ask("tools/call", json!({"name": tool, "arguments": arguments}));
    let answer = client.answer(id);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no report: {text}"))
}

#[test]
fn nothing_outlives_a_killed_host_and_the_next_one_lists_it_as_lost() {
    let data = Data::new();
    let configuration = Setup::new().processes("shell = true").workspace("").text();
    let configuration = data.write("wharf.toml", configuration);
    let start = || Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    // No other process sleeps so long.
    let time = |which: u32| format!("{}.{which}", 1_000_000 + std::process::id());
    let script = format!(
        "echo printed before; setsid sh -c 'trap \"\" TERM HUP; sleep {}' & (sleep {}) & exec sleep {}",
        time(1),
        time(2),
        time(3)
    );
    let id = blocking::soon_once("nothing lives 2 s after the host", || {
        let mut client = start();
        let started = call(&mut client, "hostile__start_process", json!({"shell": script}));
        let id = started["ok"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
        call(
            &mut client,
            "hostile__ask_process",
            json!({"function": "wait", "id": id, "number": 10_000, "text": "printed"}),
        );
        blocking::until("all of them began", || (1..=3).all(|which| lives(&format!("sleep\0{}", time(which)))));
        client.kill();
        let killed = Instant::now();
        blocking::until("nothing outlives the host", || !(1..=3).any(|which| lives(&time(which))));
        let took = killed.elapsed();
        if took < Duration::from_secs(2) { Ok(id) } else { Err(took) }
    });

    let mut client = start();
    let polled = call(&mut client, "hostile__ask_process", json!({"function": "poll", "id": id, "number": 100}));
    let process = &polled["ok"]["process"];
    assert_eq!(
        (&process["status"], &process["outcome"]["reason"]),
        (&json!("killed"), &json!("host-lost")),
        "{polled}"
    );
    assert_eq!(polled["ok"]["stdout"], "printed before\n");
    blocking::until("the next host tells that it was lost", || {
        let log = client.log();
        if log.contains("lost when its host ended") { Ok(()) } else { Err(log) }
    });
}
