//! What a guest asks its host for by every way that there is: processes, terminals, requests and pages.

use serde_json::{Value, json};
use wharf::{
    Context,
    approvals::{ApprovalAnswer, WaitingCall},
    service::operator::ApprovalRule,
};
use wharf_tests::{Fixture, Running, Setup, Site, Upstream, context, found, until};

fn asking(setup: Setup, approvals: &str) -> Setup {
    setup.with_tables(&format!("[approvals]\n{approvals}"))
}

fn here() -> Context {
    context("local", "test")
}

/// What waits, once it does.
async fn waiting(fixture: &Fixture) -> WaitingCall {
    let approvals = fixture.host.approvals();
    until("a person is asked", || approvals.waiting().len() == 1).await;
    approvals.waiting().remove(0)
}

/// What a person is asked, who then says this; and what the guest finds.
async fn answered(fixture: &Fixture, running: Running, answer: ApprovalAnswer) -> (String, Value) {
    let asked = waiting(fixture).await;
    fixture.host.approvals().answer(&asked.id, answer).expect("it waits");
    (asked.wants.expect("it wants something"), found(running.outcome().await))
}

fn no() -> ApprovalAnswer {
    ApprovalAnswer::Refuse("no".to_owned())
}

#[tokio::test]
async fn programs_of_processes_and_terminals_wait_by_their_whole_line() {
    let rules = "commands = [\"sh -c*\", \"sh\"]";
    let programs = "programs = [\"sh\", \"true\"]\nshell = true";
    let fixture = asking(Setup::new().processes(programs).terminals(programs), rules).open().await;
    for tool in ["hostile__start_process", "hostile__start_terminal"] {
        let start =
            |session: &str, arguments: &Value| fixture.start(&context("local", session), tool, arguments.clone());
        let free = start(tool, &json!({"program": "true"}));
        assert!(found(free.outcome().await)["ok"].is_object(), "{tool}: no rule names it");
        let script = json!({"program": "sh", "arguments": ["-c", "exit 0"]});
        let (wants, told) = answered(&fixture, start(tool, &script), no()).await;
        assert_eq!((wants.as_str(), &told["refused"]["code"]), ("start `sh -c 'exit 0'`", &json!("denied")), "{tool}");
        let (_, told) = answered(&fixture, start(tool, &script), ApprovalAnswer::Session).await;
        assert!(told["ok"].is_object(), "{told}");
        // This very line in this session; what follows is another line, and another session.
        assert!(found(start(tool, &script).outcome().await)["ok"].is_object(), "{tool}");
        let other = json!({"program": "sh", "arguments": ["-c", "exit", "0"]});
        assert_eq!(answered(&fixture, start(tool, &other), no()).await.0, "start `sh -c exit 0`");
        answered(&fixture, start("other", &script), no()).await;
    }
    // Whichever tool of the plugin asks for it.
    let script = json!({"program": "sh", "arguments": ["-c", "exit 0"]});
    let same = fixture.start(&context("local", "hostile__start_process"), "hostile__start_terminal", script);
    assert!(found(same.outcome().await)["ok"].is_object());
    // A shell that reads what is typed.
    let (wants, told) = answered(&fixture, fixture.start(&here(), "hostile__start_terminal", json!({})), no()).await;
    assert_eq!((wants.as_str(), &told["refused"]["code"]), ("start `sh`", &json!("denied")));
}

#[tokio::test]
async fn a_command_of_a_megabyte_waits_whatever_it_is_and_is_shown_by_its_beginning() {
    let granted = Setup::new().processes("shell = true");
    let fixture = asking(granted, "commands = [\"git push*\"]").open().await;
    let text = format!("true {}", "ä".repeat(500_000));
    let running = fixture.start(&here(), "hostile__start_process", json!({"shell": text}));
    let asked = waiting(&fixture).await;
    let wants = asked.wants.as_deref().expect("words");
    assert!(wants.len() <= 64 << 10 && wants.ends_with("` … (1000005 bytes)"), "{} bytes", wants.len());
    assert!(asked.arguments.len() <= 64 << 10 && asked.rule.is_none());
    fixture.host.approvals().answer(&asked.id, no()).expect("it waits");
    assert_eq!(found(running.outcome().await)["refused"]["code"], "denied");
}

#[tokio::test]
async fn requests_wait_by_their_origin() {
    let upstream = Upstream::echo();
    let authority = upstream.authority();
    let granted = Setup::new().requests(&[&format!("GET http://{authority}")], "private_addresses = true");
    let fixture = asking(granted, "origins = [\"http://127.0.0.1:*\"]").open().await;
    let ask = |path: &str| fixture.start(&here(), "hostile__ask_http", json!({"authority": authority, "path": path}));
    let (wants, told) = answered(&fixture, ask("/a?secret=1"), no()).await;
    assert_eq!(wants, format!("send GET http://{authority}/a"));
    let refused = told["refused"].as_str().expect("words");
    assert!(refused.starts_with("denied: ") && refused.contains("has not been sent: no"), "{refused}");
    assert!(upstream.asked().is_empty(), "nothing was sent");
    let first = ask("/a");
    let asked = waiting(&fixture).await;
    assert_eq!(asked.rule, Some(ApprovalRule::Origin(format!("http://{authority}"))));
    fixture.host.approvals().answer(&asked.id, ApprovalAnswer::Session).expect("it waits");
    assert_eq!(found(first.outcome().await)["status"], 200);
    assert_eq!(found(ask("/b").outcome().await)["status"], 200, "the origin is remembered, whatever the path");
    // What is not granted asks nobody.
    let none = fixture.start(&here(), "hostile__ask_http", json!({"authority": "127.0.0.1:1", "path": "/"}));
    assert!(found(none.outcome().await)["refused"].as_str().is_some_and(|told| told.starts_with("denied: ")));
}

