//! Plugins that nobody has compiled yet, beside a client that does not wait for a compiler: its
//! first answers, what it is told, calls that come too early, and changes meanwhile.

use std::{fs, sync::LazyLock};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wharf::{CallRequest, Host};
use wharf_test_support::processes;
use wharf_tests::{Client, Crafted, Data, Setup, blocking, context, wharf, with_section};

use crate::offers::attacker;

/// A plugin that keeps a compiler busy for long enough to be stopped at it.
static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| large(Crafted::default()).bytes());

fn large(crafted: Crafted) -> Crafted {
    let body = "(local.set 0 (i32.add (i32.mul (local.get 0) (i32.const 7)) (i32.const 13)))".repeat(2_000);
    let module = format!("(func (param i32) (result i32) {body} (local.get 0))").repeat(60);
    Crafted { module, ..crafted }
}

/// A data directory of which no host has kept anything, with a plugin `late` in `wharf.toml`.
struct Place(Data);

impl Place {
    fn new(lines: &str) -> Self {
        Self::with(&LARGE, lines)
    }

    fn with(component: &[u8], lines: &str) -> Self {
        let data = Data::alone();
        let late = data.write("late.wasm", component);
        data.write("wharf.toml", Setup::bare().bundled("planning", "").plugin("late", &late, lines).text());
        Self(data)
    }

    fn command(&self, arguments: &[&str]) -> wharf_tests::Command {
        wharf(arguments).config(&self.0.path().join("wharf.toml")).data(self.0.path())
    }

    fn connect(&self) -> Client {
        Client::connect_at_once(self.command(&["serve", "--stdio", "--session", "new"]))
    }

    #[track_caller]
    fn ran(&self, arguments: &[&str]) -> String {
        let run = self.command(arguments).run();
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }

    /// What became of a plugin, by `wharf plugin list`.
    fn plugin(&self, name: &str) -> Value {
        let listed: Value = serde_json::from_str(&self.ran(&["plugin", "list", "--json"])).expect("JSON");
        let plugins = listed["plugins"].as_array().expect("a list");
        plugins.iter().find(|plugin| plugin["name"] == name).cloned().unwrap_or_default()
    }

    fn state(&self, name: &str) -> String {
        self.plugin(name)["state"].as_str().unwrap_or_default().to_owned()
    }

    fn until(&self, name: &str, state: &str) {
        blocking::until(format_args!("{name} is {state}"), || match self.state(name) {
            now if now == state => Ok(()),
            now => Err(now),
        });
    }
}

/// The processes that compile for a server.
fn compilers(server: u32) -> Vec<u32> {
    let compiles = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"wharf-engine:compile")
    };
    processes::below(server).into_iter().filter(|pid| processes::lives(*pid)).filter(compiles).collect()
}

/// A process that compiles and was stopped at it.
struct Held {
    pid: u32,
    server: u32,
}

impl Held {
    fn at(client: &Client) -> Self {
        let server = client.id();
        Self::stop(blocking::until("a compiler runs", || compilers(server).first().copied()), server)
    }

    fn stop(pid: u32, server: u32) -> Self {
        let held = Self { pid, server };
        held.signal(Signal::STOP);
        blocking::until("it is stopped", || {
            let state = processes::state_and_parent(pid).map(|(state, _)| state);
            if state == Some('T') { Ok(()) } else { Err(state) }
        });
        held
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid.try_into().expect("a process")).expect("a process");
        kill_process(pid, signal).expect("it is there");
    }

    /// Lets it go on.
    fn release(self) {
        self.signal(Signal::CONT);
    }

    /// The same, and waits until nothing is compiled any more.
    fn finish(self) {
        self.signal(Signal::CONT);
        blocking::until("the compilers end", || match compilers(self.server) {
            none if none.is_empty() => Ok(()),
            some => Err(some),
        });
    }
}

