//! Taking contents in.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, id_of};

#[test]
fn a_text_is_kept_and_described() {
    let agent = Agent::new();
    let (added, text) = agent.answer("add_content", &json!({ "text": "One\nTwo\n\n", "name": "notes.md" }));
    assert!(text.starts_with("Added ct_"), "{text}");
    assert_eq!(added["name"], "notes.md");
    assert_eq!(added["mime_type"], "text/markdown");
    assert_eq!((&added["lines"], &added["text_bytes"]), (&json!(3), &json!(9)));
    let info = agent.ok("get_content_info", &json!({ "content_id": id_of(&added) }));
    assert_eq!(info, added);
}

#[test]
fn a_document_is_what_its_name_says() {
    let agent = Agent::new();
    for (name, bytes, mime, word) in [
        ("a.txt", "plain words".as_bytes(), "text/plain", "plain"),
        ("a.md", b"# Heading\n\nmarked words", "text/markdown", "marked"),
        ("a.csv", b"name,age\nAda,36\n", "text/csv", "Ada"),
        ("a.html", b"<p>Written <b>words</b></p><script>hidden()</script>", "text/html", "written"),
        ("a.json", b"{\"key\": \"valued\"}", "application/json", "valued"),
    ] {
        let added = agent.document(name, bytes);
        assert_eq!(added["mime_type"], mime, "{name}");
        let hits = agent.hits(word);
        assert_eq!(hits[0]["content_id"], added["content_id"], "{name}: {hits:?}");
    }
    assert!(agent.hits("hidden").is_empty(), "a script is no text");
}

#[test]
fn a_text_is_a_text_whatever_document_its_name_is_of() {
    let agent = Agent::new();
    for (arguments, mime) in [
        (json!({ "text": "taken from a report", "name": "report.pdf" }), "text/plain"),
        (json!({ "text": "taken from a report", "mime_type": "application/pdf" }), "text/plain"),
        (json!({ "text": "of a kind nobody knows", "mime_type": "application/x-other" }), "text/plain"),
        (json!({ "text": "# A heading", "name": "notes.md" }), "text/markdown"),
        (json!({ "text": "<p>A page</p>", "mime_type": "text/html" }), "text/html"),
    ] {
        assert_eq!(agent.ok("add_content", &arguments)["mime_type"], mime, "{arguments}");
    }
}

#[test]
fn source_code_and_logs_are_texts() {
    let agent = Agent::new();
    for name in ["main.rs", "Makefile", "server.log"] {
        assert_eq!(agent.document(name, b"fn main() { harbour(); }")["mime_type"], "text/plain", "{name}");
    }
    assert_eq!(agent.hits("harbour").len(), 3);
}

#[test]
fn what_is_added_twice_is_there_twice() {
    let agent = Agent::new();
    assert_ne!(agent.add("the same words"), agent.add("the same words"));
    assert_eq!(agent.hits("same").len(), 2);
}

#[test]
fn many_texts_are_kept_in_one_step_each_with_an_id_of_its_own() {
    let agent = Agent::new();
    let before = agent.add("an earlier harbour");
    let long = "A long passage about ships. ".repeat(200);
    let texts = json!([
        { "text": "the first harbour", "name": "one.md" },
        { "text": long },
        { "text": "<p>the third harbour</p>", "mime_type": "text/html" },
    ]);
    let (added, told) = agent.answer("add_contents", &json!({ "texts": texts }));
    let ids: Vec<&str> = added["content_ids"].as_array().expect("ids").iter().filter_map(Value::as_str).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(told, format!("Added 3:\n{}: one.md\n{}\n{}", ids[0], ids[1], ids[2]));
    assert_eq!(agent.contents(), 4);
    let info = |id: &str| agent.ok("get_content_info", &json!({ "content_id": id }));
    assert_eq!((&info(ids[0])["name"], &info(ids[2])["mime_type"]), (&json!("one.md"), &json!("text/html")));
    assert!(info(ids[1])["chunks"].as_u64() > Some(1), "{}", info(ids[1]));
    for (id, begin) in
        [(before.as_str(), "an earlier"), (ids[0], "the first"), (ids[1], "A long"), (ids[2], "the third")]
    {
        let text = agent.answer("read_content", &json!({ "content_id": id })).1;
        assert!(text.contains(begin), "{id}: {text}");
    }
    assert_eq!(agent.hits("harbour").len(), 3);
    // One of them can be deleted without the others.
    agent.ok("delete_content", &json!({ "content_id": ids[1] }));
    assert!(agent.hits("ships").is_empty());
    assert_eq!(agent.hits("harbour").len(), 3);
}

