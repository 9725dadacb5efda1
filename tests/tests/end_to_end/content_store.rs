//! The content store as its users see it: real documents, hostile ones, a full
//! store, restarts, and what a search costs.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use wharf::{Answer, Code, Error};
use wharf_tests::{Client, Data, Fixture, Setup, context, wharf};

const ADD: &str = "content-store__add_content";
const SEARCH: &str = "content-store__search_content";
const LIST: &str = "content-store__list_contents";

/// Documents of programs in wide use, and words of theirs.
const REAL: [(&str, &str); 5] = [
    ("python-docx.docx", "harbour opening hours"),
    ("python-docx.docx", "화물선 요금"),
    ("openpyxl.xlsx", "돛단배 요금"),
    ("reportlab.pdf", "closes at nine"),
    ("reportlab.pdf", "항구"),
];

fn setup() -> Setup {
    Setup::new().bundled("content-store", "")
}

fn structured(outcome: Result<Answer, Error>) -> Value {
    let answer = outcome.expect("it answers");
    assert!(!answer.is_error, "{:?}", answer.content);
    answer.structured.expect("a structured answer")
}

/// What the model reads where a tool refuses, or the host does.
fn refused(outcome: Result<Answer, Error>) -> String {
    match outcome {
        Ok(answer) => {
            assert!(answer.is_error, "it should have been refused: {:?}", answer.content);
            answer.content[0].as_text().expect("a text").to_owned()
        }
        Err(error) => format!("{}: {}", error.code.as_str(), error.message),
    }
}

fn document(name: &str, bytes: &[u8]) -> Value {
    json!({"name": name, "document": STANDARD.encode(bytes)})
}

async fn hits(fixture: &Fixture, query: &str) -> Vec<Value> {
    let found = structured(fixture.call(SEARCH, json!({"query": query})).await);
    found["hits"].as_array().expect("hits").clone()
}