fn listed(client: &mut Client) -> Vec<String> {
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

fn ask(client: &mut Client, tool: &str) -> u64 {
    client.ask("tools/call", json!({"name": tool, "arguments": {}, "_meta": {"progressToken": tool}}))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_client_is_answered_while_a_plugin_is_compiled_and_told_when_it_is_there() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    let before = listed(&mut client);
    assert!(before.contains(&"planning__create_goal".to_owned()), "{before:?}");
    assert!(!before.iter().any(|name| name.starts_with("late__")), "{before:?}");
    let row = place.plugin("late");
    assert_eq!((&row["state"], &row["origin"]), (&json!("compiling"), &json!("configuration")), "{row}");
    assert!(row["digest"].is_string() && row["tools"] == json!([]), "{row}");
    assert!(place.ran(&["plugin", "list"]).contains("compiling"));
    let done = client.call("planning__create_goal", json!({"goal": "Ship it"}), json!({}));
    assert_eq!(done["isError"], json!(false), "others are called meanwhile: {done}");

    held.release();
    client.notification("notifications/tools/list_changed");
    assert!(listed(&mut client).contains(&"late__run".to_owned()));
    assert_eq!(place.state("late"), "serving");
    let (_, log, code) = client.leave();
    assert!(code == Some(0) && log.contains("compiling=\"late\"") && !log.contains("WARN"), "{log}");
    let audit = place.ran(&["audit", "--json", "--kind", "change", "--plugin", "late"]);
    assert!(audit.contains("\"loaded\""), "{audit}");

    // The next host finds what this one has compiled.
    let mut next = place.connect();
    assert!(listed(&mut next).contains(&"late__run".to_owned()));
}

#[test]
fn a_call_that_comes_too_early_waits_and_hears_of_it() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    let (early, unknown) = (ask(&mut client, "late__run"), ask(&mut client, "late__runn"));
    let told = client.notification("notifications/progress");
    assert_eq!(told["params"]["message"], "the plugin late is being compiled", "{told}");
    // Nobody waits whose tool is of another plugin.
    let other = client.request("tools/call", json!({"name": "later__run", "arguments": {}}));
    assert!(other["error"]["message"].as_str().is_some_and(|told| told.contains("no tool `later__run`")), "{other}");
    held.release();
    assert_eq!(text(&client.answer(early)), "yes");
    let unknown = client.answer(unknown);
    assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("late__run")), "{unknown}");
}

#[test]
fn a_prompt_and_a_resource_that_are_asked_for_too_early_are_waited_for_and_unknown_ones_are_told_then() {
    let files = Data::alone();
    let offering = fs::read(attacker(&files, "hidden")).expect("a component");
    let place = Place::with(&offering, "");
    let mut client = place.connect();
    let held = Held::at(&client);
    let get = |client: &mut Client, name: &str| client.ask("prompts/get", json!({"name": name}));
    let prompt = get(&mut client, "late__hidden");
    let resource = client.ask("resources/read", json!({"uri": "attack://hidden"}));
    let unknown = get(&mut client, "late__none");
    // Nobody waits for a prompt of another plugin.
    let other = client.request("prompts/get", json!({"name": "later__hidden"}));
    assert!(other["error"]["message"].as_str().is_some_and(|told| told.contains("later__hidden")), "{other}");
    held.release();
    let prompt = client.answer(prompt);
    assert!(prompt["result"]["messages"].is_array(), "{prompt}");
    let resource = client.answer(resource);
    assert!(resource["result"]["contents"].is_array(), "{resource}");
    let unknown = client.answer(unknown);
    assert!(unknown["error"]["message"].as_str().is_some_and(|told| told.contains("late__none")), "{unknown}");
}

#[test]
fn a_call_without_a_prefix_waits_for_every_plugin_that_may_have_it() {
    let place = Place::new("prefix = false");
    let mut client = place.connect();
    let held = Held::at(&client);
    let early = ask(&mut client, "run");
    client.notification("notifications/progress");
    held.release();
    assert_eq!(text(&client.answer(early)), "yes");
}

#[test]
fn a_call_waits_no_longer_than_it_may_take_and_ends_when_it_is_taken_back() {
    let place = Place::new("limits = { wall_time_milliseconds = 1500 }");
    let mut client = place.connect();
    let held = Held::at(&client);
    let late = ask(&mut client, "late__run");
    let late = client.answer(late);
    let told = text(&late);
    assert!(told.contains("still being compiled") && told.contains("wall_time_milliseconds"), "{late}");
    assert_eq!(late["result"]["isError"], json!(true), "{late}");
    held.release();
    place.until("late", "serving");
    drop(client);

    let place = Place::new("");
    let mut client = place.connect();
    let _held = Held::at(&client);
    let taken_back = ask(&mut client, "late__run");
    client.notification("notifications/progress");
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": taken_back},
    }));
    blocking::until("the audit has its end", || {
        let audit = place.ran(&["audit", "--json", "--kind", "call"]);
        if audit.contains("cancelled") { Ok(()) } else { Err(audit) }
    });
}

#[test]
fn one_that_turns_out_to_be_no_plugin_is_rejected_and_its_callers_are_told() {
    let bad = large(Crafted { list: Some("unreachable".into()), ..Crafted::default() });
    let place = Place::with(&bad.bytes(), "");
    let mut client = place.connect();
    let held = Held::at(&client);
    let early = ask(&mut client, "late__run");
    client.notification("notifications/progress");
    held.release();
    let early = client.answer(early);
    assert!(early["error"]["message"].as_str().is_some_and(|told| told.contains("could not be loaded")), "{early}");
    let row = place.plugin("late");
    assert!(row["reason"].as_str().is_some_and(|why| why.contains("could not list its tools")), "{row}");
    assert_eq!(row["state"], "rejected", "{row}");
    let (_, log, _) = client.leave();
    assert!(log.contains("cannot be loaded"), "{log}");
    let audit = place.ran(&["audit", "--json", "--kind", "change", "--plugin", "late"]);
    assert!(audit.contains("\"rejected\""), "{audit}");
}