#[test]
fn of_many_texts_all_are_kept_or_none() {
    let agent = Agent::new();
    for (texts, told) in [
        (json!([{ "text": "good" }, { "text": "  " }]), "text 2: there is nothing to read"),
        (json!([{ "text": "good" }, { "text": "good", "name": "a\u{7}b" }]), "text 2: `name` has control characters"),
        (json!([{ "text": "word ".repeat(600_000) }]), "add fewer at a time"),
    ] {
        let refused = agent.refused("add_contents", &json!({ "texts": texts }));
        assert!(refused.contains(told), "{refused}");
    }
    assert_eq!(agent.contents(), 0);
    let many: Vec<_> = (0..100).map(|number| json!({ "text": format!("word{number} ").repeat(400) })).collect();
    agent.ok("add_contents", &json!({ "texts": many }));
    let listed = agent.ok("list_contents", &json!({ "limit": 1_000 }));
    assert_eq!(listed["contents"].as_array().map(Vec::len), Some(100));
    assert!(agent.hits("word99").len() > 1);
}

#[test]
fn neither_or_both_of_text_and_document_are_refused() {
    let agent = Agent::new();
    for arguments in
        [json!({}), json!({ "name": "a.txt" }), json!({ "text": "a", "document": "YQ==", "name": "a.txt" })]
    {
        let refused = agent.refused("add_content", &arguments);
        assert!(refused.contains("either `text` or `document`"), "{refused}");
    }
    let refused = agent.refused("add_content", &json!({ "document": "YQ==" }));
    assert!(refused.contains("needs a `name`"), "{refused}");
    assert_eq!(agent.contents(), 0);
}

#[test]
fn base64_may_be_broken_into_lines_and_lack_its_padding_and_nothing_else() {
    let agent = Agent::new();
    for encoded in ["d29yZHM=", "d29yZHM", "d29y\r\nZHM=\n"] {
        agent.ok("add_content", &json!({ "document": encoded, "name": "a.txt" }));
    }
    assert_eq!(agent.hits("words").len(), 3);
    for encoded in ["d29yZHM==", "d29*ZHM=", "%", "=", "d"] {
        let refused = agent.refused("add_content", &json!({ "document": encoded, "name": "a.txt" }));
        assert!(refused.contains("not base64"), "{encoded}: {refused}");
    }
}

#[test]
fn a_name_that_is_no_name_is_refused() {
    let agent = Agent::new();
    for name in [" ", "a\nb.txt", "a\u{0}.txt", &"x".repeat(256)] {
        let refused = agent.refused("add_content", &json!({ "text": "words", "name": name }));
        assert!(refused.contains("`name`"), "{name:?}: {refused}");
    }
}

#[test]
fn what_was_deleted_is_gone_at_once_and_for_good() {
    let agent = Agent::new();
    let (kept, gone) = (agent.add("harbour lights"), agent.add("harbour master"));
    let deleted = agent.ok("delete_content", &json!({ "content_id": gone }));
    assert_eq!(deleted["deleted"]["content_id"], gone.as_str());
    let hits = agent.hits("harbour master");
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0]["content_id"], kept.as_str());
    for tool in ["delete_content", "get_content_info", "read_content"] {
        let refused = agent.refused(tool, &json!({ "content_id": gone }));
        assert!(refused.starts_with("not-found: there is no content"), "{refused}");
    }
    // Nothing of it is left but what the index keeps of itself.
    agent.ok("delete_content", &json!({ "content_id": kept }));
    assert_eq!(agent.ok("list_contents", &json!({}))["total_text_bytes"], 0);
}
