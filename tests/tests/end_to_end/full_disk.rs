//! A disk without room under a host that serves: calls that need some fail in words, all
//! others are answered, and no message is cut.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    time::Instant,
};

use serde_json::{Value, json};
use wharf_tests::{Client, Data, Disk, Server, Setup, blocking, wharf};

use crate::http_mcp::modern;

fn configured(data: &Data) -> PathBuf {
    data.write("wharf.toml", Setup::bare().planning().text())
}

fn memo() -> Value {
    json!({"memo": "x".repeat(200)})
}

fn is_told(answer: &Value) {
    assert_eq!(answer["isError"], true, "{answer}");
    let told = answer["content"][0]["text"].as_str().expect("a text");
    assert!(told.contains("disk that holds the state"), "{told}");
}

#[test]
fn over_standard_input_and_output_the_call_that_needs_room_is_told_so_and_all_else_goes_on() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::below(disk.path());
    let command = wharf(["serve", "--stdio"]).config(&configured(&data)).data(data.path());
    let mut client = Client::connect(command);
    let goal = client.call("planning__create_goal", json!({"goal": "before"}), json!({}));
    assert_eq!(goal["isError"], false, "{goal}");
    disk.fill();
    let began = Instant::now();
    for _ in 0..20 {
        is_told(&client.call("planning__add_memo", memo(), json!({})));
        let read = client.call("planning__list_goals", json!({}), json!({}));
        assert!(read["isError"] == false && read.to_string().contains("before"), "{read}");
        assert!(client.request("tools/list", json!({}))["result"]["tools"].as_array().is_some());
    }
    disk.make_room();
    let memo = client.call("planning__add_memo", memo(), json!({}));
    assert_eq!(memo["isError"], false, "{memo}");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    // Counted, and told again a minute later at the soonest.
    let lines = log.matches("the state database cannot write").count() as u64;
    assert!((1..=1 + began.elapsed().as_secs() / 60).contains(&lines), "{log}");
}

#[test]
fn the_doctor_finds_that_there_is_no_room() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::below(disk.path());
    let config = configured(&data);
    let doctor = || wharf(["doctor"]).config(&config).data(data.path()).run();
    let well = doctor();
    assert!(well.out.contains("ok data "), "{well:?}");
    disk.fill();
    let full = doctor();
    assert!(full.code == Some(1) && full.out.contains("!! data "), "{full:?}");
    assert!(full.out.contains("-> make room") && !full.out.contains("name a directory"), "{full:?}");
    disk.make_room();
    let left = fs::read_dir(data.path()).expect("there").filter_map(Result::ok);
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().contains("doctor")).count(), 0);
}

#[test]
fn over_http_the_call_that_needs_room_is_told_so_and_all_else_goes_on() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::below(disk.path());
    configured(&data);
    let mut server = Server::start_in(data, &[]);
    let call = |server: &Server, tool: &str, arguments: Value| {
        let call = json!({"name": tool, "arguments": arguments});
        let (headers, call) = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
        wharf_tests::replied(server.say(&headers, &call)).message()
    };
    let goal = call(&server, "planning__create_goal", json!({"goal": "before"}));
    assert_eq!(goal["result"]["isError"], false, "{goal}");
    disk.fill();
    for _ in 0..20 {
        is_told(&call(&server, "planning__add_memo", memo())["result"]);
        let read = call(&server, "planning__list_goals", json!({}));
        assert!(read["result"]["isError"] == false && read.to_string().contains("before"), "{read}");
        assert_eq!(server.ask("GET", "/v1/streams", "s", None).status, 200);
    }
    disk.make_room();
    let memo = call(&server, "planning__add_memo", memo());
    assert_eq!(memo["result"]["isError"], false, "{memo}");
    server.terminate();
    assert_eq!(server.ended(), Some(0), "{}", server.log());
}

#[test]
fn a_log_that_cannot_be_written_takes_no_answer_with_it() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::new();
    let log = disk.path().join("log");
    let command = wharf(["serve", "--stdio"]).config(&configured(&data)).data(data.path()).env("RUST_LOG", "trace");
    let mut client = Client::connect(command.through(&format!("exec \"$@\" 2>'{}'", log.display())));
    disk.fill();
    let written = fs::metadata(&log).expect("a log").len();
    for number in 0..20 {
        let goal = client.call("planning__create_goal", json!({"goal": number.to_string()}), json!({}));
        assert_eq!(goal["isError"], false, "{goal}");
        let unknown = client.request("tools/call", json!({"name": "nobody__has_this", "arguments": {}}));
        assert!(
            unknown["error"]["message"].as_str().is_some_and(|told| told.contains("nobody__has_this")),
            "{unknown}"
        );
    }
    assert!(written > 0 && fs::metadata(&log).expect("a log").len() < written + (64 << 10), "there was room");
    let (_, _, code) = client.leave();
    assert_eq!(code, Some(0));
}

#[test]
fn answers_that_go_into_a_file_wait_for_room_and_none_is_cut_or_lost() {
    let Some(disk) = Disk::mount() else { return };
    let data = Data::new();
    let out = disk.path().join("answers");
    let command = wharf(["serve", "--stdio"]).config(&configured(&data)).data(data.path());
    let mut child = command.started_into(File::create(&out).expect("made"));
    let mut input = child.stdin.take().expect("piped");
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let mut say = |message: Value| writeln!(input, "{message}").expect("it reads");
    let answers = || {
        let lines = BufReader::new(File::open(&out).expect("there")).split(b'\n');
        lines.map(|line| line.expect("readable")).collect::<Vec<_>>()
    };
    let arrived = |number: usize| {
        blocking::until(format_args!("there are {number} answers"), || {
            let answers = answers();
            if answers.len() >= number { Ok(()) } else { Err(answers.len()) }
        });
    };
    say(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    arrived(1);
    disk.fill();
    for id in 1..=50 {
        say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}}));
    }
    // It has found that there is no room once it says so.
    let log = child.stderr.take().expect("piped");
    let told = BufReader::new(log).lines().any(|line| line.is_ok_and(|line| line.contains("answers wait")));
    assert!(told, "it did not say why nothing comes");
    disk.make_room();
    arrived(51);
    drop(input);
    assert!(child.wait().expect("it ends").success());
    let mut ids: Vec<_> = answers()
        .iter()
        .map(|line| serde_json::from_slice::<Value>(line).expect("a whole message")["id"].as_u64().expect("an id"))
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=50).collect::<Vec<_>>());
}