/// Documents that programs wrote which are in wide use.
fn real_document(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/documents/tests/files");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[tokio::test]
async fn a_new_user_adds_three_real_documents_and_finds_what_they_say() {
    let fixture = setup().open().await;
    for (name, query) in REAL {
        let added = structured(fixture.call(ADD, document(name, &real_document(name))).await);
        let found = hits(&fixture, query).await;
        assert!(found.iter().any(|hit| hit["content_id"] == added["content_id"]), "{name}: {query}: {found:?}");
        let snippet = found[0]["snippet"].as_str().expect("a snippet");
        assert!(snippet.contains("**"), "{name}: {snippet}");
    }
}

#[tokio::test]
async fn a_search_makes_four_host_calls_however_large_the_store() {
    let fixture = setup().open().await;
    for part in 0..40 {
        let text: String =
            (0..200).map(|line| format!("Part {part}, line {line}: harbour w{part}x{line}.\n\n")).collect();
        structured(fixture.call(ADD, json!({"text": text})).await);
    }
    let limited = |calls: u32| Setup::new().bundled("content-store", &format!("limits.host_calls = {calls}"));
    let Fixture { host, mut data } = fixture;
    drop(host);
    for query in ["harbour", "w3x150", "line harbour part", "\"line 7\" -w1x7", "nothing", "등대"] {
        let arguments = json!({"query": query, "mime_types": ["text/*"]});
        let fixture = limited(4).open_in(data).await;
        structured(fixture.call(SEARCH, arguments.clone()).await);
        data = fixture.data;
    }
    let fixture = limited(3).open_in(data).await;
    let refused = refused(fixture.call(SEARCH, json!({"query": "harbour"})).await);
    assert!(refused.contains("host_calls"), "{refused}");
}

#[tokio::test]
async fn contents_outlive_a_restart_with_everything_that_finds_them() {
    let setup = setup();
    let fixture = setup.open_in(Data::new()).await;
    let text = "The red light stands to port.\n\n\n";
    let id = structured(fixture.call(ADD, json!({"text": text})).await)["content_id"].clone();
    let before = hits(&fixture, "red light").await;
    let Fixture { host, data } = fixture;
    drop(host);
    let again = setup.open_in(data).await;
    assert_eq!(hits(&again, "red light").await, before);
    let read = structured(again.call("content-store__read_content", json!({"content_id": id})).await);
    assert_eq!(read["text"], text);
}

#[tokio::test]
async fn large_documents_are_kept_within_the_limits_of_a_call() {
    let fixture = setup().open().await;
    // One line of five megabytes, and as much in lines.
    let one_line = format!("{}needle", "lorem ipsum dolor sit amet ".repeat(5 * 1024 * 1024 / 27));
    let lines: String =
        (0..70_000).map(|line| format!("Line {line} of a long log, with its own word w{line}.\n")).collect();
    for (text, query) in [(one_line, "needle"), (lines, "w69999")] {
        let bytes = text.len();
        let added = structured(fixture.call(ADD, json!({"text": text})).await);
        assert_eq!(added["text_bytes"], bytes);
        assert_eq!(hits(&fixture, query).await[0]["content_id"], added["content_id"]);
        let id = json!({"content_id": added["content_id"]});
        structured(fixture.call("content-store__delete_content", id).await);
        assert!(hits(&fixture, query).await.is_empty());
    }
    assert_eq!(structured(fixture.call(LIST, json!({})).await)["total"], 0);
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_leaves_nothing() {
    let fixture = setup().open().await;
    let fifty = vec![b'a'; 50 << 20];
    let message = refused(fixture.call(ADD, document("a.txt", &fifty)).await);
    assert!(message.starts_with("limit") && message.contains("argument_bytes"), "{message}");
    let message = refused(fixture.call(ADD, json!({"text": "harbour ".repeat(1_600_000)})).await);
    assert!(message.contains("limit") || message.contains("maxLength"), "{message}");
    assert_eq!(structured(fixture.call(LIST, json!({})).await)["total"], 0);
    fixture.works().await;
}

#[test]
fn a_document_that_no_line_of_the_protocol_takes_gets_an_error_and_the_session_goes_on() {
    let data = Data::new();
    let config = data.write("wharf.toml", setup().text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let fifty = "a".repeat(50 << 20);
    let answer = client.request("tools/call", json!({"name": ADD, "arguments": {"text": fifty}}));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("16777216"), "{}", &answer.to_string()[..500.min(answer.to_string().len())]);
    let answer = client.call(ADD, json!({"text": "harbour"}), json!({}));
    assert_eq!(answer["isError"], json!(false), "{answer}");
}

#[tokio::test]
async fn hostile_documents_end_in_errors_or_bounded_answers() {
    let fixture = setup().open().await;
    structured(fixture.call(ADD, json!({"text": "The lighthouse, before."})).await);
    let truncated = |name: &str, part: usize| {
        let bytes = real_document(name);
        bytes[..bytes.len() * part / 8].to_vec()
    };
    for name in ["python-docx.docx", "xlsxwriter.xlsx", "reportlab.pdf"] {
        for part in 1..8 {
            // Whatever the outcome, the call ends and the host goes on.
            let outcome = fixture.call(ADD, document(name, &truncated(name, part))).await;
            if let Err(error) = outcome {
                assert_ne!(error.code, Code::Internal, "{name}, {part}/8: {error:?}");
            }
        }
    }
    let bomb = zip_bomb();
    let message = refused(fixture.call(ADD, document("bomb.docx", &bomb)).await);
    assert!(message.starts_with("limit") || message.starts_with("invalid"), "{message}");
    assert_eq!(hits(&fixture, "lighthouse").await.len(), 1);
    fixture.works().await;
}

/// A docx whose text unpacks to a gigabyte.
fn zip_bomb() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut archive = zip::ZipWriter::new(&mut bytes);
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for name in ["[Content_Types].xml", "word/document.xml"] {
        archive.start_file(name, options).expect("an entry");
        let block = vec![b' '; 1 << 20];
        let times = if name.starts_with("word") { 1024 } else { 0 };
        std::io::Write::write_all(&mut archive, b"<?xml version=\"1.0\"?><document>").expect("written");
        for _ in 0..times {
            std::io::Write::write_all(&mut archive, &block).expect("written");
        }
    }
    archive.finish().expect("an archive");
    bytes.into_inner()
}

#[tokio::test]
async fn a_full_store_says_how_much_is_used_and_what_makes_room() {
    let grant = "[plugin.content-store.grants.state]\nreason = \"a test\"\nquota_bytes = 30000";
    let fixture = Setup::new().bundled("content-store", grant).open().await;
    let text = "The harbour opens at six. ".repeat(300);
    let first = structured(fixture.call(ADD, json!({"text": text})).await)["content_id"].clone();
    let mut message = String::new();
    for _ in 0..10 {
        let outcome = fixture.call(ADD, json!({"text": text})).await;
        if outcome.as_ref().is_ok_and(|answer| !answer.is_error) {
            continue;
        }
        message = refused(outcome);
        break;
    }
    for word in ["limit", "30000", "delete_content", "list_contents"] {
        assert!(message.contains(word), "`{word}` is missing: {message}");
    }
    structured(fixture.call("content-store__delete_content", json!({"content_id": first})).await);
    structured(fixture.call(ADD, json!({"text": "short"})).await);
}

#[tokio::test]
async fn the_operator_chooses_whose_contents_are() {
    let fixture = Setup::new().bundled("content-store", "default_scope = \"assistant\"").open().await;
    let of = |session: &str, assistant: &str| wharf::Context {
        assistant: assistant.parse().ok(),
        ..context("local", session)
    };
    structured(fixture.call_in(&of("one", "a"), ADD, json!({"text": "kept for long"})).await);
    let query = json!({"query": "kept"});
    for (context, matches) in [(of("two", "a"), 1), (of("one", "b"), 0)] {
        let found = structured(fixture.call_in(&context, SEARCH, query.clone()).await);
        assert_eq!(found["matches"], matches, "{context:?}");
    }
    let message = refused(fixture.call_in(&context("local", "one"), SEARCH, query).await);
    assert!(message.contains("assistant"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adding_and_deleting_at_once_loses_nothing_and_leaves_nothing() {
    let fixture = setup().open().await;
    let session = context("local", "busy");
    let adding: Vec<_> =
        (0..100).map(|number| fixture.start(&session, ADD, json!({"text": format!("harbour n{number}x")}))).collect();
    let mut ids = Vec::new();
    for running in adding {
        ids.push(structured(running.outcome().await)["content_id"].clone());
    }
    // Each is deleted by two at once: one does it, the other learns of it.
    let mut deleting = Vec::new();
    for id in &ids[..50] {
        for _ in 0..2 {
            deleting.push(fixture.start(&session, "content-store__delete_content", json!({"content_id": id})));
        }
    }
    let mut deleted = 0;
    for running in deleting {
        match running.outcome().await {
            Ok(answer) if !answer.is_error => deleted += 1,
            outcome => assert!(refused(outcome).starts_with("not-found")),
        }
    }
    assert_eq!(deleted, 50);
    let found = structured(fixture.call_in(&session, SEARCH, json!({"query": "harbour"})).await);
    assert_eq!(found["matches"], 50);
    let listed = structured(fixture.call_in(&session, LIST, json!({"limit": 1000})).await);
    assert_eq!((&listed["total"], listed["contents"].as_array().map(Vec::len)), (&json!(50), Some(50)));
}