#[tokio::test]
async fn a_question_of_a_request_goes_with_its_call() {
    let upstream = Upstream::echo();
    let authority = upstream.authority();
    let granted = Setup::new().requests(&[&format!("GET http://{authority}")], "private_addresses = true");
    let fixture = asking(granted, "origins = [\"*\"]").open().await;
    let arguments = json!({"authority": authority, "path": "/"});
    let running = fixture.start(&here(), "hostile__ask_http", arguments.clone());
    waiting(&fixture).await;
    running.cancel.cancel();
    running.outcome().await.expect_err("it is cancelled");
    let approvals = fixture.host.approvals();
    until("nobody is asked", || approvals.waiting().is_empty()).await;
    let dropped = fixture.start(&here(), "hostile__ask_http", arguments);
    waiting(&fixture).await;
    dropped.drop_it().await;
    until("nobody is asked", || approvals.waiting().is_empty()).await;
    assert!(upstream.asked().is_empty());
}

#[tokio::test]
async fn pages_wait_before_they_are_sent_to_an_origin() {
    let site = Site::start();
    let origin = site.origin();
    let granted = Setup::new().webviews(&format!("origins = [\"{origin}\"]\nprivate_addresses = true"));
    let fixture = asking(granted, &format!("origins = [\"{origin}\"]")).open().await;
    let page = |arguments: Value| fixture.start(&here(), "hostile__ask_page", arguments);
    let opened = found(page(json!({"function": "open", "id": ""})).outcome().await);
    let id = opened["ok"]["id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let navigate = |url: &str| {
        let parameters = json!({"url": url}).to_string();
        page(json!({"function": "perform", "id": id, "operation": "navigate", "parameters": parameters}))
    };
    let (wants, told) = answered(&fixture, navigate(&format!("{origin}/path?q=1")), no()).await;
    assert_eq!(wants, format!("open {origin}/path?q=1"));
    assert!(told["refused"]["code"] == "denied" && told.to_string().contains("has not been opened: no"), "{told}");
    let (_, told) = answered(&fixture, navigate(&format!("{origin}/")), ApprovalAnswer::Once).await;
    assert!(told["ok"].is_string(), "the id of the request: {told}");
    // What no rule names, and what is not granted, asks nobody.
    assert!(found(navigate("about:blank").outcome().await)["ok"].is_string());
    assert_eq!(found(navigate("https://elsewhere.example/").outcome().await)["refused"]["code"], "denied");
}

#[tokio::test]
async fn a_guest_that_asks_for_many_things_asks_for_one_at_a_time_and_for_none_once_nobody_answers() {
    let granted = Setup::new().processes("programs = [\"**\"]");
    let fixture = asking(granted, "commands = [\"many*\"]\nwait_seconds = 1").open().await;
    let arguments = json!({"program": "many", "count": 0, "names": 200});
    let running = fixture.start(&here(), "hostile__start_many", arguments);
    let first = waiting(&fixture).await;
    assert_eq!(first.wants.as_deref(), Some("start `many-0`"));
    fixture.host.approvals().answer(&first.id, no()).expect("it waits");
    assert_eq!(waiting(&fixture).await.wants.as_deref(), Some("start `many-1`"));
    // Nobody answers this one, and 198 more wait for nobody.
    assert_eq!(found(running.outcome().await)["started"], 0);
}

#[tokio::test]
async fn questions_of_running_calls_take_the_places_of_calls_that_wait() {
    let granted = Setup::new().processes("programs = [\"**\"]").host_limit("waiting_approvals_per_session", 1);
    let fixture = asking(granted, "commands = [\"true\"]").open().await;
    let start =
        |session: &str| fixture.start(&context("local", session), "hostile__start_process", json!({"program": "true"}));
    let first = start("s");
    let asked = waiting(&fixture).await;
    let told = found(start("s").outcome().await);
    assert!(told["refused"]["code"] == "limit", "{told}");
    assert!(told.to_string().contains("waiting_approvals_per_session"), "{told}");
    let other = start("t");
    let approvals = fixture.host.approvals();
    until("another session asks", || approvals.waiting().len() == 2).await;
    for waiting in approvals.waiting() {
        approvals.answer(&waiting.id, ApprovalAnswer::Once).expect("it waits");
    }
    assert_eq!(asked.rule, Some(ApprovalRule::Command("true".to_owned())));
    assert!(found(first.outcome().await)["ok"].is_object() && found(other.outcome().await)["ok"].is_object());
}
