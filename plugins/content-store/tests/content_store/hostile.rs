//! Contents that are no help: an error or a bounded answer, and a store that is
//! as it was.

use serde_json::json;

use crate::{Agent, TestAgent as _};

#[test]
fn what_has_no_text_is_refused() {
    let agent = Agent::new();
    let refused = agent.refused("add_content", &json!({ "text": "" }));
    assert!(refused.contains("empty"), "{refused}");
    for text in [" ", "\n\n\t", "\u{feff}"] {
        let refused = agent.refused("add_content", &json!({ "text": text }));
        assert!(refused.contains("nothing to read"), "{text:?}: {refused}");
    }
    let refused = agent.refused_document("a.html", b"<script>only()</script>");
    assert!(refused.contains("nothing to read"), "{refused}");
    assert!(agent.refused_document("a.pdf", b"").contains("empty"));
    assert_eq!(agent.contents(), 0);
}

#[test]
fn invalid_utf_8_is_replaced_and_said_so() {
    let agent = Agent::new();
    let added = agent.document("a.txt", b"The caf\xe9 at the harbour opens at six, and closes late.\xff\n");
    assert!(!added["warnings"].as_array().expect("warnings").is_empty(), "{added}");
    assert_eq!(agent.hits("harbour").len(), 1);
}

#[test]
fn a_document_of_one_line_of_five_megabytes_is_kept_and_found() {
    let agent = Agent::new();
    let mut text = "lorem ipsum dolor sit amet ".repeat(5 * 1024 * 1024 / 27);
    text.push_str("needle");
    let id = agent.add(&text);
    let hit = &agent.hits("needle")[0];
    assert_eq!((&hit["first_line"], &hit["last_line"]), (&json!(1), &json!(1)));
    assert_eq!(agent.read(&id).len(), text.len());
    agent.ok("delete_content", &json!({ "content_id": id }));
    assert!(agent.hits("lorem").is_empty());
}

#[test]
fn what_is_too_large_is_refused_with_how_large_it_may_be() {
    let agent = Agent::new();
    let refused = agent.refused("add_content", &json!({ "text": "harbour ".repeat(1_600_000) }));
    assert!(refused.starts_with("limit"), "{refused}");
    let refused = agent.refused_document("a.txt", &vec![b'a'; 13 << 20]);
    assert!(refused.starts_with("limit"), "{refused}");
    assert_eq!(agent.contents(), 0);
    assert!(agent.hits("harbour").is_empty());
}

#[test]
fn words_that_no_dictionary_has_stay_bounded() {
    let agent = Agent::new();
    // Every word is another one.
    let text: String = (0..200_000).map(|number| format!("w{number:x} ")).collect();
    agent.add(&text);
    assert_eq!(agent.hits("w1869f").len(), 1);
    agent.add(&"x".repeat(300_000));
    agent.add(&"e\u{301}".repeat(100_000));
    agent.add(&format!("a{}", "\u{301}".repeat(100_000)));
    assert_eq!(agent.contents(), 4);
}

#[test]
fn files_that_are_not_what_their_names_say_are_refused() {
    let agent = Agent::new();
    for name in ["a.docx", "a.xlsx", "a.pptx", "a.pdf"] {
        let refused = agent.refused_document(name, b"just words, and no such file");
        assert!(refused.starts_with("invalid"), "{name}: {refused}");
    }
    assert!(agent.refused_document("a.exe", b"MZ\x90\0\x03\0\0\0").starts_with("invalid"));
    assert!(agent.refused_document("a.json", b"{\"a\": ").starts_with("invalid"));
    assert_eq!(agent.contents(), 0);
}

#[test]
fn the_largest_answers_stay_below_what_the_host_takes() {
    let agent = Agent::new();
    // Passages in which every other character is a word that is found, under
    // names as long as they get.
    let name = "\u{1f6a2}".repeat(250);
    for _ in 0..30 {
        agent.add_named(&name, &"b\u{1f6a2}".repeat(1_500));
    }
    let most = json!({ "query": "b", "top_n": 100, "snippet_characters": 1_000 });
    let (search, text) = agent.answer("search_content", &most);
    assert_eq!(search["hits"].as_array().map(Vec::len), Some(100));
    // Passages of the largest documents are twice as long.
    let bytes = search.to_string().len() + text.len();
    assert!(bytes < 600_000, "a search answered {bytes} bytes");
    let id = agent.add(&"\"\\".repeat(200_000));
    let (read, text) = agent.answer("read_content", &json!({ "content_id": id }));
    let bytes = read.to_string().len() + text.len();
    assert!(bytes < 1 << 20, "a read answered {bytes} bytes");
}
