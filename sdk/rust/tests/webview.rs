//! Web pages of the test host, and the functions that ask and wait in one step.

use std::time::Duration;

use serde_json::{Value, json};
use wharf_sdk::testing::{PageRequest, Reaction, TestCall, WebPageScript};
use wharf_sdk::webview::{
    DialogKind, FailureKind, Operation, PageOptions, PageStatus, RequestState, Script, ScriptFailure,
};
use wharf_sdk::{ErrorCode, ToolError};

const PATIENCE: Duration = Duration::from_secs(5);

fn site() -> TestCall {
    let script = WebPageScript::new()
        .operation_with("navigate", "/shop", Reaction::value(json!({ "status": 200 })).goes_to("http://a/shop", "Shop"))
        .operation("navigate", Reaction::fails(FailureKind::Network, "the server was not reached"))
        .operation("mouse", Reaction::value(json!({})).opens_dialog(DialogKind::Confirm, "Really?"))
        .operation("screenshot", Reaction::data("image/png", vec![1; 3 << 20]))
        .script("title", Reaction::value(json!("Shop")))
        .script("throw", Reaction::fails(FailureKind::Exception, "Error: no"))
        .script("slow", Reaction::value(json!(1)).after_waits(2))
        .script("forever", Reaction::never())
        .script("long", Reaction::value(Value::String("항구".repeat(1_000))))
        .script("next", Reaction::value(json!(1)).once())
        .script("next", Reaction::value(json!(2)))
        .script("ask()", Reaction::value(json!(true)).opens_dialog(DialogKind::Confirm, "Sure?"))
        .script("shout", Reaction::value(json!(null)).logs("console", json!({ "kind": "log", "text": "hi" })));
    TestCall::new().web_pages_of(script)
}

fn code<T>(result: Result<T, ToolError>) -> Option<ErrorCode> {
    result.err().map(|error| error.code)
}

fn kind<T>(result: Result<T, ScriptFailure>) -> Option<FailureKind> {
    result.err().and_then(|failure| failure.kind().cloned())
}

#[test]
fn a_script_is_run_and_its_value_handed_back_in_one_step() -> Result<(), ToolError> {
    let host = site();
    let call = host.call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    assert_eq!(call.web_pages().run(&id, &Script::new("document.title").isolated())?, "Shop");
    assert_eq!(call.web_pages().run(&id, &Script::new("nothing in particular"))?, Value::Null);
    let first = call.web_pages().run(&id, &Script::new("next()"))?;
    assert_eq!((first, call.web_pages().run(&id, &Script::new("next()"))?), (json!(1), json!(2)));
    assert_eq!(kind(call.web_pages().run(&id, &Script::new("throw 1"))), Some(FailureKind::Exception));
    let asked = PageRequest::Script { isolated: true, frame: None, source: "document.title".into() };
    assert_eq!(host.asked(&id).first(), Some(&asked));
    assert_eq!(call.web_pages().get(&id)?.pending, 0);
    Ok(())
}

#[test]
fn what_takes_too_long_is_cancelled_and_leaves_nothing_behind() -> Result<(), ToolError> {
    let host = site();
    let call = host.call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    for source in ["forever", "slow"] {
        let failure = call.web_pages().run(&id, &Script::new(source).deadline(PATIENCE)).expect_err("too long");
        assert_eq!(failure.kind(), Some(&FailureKind::TimeOut));
        assert_eq!(ToolError::from(failure.clone()).code, ErrorCode::Timeout);
        assert!(failure.to_string().contains("5000 ms"), "{failure}");
    }
    assert_eq!(call.web_pages().get(&id)?.pending, 0);
    // A call that has no time left asks for no more than that.
    let late = host.remaining(Duration::from_millis(800)).call();
    let failure = late.web_pages().run(&id, &Script::new("forever")).expect_err("too long");
    assert!(failure.to_string().contains("longer than 50 ms"), "{failure}");
    Ok(())
}

#[test]
fn a_request_outlives_its_call_until_it_is_acknowledged() -> Result<(), ToolError> {
    let host = site();
    let call = host.call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    let request = call.web_pages().execute(&id, &Script::new("slow"))?;
    let later = host.call();
    for _ in 0..2 {
        assert_eq!(later.web_pages().wait(&request, PATIENCE)?.state, RequestState::Pending);
    }
    for _ in 0..2 {
        let done = later.web_pages().wait(&request, PATIENCE)?;
        assert_eq!((done.state, done.data.as_slice()), (RequestState::Done, b"1".as_slice()));
    }
    later.web_pages().acknowledge(&request)?;
    assert_eq!(later.web_pages().poll(&request)?.state, RequestState::Expired);
    for owner in [host.clone().session("other"), host.clone().assistant("other")] {
        let call = owner.call();
        assert_eq!(call.web_pages().poll(&request)?.state, RequestState::Unknown);
        assert_eq!(code(call.web_pages().cancel(&request)), Some(ErrorCode::NotFound));
        assert_eq!(code(call.web_pages().get(&id)), Some(ErrorCode::NotFound));
    }
    Ok(())
}

