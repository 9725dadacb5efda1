//! Terminals and streams of the test host: what a tool can observe of them.

use std::time::Duration;

use wharf_sdk::terminal::{Confidence, Followed, Input, Launch, Layer, Reason, Status, TurnOptions, View};
use wharf_sdk::testing::{Response, Script, StreamEvent, TestCall};
use wharf_sdk::{Call, ErrorCode, StreamStatus, ToolError};

const PATIENCE: Duration = Duration::from_secs(5);

fn python() -> TestCall {
    let script = Script::new()
        .prints("Python 3\n>>> ")
        .answers("1 + 1", "2\n>>> ")
        .answers("long()", format!("{}\n>>> ", "항구".repeat(600)))
        .answers("slow()", Response::new("done").then("\n>>> ").after_waits(2))
        .answers("while True: pass", Response::new("").never_ends())
        .answers("C-d", Response::new("\n").exits(0));
    TestCall::new().terminal_program("python3", script)
}

fn started(call: &Call) -> String {
    call.terminals().start("python3", &["-q"], &Launch::new()).expect("granted").terminal.id
}

fn submitted(call: &Call, id: &str, text: &str) -> Followed {
    let turn = call.terminals().send(id, Input::Submit(text), &TurnOptions::new()).expect("a turn");
    call.terminals().follow(id, turn.number, turn.start, 4_096, PATIENCE).expect("followed")
}

fn code<T>(result: Result<T, ToolError>) -> Option<ErrorCode> {
    result.err().map(|error| error.code)
}

#[test]
fn a_turn_tells_its_text_in_chunks_and_why_it_is_complete() -> Result<(), ToolError> {
    let call = python().call();
    let id = started(&call);
    let turn = call.terminals().send(&id, Input::Submit("long()"), &TurnOptions::new())?;
    let (mut cursor, mut text, mut chunks) = (turn.start, String::new(), 0);
    loop {
        let followed = call.terminals().follow(&id, 1, cursor, 4_096, PATIENCE)?;
        assert!(followed.piece.text().chars().count() <= 512 && followed.piece.start == cursor);
        text.push_str(&followed.piece.text());
        (cursor, chunks) = (followed.piece.next, chunks + 1);
        if followed.is_told_whole() {
            let end = followed.turn.complete.expect("complete");
            assert_eq!((end.layer, end.reason), (Layer::Status, Reason::StrictPrompt));
            break;
        }
    }
    assert_eq!((text, chunks), (format!("long()\n{}\n>>> ", "항구".repeat(600)), 3));
    assert_eq!(call.terminals().get(&id)?.status, Status::NeedsInput);
    Ok(())
}

#[test]
fn one_turn_at_a_time_and_what_never_ends_is_interrupted_or_cancelled() -> Result<(), ToolError> {
    let host = python();
    let call = host.call();
    let id = started(&call);
    let endless = submitted(&call, &id, "while True: pass");
    assert!(endless.turn.is_running() && !endless.is_told_whole());
    let refused = call.terminals().send(&id, Input::Submit("1 + 1"), &TurnOptions::new());
    assert_eq!(code(refused), Some(ErrorCode::Conflict));
    call.terminals().press(&id, &["C-c"])?;
    let interrupted = call.terminals().follow(&id, 1, endless.piece.next, 4_096, PATIENCE)?;
    let end = interrupted.turn.complete.expect("complete");
    assert_eq!((end.exit_code, end.confidence), (Some(130), Confidence::Certain));
    submitted(&call, &id, "while True: pass");
    call.terminals().cancel(&id, 2)?;
    let cancelled = call.terminals().get(&id)?.turn.expect("the last turn");
    assert!(cancelled.cancelled && cancelled.end.is_some() && !cancelled.is_running());
    assert_eq!(submitted(&call, &id, "1 + 1").piece.text(), "1 + 1\n2\n>>> ");
    assert_eq!(code(call.terminals().follow(&id, 1, 0, 64, PATIENCE)), Some(ErrorCode::Gone));
    assert_eq!(code(call.terminals().follow(&id, 9, 0, 64, PATIENCE)), Some(ErrorCode::NotFound));
    assert_eq!(host.typed(&id), ["while True: pass", "C-c", "while True: pass", "1 + 1"]);
    Ok(())
}

#[test]
fn waits_in_vain_bring_nothing_and_the_turn_goes_on() -> Result<(), ToolError> {
    let call = python().call();
    let id = started(&call);
    let first = submitted(&call, &id, "slow()");
    assert!(first.piece.data.is_empty() && first.turn.is_running());
    let second = call.terminals().follow(&id, 1, first.turn.start, 64, PATIENCE)?;
    assert!(second.piece.data.is_empty() && second.turn.is_running());
    let third = call.terminals().follow(&id, 1, first.turn.start, 64, PATIENCE)?;
    assert!(third.turn.is_running() && third.piece.text() == "slow()\ndone");
    let last = call.terminals().follow(&id, 1, third.piece.next, 64, PATIENCE)?;
    assert!(last.is_told_whole() && last.piece.text() == "\n>>> ");
    Ok(())
}

