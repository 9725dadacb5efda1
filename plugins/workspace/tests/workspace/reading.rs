//! Reading files by lines.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _};

fn range(answer: &Value) -> (u64, u64, u64) {
    let number = |name: &str| answer[name].as_u64().expect(name);
    (number("start_line"), number("end_line"), number("total_lines"))
}

#[test]
fn a_range_of_lines_comes_as_it_is_with_what_it_is_of() {
    let agent = Agent::with(&[("a.txt", "one\r\ntwo\n\n항구\nlast")]);
    let (read, text) = agent.answer("read_file", &json!({ "path": "a.txt", "start_line": 2, "end_line": 4 }));
    assert_eq!((range(&read), &read["text"]), ((2, 4, 5), &json!("two\n\n항구\n")));
    assert_eq!(text, "a.txt, lines 2 to 4 of 5 (21 bytes)\ntwo\n\n항구\n");
    let whole = agent.ok("read_file", &json!({ "path": "a.txt" }));
    assert_eq!((range(&whole), &whole["text"]), ((1, 5, 5), &json!("one\r\ntwo\n\n항구\nlast")));
    let behind = agent.ok("read_file", &json!({ "path": "a.txt", "start_line": 5, "end_line": 99 }));
    assert_eq!((range(&behind), &behind["truncated"]), ((5, 5, 5), &json!(false)));
    let refused = agent.refused("read_file", &json!({ "path": "a.txt", "start_line": 6 }));
    assert!(refused.contains("has 5 lines"), "{refused}");
    let refused = agent.refused("read_file", &json!({ "path": "a.txt", "start_line": 3, "end_line": 2 }));
    assert!(refused.contains("less than"), "{refused}");
}

#[test]
fn an_empty_file_is_empty() {
    let agent = Agent::with(&[("empty", ""), ("break", "\n")]);
    let (read, text) = agent.answer("read_file", &json!({ "path": "empty" }));
    assert_eq!((range(&read), text.as_str()), ((1, 0, 0), "empty is empty."));
    assert_eq!(range(&agent.ok("read_file", &json!({ "path": "break" }))), (1, 1, 1));
}

/// The whole of a file, by as many reads as it takes.
fn read_on(agent: &Agent, path: &str) -> (String, usize) {
    let (mut text, mut line, mut byte) = (String::new(), 1, 0);
    for count in 1.. {
        let arguments = json!({ "path": path, "start_line": line, "start_byte": byte });
        let (read, words) = agent.answer("read_file", &arguments);
        assert!(words.len() <= 16 * 1024, "an answer has {} bytes", words.len());
        text.push_str(read["text"].as_str().expect("a text"));
        if read["truncated"] == false {
            return (text, count);
        }
        line = read["next_line"].as_u64().expect("a line");
        byte = read["next_byte"].as_u64().unwrap_or(0);
        assert!(words.ends_with("goes on ...]"), "{words}");
    }
    unreachable!("it ends")
}

#[test]
fn what_does_not_fit_goes_on_where_the_answer_says() {
    let lines: String = (0..5_000).map(|number| format!("line {number} 항구\n")).collect();
    let long = format!("short\n{}\nlast", "긴🚢줄".repeat(9_000));
    let agent = Agent::with(&[("lines", &lines), ("long", &long)]);
    let (text, reads) = read_on(&agent, "lines");
    assert!(text == lines && reads > 5);
    let (text, reads) = read_on(&agent, "long");
    assert!(text == long && reads > 5);
}

#[test]
fn binary_files_are_refused_with_what_they_look_like() {
    let agent = Agent::with(&[]);
    agent.put("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    agent.put("data", b"some\0thing");
    let refused = agent.refused("read_file", &json!({ "path": "image" }));
    assert!(refused.starts_with("invalid") && refused.contains("looks like a PNG image"), "{refused}");
    assert!(agent.refused("read_file", &json!({ "path": "data" })).contains("looks like a binary file"));
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced_and_said_so() {
    let agent = Agent::with(&[]);
    agent.put("latin", b"caf\xe9\n");
    let (read, text) = agent.answer("read_file", &json!({ "path": "latin" }));
    assert_eq!((&read["text"], &read["is_utf8"]), (&json!("caf\u{fffd}\n"), &json!(false)));
    assert!(text.contains("some bytes are no UTF-8"), "{text}");
}

#[test]
fn a_large_file_is_streamed_and_one_that_is_too_large_refused() {
    let agent = Agent::with(&[]);
    agent.put("large", "0123456789abcde\n".repeat(500_000));
    let read = agent.ok("read_file", &json!({ "path": "large", "start_line": 500_000 }));
    assert_eq!((range(&read), &read["text"]), ((500_000, 500_000, 500_000), &json!("0123456789abcde\n")));
    let file = std::fs::File::create(agent.at("sparse")).expect("made");
    file.set_len((64 << 20) + 1).expect("grown");
    let refused = agent.refused("read_file", &json!({ "path": "sparse" }));
    assert!(refused.starts_with("limit") && refused.contains("execute_shell"), "{refused}");
}
