//! What a model is given of what a command printed.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wharf_tests::Fixture;

use super::{Told, ask, run, setup};

/// Bytes of text that a model is given of one answer.
const MOST: usize = 16 << 10;

/// The arguments of the call that a marker names.
fn marked(told: &Told) -> Value {
    let marker = told.text.lines().find(|line| line.starts_with("[... ")).unwrap_or_else(|| panic!("{}", told.text));
    let (_, call) = marker.split_once("read_process_output ").expect("the tool is named");
    let (arguments, _) = call.split_once(" shows them").expect("arguments");
    serde_json::from_str(arguments).expect("JSON")
}

/// Reads on from a place until so many bytes were seen; what was read, and the
/// cursor behind it.
async fn follow(fixture: &Fixture, mut arguments: Value, bytes: usize) -> (String, u64) {
    let mut text = String::new();
    loop {
        let page = ask(fixture, "read_process_output", arguments.clone()).await;
        assert!(page.text.len() <= MOST, "{} bytes", page.text.len());
        let piece = page.structured["text"].as_str().expect("a text");
        assert!(page.text.ends_with(piece), "the model reads what programs do: {page:?}");
        text.write_str(piece).expect("a text grows");
        let next = page.structured["next_cursor"].as_u64().expect("a cursor");
        assert!(page.structured["has_more"] == false || page.text.contains(&format!("cursor {next}")), "{page:?}");
        if text.len() >= bytes || page.structured["has_more"] == false {
            return (text, next);
        }
        arguments["cursor"] = json!(next);
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_cut_and_the_marker_leads_to_exactly_what_is_left_out() {
    let fixture = setup().open().await;
    let done = run(&fixture, "seq 10000000 21111111").await;
    assert!(done.text.len() <= MOST && done.text.len() > MOST / 2, "{} bytes", done.text.len());
    assert!(done.structured.to_string().len() < 2 * MOST, "{} bytes", done.structured.to_string().len());
    assert_eq!(done.structured["stdout_bytes"], 100_000_008);
    assert!(done.text.starts_with("exit code 0\nstdout:\n10000000\n") && done.text.ends_with("\n21111111"), "{done:?}");

    let arguments = marked(&done);
    let omitted = &done.structured["stdout"]["omitted"];
    assert_eq!((&arguments["cursor"], &arguments["process_id"]), (&omitted["cursor"], &json!(done.id())));
    let (cursor, bytes) = (omitted["cursor"].as_u64().expect("a cursor"), omitted["bytes"].as_u64().expect("a count"));
    assert!(done.text.contains(&format!("[... {bytes} bytes omitted;")), "{}", done.text);
    let (head, tail) = done.shown("stdout").split_once("[... ").expect("a marker");
    let (_, tail) = tail.split_once("...]\n").expect("the end of a marker");
    assert_eq!(head.len() as u64, cursor);
    assert_eq!(cursor + bytes + tail.len() as u64, 100_000_008);

    // What follows is what was left out, from its first byte on.
    let (text, next) = follow(&fixture, arguments.clone(), 40_000).await;
    assert_eq!(next, cursor + text.len() as u64);
    let line = |number: u64| 10_000_000 + number / 9;
    let expected: Vec<_> = (line(cursor)..line(next)).map(|line| format!("{line}\n")).collect();
    assert_eq!(text, expected.concat());
    // And its last bytes are followed by the tail.
    let mut near = arguments;
    near["cursor"] = json!(cursor + bytes - 900);
    let (text, next) = follow(&fixture, near, usize::MAX).await;
    assert_eq!(next, 100_000_008);
    assert!(text.len() == 900 + tail.len() && text.ends_with(tail));
}

#[tokio::test]
async fn two_streams_that_are_long_share_the_room_and_are_both_marked() {
    let fixture = setup().open().await;
    let done = run(&fixture, "seq 1 100000; seq 1 100000 >&2; exit 9").await;
    assert!(done.text.len() <= MOST && done.text.starts_with("exit code 9\n"), "{} bytes", done.text.len());
    assert_eq!(done.text.matches("bytes omitted; read_process_output").count(), 2);
    for stream in ["stdout", "stderr"] {
        assert!(done.shown(stream).len() > MOST / 3 && done.shown(stream).ends_with("\n100000\n"), "{stream}");
    }
    // One line without an end.
    let done = run(&fixture, "head -c 300000 /dev/zero | tr '\\0' x").await;
    assert!(done.text.len() <= MOST, "{} bytes", done.text.len());
    let (text, _) = follow(&fixture, marked(&done), 20_000).await;
    assert!(text.len() >= 20_000 && text.bytes().all(|byte| byte == b'x'));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_and_said_wherever_they_stand() {
    let fixture = setup().open().await;
    let done = run(&fixture, r"printf 'good\n\377\376bad\nlast\n'").await;
    assert_eq!(done.shown("stdout"), "good\n\u{fffd}\u{fffd}bad\nlast\n");
    assert_eq!(done.structured["stdout"]["is_utf8"], false);
    assert!(done.text.contains("no UTF-8"), "{}", done.text);
    for arguments in [
        json!({"process_id": done.id(), "mode": "tail", "lines": 2}),
        json!({"process_id": done.id(), "mode": "head"}),
        json!({"process_id": done.id(), "mode": "from", "cursor": 6}),
    ] {
        let read = ask(&fixture, "read_process_output", arguments.clone()).await;
        assert!(read.text.ends_with("bad\nlast\n") || read.text.ends_with("bad\nlast"), "{arguments}: {read:?}");
        assert_eq!(read.structured["is_utf8"], false, "{arguments}");
    }
    // Random bytes, of which many are control characters.
    let done = run(&fixture, "head -c 200000 /dev/urandom; echo; echo end").await;
    assert!(done.text.len() <= MOST && done.text.ends_with("end"), "{} bytes", done.text.len());
    assert!(!done.text.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t'));
}

#[tokio::test]
async fn a_character_that_is_printed_in_two_writes_is_one() {
    let fixture = setup().open().await;
    let id = super::start(&fixture, r"printf '\355\225'; read line; printf '\234\n'").await;
    ask(&fixture, "wait_for_process", json!({"process_id": id, "until": {"output": true, "cursor": 0}})).await;
    let half = ask(&fixture, "read_process_output", json!({"process_id": id, "mode": "from", "cursor": 0})).await;
    let cursor = half.structured["next_cursor"].clone();
    ask(&fixture, "write_process_input", json!({"process_id": id, "text": ""})).await;
    let ended = super::end(&fixture, &id).await;
    assert_eq!((ended.shown("stdout"), &ended.structured["stdout"]["is_utf8"]), ("한\n", &json!(true)));
    let rest = json!({"process_id": id, "mode": "from", "cursor": cursor});
    let rest = ask(&fixture, "read_process_output", rest).await;
    assert_eq!(rest.structured["text"], "한\n", "a reader that came early lost nothing: {half:?}");
}

#[tokio::test]
async fn colours_titles_and_control_characters_do_not_reach_the_model() {
    let fixture = setup().open().await;
    let done =
        run(&fixture, r"printf '\033[1;31mred\033[0m\033]0;title\007 \033(Bplain\a\000\r\n 50%%\r100%%\n'").await;
    assert_eq!(done.text, "exit code 0\nstdout:\nred plain\n 50%\n100%");
}

#[tokio::test]
async fn what_is_not_kept_any_more_is_said_and_a_reader_goes_on_behind_it() {
    let fixture = setup().process_limit("output_kept_bytes", 256 << 10).open().await;
    let done = run(&fixture, "seq 10000000 10200000").await;
    let evicted = done.structured["stdout"]["evicted_before"].as_u64().expect("a cursor");
    assert!(evicted > 0 && done.text.contains("not kept any more"), "{}", done.text);
    assert!(done.text.ends_with("\n10200000"), "{}", done.text);
    let read = json!({"process_id": done.id(), "mode": "from", "cursor": 0});
    let read = ask(&fixture, "read_process_output", read).await;
    assert_eq!(read.structured["start_cursor"], read.structured["evicted_before"], "{read:?}");
    assert!(read.text.contains("are not kept any more"), "{}", read.text);
}

#[tokio::test]
async fn a_command_that_never_stops_printing_is_ended_by_its_quota() {
    let fixture =
        setup().process_limit("output_kept_bytes", 256 << 10).process_limit("output_total_bytes", 8 << 20).open().await;
    let done = run(&fixture, "yes").await;
    assert!(done.text.starts_with("killed (quota)\n") && done.text.len() <= MOST, "{}", done.text);
    assert_eq!((&done.structured["status"], done.structured.get("exit_code")), (&json!("killed"), None));
}