#[test]
fn what_can_be_told_without_compiling_is_told_before_anybody_connects() {
    let place = Place::with(&wat::parse_str("(component)").expect("a component"), "");
    let mut client = place.connect();
    assert!(!listed(&mut client).is_empty());
    // It was written before the answer, and comes over another pipe.
    blocking::until("the log says why", || {
        let log = client.log();
        if log.contains("it exports nothing") { Ok(()) } else { Err(log) }
    });
    place.until("late", "rejected");
}

#[test]
fn a_host_that_ends_takes_its_compilers_along() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    ask(&mut client, "late__run");
    client.notification("notifications/progress");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    processes::until_dead(held.pid);
}

#[test]
fn what_is_switched_off_or_replaced_while_it_is_compiled_stays_so() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    place.ran(&["plugin", "disable", "late"]);
    assert_eq!(place.state("late"), "disabled");
    held.finish();
    assert_eq!(place.state("late"), "disabled");
    assert!(!listed(&mut client).iter().any(|name| name.starts_with("late__")));
    place.ran(&["plugin", "enable", "late"]);
    assert_eq!(client.call("late__run", json!({}), json!({}))["content"][0]["text"], "yes");
    drop(client);

    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    place.0.write("late.wasm", Crafted::calling("i32.const 0").bytes());
    place.ran(&["plugin", "update", "late"]);
    assert_eq!(client.call("late__run", json!({}), json!({}))["content"][0]["text"], "no");
    held.finish();
    assert_eq!(client.call("late__run", json!({}), json!({}))["content"][0]["text"], "no", "the one before is gone");
}

#[test]
fn a_file_that_changes_while_it_is_compiled_is_compiled_as_it_is_then() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    place.0.write("late.wasm", Crafted::calling("i32.const 0").bytes());
    held.release();
    place.until("late", "serving");
    assert_eq!(client.call("late__run", json!({}), json!({}))["content"][0]["text"], "no");
}

#[test]
fn two_are_compiled_side_by_side_and_no_more() {
    let place = Place::new("");
    let names = ["late", "later", "latest"];
    let mut setup = Setup::bare();
    for name in names {
        let file = place.0.write(&format!("{name}.wasm"), with_section(LARGE.clone(), "of", name.as_bytes()));
        setup = setup.plugin(name, &file, "");
    }
    place.0.write("wharf.toml", setup.text());
    let client = place.connect();
    let first = Held::at(&client);
    let server = client.id();
    let second = blocking::until("a second one", || compilers(server).into_iter().find(|pid| *pid != first.pid));
    let second = Held::stop(second, server);
    assert_eq!(compilers(server).len(), 2);
    assert!(names.iter().all(|name| place.state(name) == "compiling"));
    first.release();
    second.finish();
    for name in names {
        place.until(name, "serving");
    }
}

#[test]
fn one_that_is_removed_while_it_is_compiled_does_not_come_back() {
    let place = Place::with(&Crafted::default().bytes(), "");
    let added = place.0.write("added.wasm", &*LARGE);
    place.ran(&["plugin", "add", &added.display().to_string()]);
    fs::remove_dir_all(place.0.path().join("cache")).expect("removed");
    let mut client = place.connect();
    let held = Held::at(&client);
    blocking::until("the small one is there", || place.state("late") == "serving" || compilers(client.id()).len() > 1);
    place.ran(&["plugin", "remove", "added"]);
    held.finish();
    place.until("late", "serving");
    assert_eq!(place.plugin("added"), Value::Null);
    assert!(!listed(&mut client).iter().any(|name| name.starts_with("added__")));
}

#[test]
fn one_that_is_being_compiled_is_not_lost_when_another_plugin_comes() {
    let place = Place::new("");
    let mut client = place.connect();
    let held = Held::at(&client);
    let greeter = place.0.write("greeter.wasm", Crafted::default().bytes());
    place.ran(&["plugin", "add", &greeter.display().to_string()]);
    assert_eq!(client.call("greeter__run", json!({}), json!({}))["content"][0]["text"], "yes");
    assert_eq!(place.state("late"), "compiling");
    held.release();
    place.until("late", "serving");
    let names = listed(&mut client);
    assert!(["greeter__run", "late__run"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
}

#[tokio::test]
async fn an_app_that_asks_for_it_waits_for_a_plugin_at_its_first_call() {
    let data = Data::alone();
    let late = data.write("late.wasm", Crafted::default().bytes());
    let configuration = Setup::bare().plugin("late", &late, "").configuration();
    let opening = Host::builder(configuration.clone()).data(data.path()).compile_in_background();
    let host = opening.open().await.expect("opens");
    let call = || CallRequest::new(context("local", "s"), "late__run", serde_json::Map::new());
    let answer = host.call(call()).await.expect("it is compiled");
    assert_eq!(answer.content[0].as_text(), Some("yes"));
    assert!(host.compiling().is_empty());
    // One that does not ask for it has the plugin once it is open.
    let host = Host::open(configuration, Data::alone().path()).await.expect("opens");
    assert!(host.compiling().is_empty() && host.installed().len() == 1);
}
