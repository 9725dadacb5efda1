//! Attacks on memory and on the size of an answer.

use std::hint::black_box;

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::{Answer, Content};
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, length, part, report};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "allocate",
        "Takes so much memory, touches it, and says how much it got.",
        &[("bytes", "integer")],
        allocate,
    ),
    Attack::new(
        "allocate_or_die",
        "Takes so much memory in one piece, and aborts without.",
        &[("bytes", "integer")],
        allocate_or_die,
    ),
    Attack::new("output", "Answers one text of so many bytes.", &[("bytes", "integer")], output),
    Attack::new(
        "output_structured",
        "Answers a structure of so many bytes.",
        &[("bytes", "integer")],
        output_structured,
    ),
    Attack::new("many_content", "Answers so many empty parts.", &[("count", "integer")], many_content),
    Attack::new("random", "Asks for so many random bytes.", &[("bytes", "integer")], random),
];

const PIECE_BYTES: usize = 1 << 16;

fn allocate(arguments: &Value) -> Result<Answer, Error> {
    let wanted = length(arguments, "bytes");
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut got = 0;
    while got < wanted {
        let bytes = PIECE_BYTES.min(wanted - got);
        let mut piece = Vec::new();
        if pieces.try_reserve(1).is_err() || piece.try_reserve_exact(bytes).is_err() {
            break;
        }
        piece.resize(bytes, 1);
        got += bytes;
        pieces.push(black_box(piece));
    }
    // What is left is needed to answer.
    drop(pieces);
    report(&json!({ "got": got, "wanted": wanted }))
}

fn allocate_or_die(arguments: &Value) -> Result<Answer, Error> {
    let memory = black_box(vec![1_u8; length(arguments, "bytes")]);
    report(&json!({ "got": memory.len() }))
}

fn output(arguments: &Value) -> Result<Answer, Error> {
    Ok(part("text/plain", vec![b'x'; length(arguments, "bytes")]))
}

fn output_structured(arguments: &Value) -> Result<Answer, Error> {
    let frame = "{\"text\":\"\"}";
    let text = "x".repeat(length(arguments, "bytes").saturating_sub(frame.len()));
    let structured = Some(format!("{{\"text\":\"{text}\"}}"));
    Ok(Answer { content: Vec::new(), structured, is_error: false, meta: None })
}

fn many_content(arguments: &Value) -> Result<Answer, Error> {
    let empty = || Content { mime_type: "text/plain".to_owned(), data: Vec::new(), meta: None };
    let content = (0..length(arguments, "count")).map(|_| empty()).collect();
    Ok(Answer { content, structured: None, is_error: false, meta: None })
}

fn random(arguments: &Value) -> Result<Answer, Error> {
    let mut bytes = vec![0; length(arguments, "bytes")];
    let filled = getrandom::fill(&mut bytes).is_ok();
    report(&json!({ "filled": filled, "zeros": bytes.iter().filter(|byte| **byte == 0).count() }))
}