#[test]
fn a_long_result_is_cut_and_paged_between_characters() -> Result<(), ToolError> {
    let call = site().call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    let cut = Script::new("long").max_bytes(100);
    assert_eq!(kind(call.web_pages().run(&id, &cut)), Some(FailureKind::Limit));
    let request = call.web_pages().execute(&id, &cut)?;
    let outcome = call.web_pages().wait(&request, PATIENCE)?;
    assert!(outcome.truncated && outcome.data.len() <= 100 && outcome.bytes == 6_002);
    let (mut whole, mut cursor) = (String::new(), 0);
    while cursor < outcome.bytes {
        let piece = call.web_pages().read_result(&request, cursor, 1_000)?;
        whole.push_str(std::str::from_utf8(&piece.data).expect("no character is split"));
        cursor = piece.next;
    }
    assert_eq!(whole, format!("\"{}\"", "항구".repeat(1_000)));
    Ok(())
}

#[test]
fn an_operation_is_carried_out_with_the_whole_of_its_result() -> Result<(), ToolError> {
    let call = site().call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    let loaded = call.web_pages().carry_out(&id, &Operation::Navigate { url: "http://a/shop".into() }, None)?;
    assert_eq!(loaded.json()?["status"], 200);
    let page = call.web_pages().get(&id)?;
    assert_eq!((page.url.as_str(), page.title.as_str()), ("http://a/shop", "Shop"));
    let nowhere = call.web_pages().carry_out(&id, &Operation::Navigate { url: "http://b/".into() }, None);
    assert_eq!(kind(nowhere), Some(FailureKind::Network));
    let screenshot = Operation::Screenshot { jpeg_quality: None, full_page: false, clip: None };
    let drawn = call.web_pages().carry_out(&id, &screenshot, None)?;
    assert_eq!((drawn.mime_type.as_str(), drawn.data.len()), ("image/png", 3 << 20));
    Ok(())
}

#[test]
fn a_dialog_ends_the_wait_and_its_answer_the_request() -> Result<(), ToolError> {
    let host = site();
    let call = host.call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    let failure = call.web_pages().run(&id, &Script::new("ask()")).expect_err("a dialog");
    let ScriptFailure::Dialog { dialog, request } = failure else { panic!("{failure}") };
    assert_eq!((dialog.kind, dialog.message.as_str()), (DialogKind::Confirm, "Sure?"));
    assert_eq!(kind(call.web_pages().run(&id, &Script::new("title"))), Some(FailureKind::DialogOpen));
    assert!(call.web_pages().get(&id)?.dialog.is_some());
    call.web_pages().answer_dialog(&id, true, Some("yes"))?;
    assert_eq!(call.web_pages().wait(&request, PATIENCE)?.data, b"true");
    assert_eq!(host.dialog_answers(&id), [(true, Some("yes".to_owned()))]);
    assert_eq!(code(call.web_pages().answer_dialog(&id, true, None)), Some(ErrorCode::Conflict));
    let click = Operation::MouseMove { x: 1.0, y: 1.0 };
    let failure = call.web_pages().carry_out(&id, &click, None).expect_err("a dialog");
    assert!(failure.to_string().contains("confirm dialog is open"), "{failure}");
    Ok(())
}

#[test]
fn logs_are_paged_by_number() -> Result<(), ToolError> {
    let call = site().call();
    let id = call.web_pages().open(&PageOptions::new())?.id;
    for _ in 0..3 {
        call.web_pages().run(&id, &Script::new("shout"))?;
    }
    let first = call.web_pages().entries(&id, "console", 0, 2)?;
    assert_eq!((first.entries.len(), first.next, first.lost), (2, 2, 0));
    let rest = call.web_pages().entries(&id, "console", first.next, 2)?;
    assert_eq!((rest.entries[0]["number"].clone(), rest.entries[0]["text"].clone()), (json!(3), json!("hi")));
    assert!(call.web_pages().entries(&id, "network", 0, 2)?.entries.is_empty());
    assert_eq!(code(call.web_pages().entries(&id, "secrets", 0, 2)), Some(ErrorCode::Invalid));
    Ok(())
}

#[test]
fn pages_are_counted_closed_and_granted() -> Result<(), ToolError> {
    assert_eq!(code(TestCall::new().call().web_pages().list()), Some(ErrorCode::Denied));
    let call = TestCall::new().web_pages_of(WebPageScript::new().rules(|rules| rules.maximum_pages = 1)).call();
    let page = call.web_pages().open(&PageOptions::new().size(800, 600))?;
    assert_eq!((page.width, page.height, page.url.as_str()), (800, 600, "about:blank"));
    assert_eq!(code(call.web_pages().open(&PageOptions::new())), Some(ErrorCode::Limit));
    let request = call.web_pages().execute(&page.id, &Script::new("1"))?;
    call.web_pages().close(&page.id)?;
    assert_eq!(call.web_pages().get(&page.id)?.status, PageStatus::Closed);
    assert_eq!(call.web_pages().poll(&request)?.state, RequestState::Done);
    assert_eq!(code(call.web_pages().execute(&page.id, &Script::new("1"))), Some(ErrorCode::Gone));
    assert_eq!(code(call.web_pages().open(&PageOptions::new().size(5_000, 1))), Some(ErrorCode::Invalid));
    assert!(call.web_pages().status()?.performs("mouse"));
    Ok(())
}
