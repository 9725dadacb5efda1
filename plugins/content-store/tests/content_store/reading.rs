//! Reading contents by line.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _};

fn lines(agent: &Agent, id: &str, from: u32, to: u32) -> Value {
    agent.ok("read_content", &json!({ "content_id": id, "from_line": from, "to_line": to }))
}

#[test]
fn lines_come_exactly_as_they_are() {
    let agent = Agent::new();
    let text = "first \r\n  second\t\n\nfourth\n\n\n";
    let id = agent.add(text);
    assert_eq!(agent.read(&id), text);
    for (from, to, expected) in [
        (1, 1, "first \r\n"),
        (2, 3, "  second\t\n\n"),
        (3, 3, "\n"),
        (4, 6, "fourth\n\n\n"),
        (6, 6, "\n"),
        (5, 99, "\n\n"),
    ] {
        let read = lines(&agent, &id, from, to);
        assert_eq!(read["text"], expected, "{from} to {to}");
        assert_eq!((&read["to_line"], &read["total_lines"]), (&json!(to.min(6)), &json!(6)));
        assert_eq!(read["has_more"], json!(to < 6), "{from} to {to}");
    }
}

#[test]
fn every_range_of_a_long_text_is_that_of_its_lines() {
    let agent = Agent::new();
    // Lines of many lengths, so that passages end everywhere.
    let text: String = (0..400).map(|line| format!("{line} {}\n", "한글 words ".repeat(line * 7 % 31))).collect();
    let id = agent.add(&text);
    let expected: Vec<&str> = text.split_inclusive('\n').collect();
    for (from, to) in [(1, 400), (1, 3), (57, 57), (120, 250), (399, 400), (400, 400)] {
        let read = lines(&agent, &id, from, to);
        assert_eq!(read["text"], expected[from as usize - 1..to as usize].concat(), "{from} to {to}");
    }
    assert_eq!(agent.read(&id), text);
}

#[test]
fn a_line_that_is_longer_than_an_answer_comes_in_parts() {
    let agent = Agent::new();
    let text = format!("short\n{}\nlast", "한글과 words; ".repeat(30_000));
    let id = agent.add(&text);
    let read = agent.ok("read_content", &json!({ "content_id": id }));
    assert_eq!(read["has_more"], true);
    assert_eq!((&read["next_line"], &read["to_line"]), (&json!(2), &json!(2)));
    assert!(read["next_character"].as_u64().is_some_and(|character| character > 40_000), "{}", read["next_character"]);
    assert_eq!(agent.read(&id), text);
}

#[test]
fn lines_that_are_not_there_are_refused_with_how_many_there_are() {
    let agent = Agent::new();
    let id = agent.add("one\ntwo");
    let refused = agent.refused("read_content", &json!({ "content_id": id, "from_line": 3 }));
    assert!(refused.contains("the content has 2 lines"), "{refused}");
    let refused = agent.refused("read_content", &json!({ "content_id": id, "from_line": 2, "to_line": 1 }));
    assert!(refused.contains("the first comes first"), "{refused}");
    let refused = agent.refused("read_content", &json!({ "content_id": id, "from_line": 0 }));
    assert!(refused.contains("counted from 1"), "{refused}");
}

#[test]
fn a_range_may_be_as_large_as_numbers_go() {
    let agent = Agent::new();
    let id = agent.add("one\ntwo");
    assert_eq!(lines(&agent, &id, 2, u32::MAX)["text"], "two");
    let read = agent.ok("read_content", &json!({ "content_id": id, "from_character": u32::MAX }));
    assert_eq!(read["text"], "\ntwo".strip_prefix('\n').expect("a line"));
}