#[test]
fn a_program_that_ended_is_gone_and_can_still_be_read() -> Result<(), ToolError> {
    let call = python().call();
    let id = started(&call);
    let turn = call.terminals().send(&id, Input::Keys(&["C-d"]), &TurnOptions::new())?;
    let ended = call.terminals().follow(&id, turn.number, turn.start, 64, PATIENCE)?;
    assert_eq!(ended.turn.complete.expect("complete").reason, Reason::ProcessExited);
    let info = call.terminals().get(&id)?;
    assert!(info.is_closed() && info.outcome.is_some_and(|outcome| outcome.code == Some(0)));
    assert_eq!(code(call.terminals().press(&id, &["a"])), Some(ErrorCode::Gone));
    assert_eq!(code(call.terminals().resize(&id, 100, 30)), Some(ErrorCode::Gone));
    assert!(call.terminals().read(&id, View::Text, 0, 64, PATIENCE)?.text().starts_with("Python 3"));
    Ok(())
}

#[test]
fn owners_are_apart_and_a_new_terminal_takes_the_place_of_the_old() -> Result<(), ToolError> {
    let host = python();
    let call = host.call();
    let first = started(&call);
    let second = call.terminals().start("python3", &[], &Launch::new().size(100, 30))?;
    assert_eq!(second.replaced, std::slice::from_ref(&first));
    assert_eq!(call.terminals().get(&first)?.status, Status::Closed);
    for other in [host.clone().session("other").call(), host.clone().assistant("other").call()] {
        assert_eq!(code(other.terminals().get(&second.terminal.id)), Some(ErrorCode::NotFound));
        assert!(other.terminals().list()?.is_empty());
    }
    assert_eq!(call.terminals().list()?.len(), 2);
    let several = host.maximum_terminals(2).call();
    assert_eq!(started(&several), "terminal-3");
    assert_eq!(several.terminals().rules()?.maximum_per_owner, 2);
    Ok(())
}

#[test]
fn the_screen_is_the_last_rows_and_above_it_is_the_history() -> Result<(), ToolError> {
    let lines: String = (1..=9).map(|number| format!("line {number}\n")).collect();
    let host = TestCall::new().terminal_shell(Script::new().prints(format!("{lines}$ ")));
    let call = host.call();
    let id = call.terminals().start_shell(&Launch::new().size(40, 3))?.terminal.id;
    let screen = call.terminals().screen(&id, 2)?;
    assert_eq!(screen.lines, ["line 8", "line 9", "$"]);
    assert_eq!(
        (screen.cursor_column, screen.cursor_row, screen.history),
        (2, 2, vec!["line 6".into(), "line 7".into()])
    );
    Ok(())
}

#[test]
fn what_is_not_granted_or_makes_no_sense_is_refused() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    assert_eq!(code(call.terminals().list()), Some(ErrorCode::Denied));
    let call = python().call();
    assert_eq!(code(call.terminals().start_shell(&Launch::new())), Some(ErrorCode::Denied));
    assert_eq!(code(call.terminals().start("vim", &[], &Launch::new())), Some(ErrorCode::Denied));
    let large = call.terminals().start("python3", &[], &Launch::new().size(501, 24));
    assert_eq!(code(large), Some(ErrorCode::Invalid));
    let id = started(&call);
    let control = call.terminals().send(&id, Input::Type("a\u{3}"), &TurnOptions::new());
    assert_eq!(code(control), Some(ErrorCode::Invalid));
    let long = call.terminals().send(&id, Input::Type(&"x".repeat(10_001)), &TurnOptions::new());
    assert_eq!(code(long), Some(ErrorCode::Limit));
    assert_eq!(call.terminals().get(&id)?.turn, None);
    Ok(())
}

#[test]
fn a_stream_keeps_its_events_in_order_for_its_session_until_it_is_complete() -> Result<(), ToolError> {
    let host = TestCall::new();
    let id = host.call().open_stream("Indexing", None)?.id().to_owned();
    // A later call of the same session goes on.
    let call = host.call();
    let stream = call.stream(&id);
    stream.status(StreamStatus::Typing)?;
    stream.say("half")?;
    stream.advance("reading", Some(50.0))?;
    assert_eq!(code(stream.advance("reading", Some(101.0))), Some(ErrorCode::Invalid));
    assert_eq!(code(stream.say("")), Some(ErrorCode::Invalid));
    stream.complete()?;
    stream.complete()?;
    assert_eq!(code(stream.say("more")), Some(ErrorCode::Gone));
    assert_eq!(code(stream.advance(&"x".repeat(257), None)), Some(ErrorCode::Invalid));
    let progress = StreamEvent::Progress { stage: "reading".into(), percent: Some(50.0) };
    let expected = [StreamEvent::Status("typing".into()), StreamEvent::Message("half".into()), progress];
    assert_eq!(host.streams()[0].events, expected);
    let other = host.clone().session("other");
    assert_eq!(code(other.call().stream(&id).say("x")), Some(ErrorCode::NotFound));
    assert!(other.streams().is_empty());
    let denied = TestCall::new().without_events();
    assert_eq!(code(denied.call().open_stream("x", None).map(|_| ())), Some(ErrorCode::Denied));
    Ok(())
}
