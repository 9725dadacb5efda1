//! Finding passages.

use serde_json::{Value, json};

use crate::{Agent, TestAgent as _, accepts, hits_of};

#[test]
fn a_hit_says_where_it_stands_and_shows_the_words() {
    let agent = Agent::new();
    let text = "# Harbour\n\nThe gates open at six.\n\n## Lights\n\nThe red light stands to port.\n";
    let id = agent.add_named("harbour.md", text);
    let hits = agent.hits("red light");
    let hit = &hits[0];
    assert_eq!((&hit["content_id"], &hit["name"]), (&json!(id), &json!("harbour.md")));
    assert!(hit["score"].as_f64().is_some_and(|score| score > 0.0), "{hit}");
    let snippet = hit["snippet"].as_str().expect("a snippet");
    assert!(snippet.contains("**red** **light** stands"), "{snippet}");
    let chunk = hit["chunk_id"].as_str().expect("a chunk id");
    assert!(chunk.strip_prefix(&id).is_some_and(|number| number.starts_with('#')), "{chunk}");
    let range = json!({ "content_id": id, "from_line": hit["first_line"], "to_line": hit["last_line"] });
    let read = agent.ok("read_content", &range);
    assert!(read["text"].as_str().is_some_and(|text| text.contains("The red light stands to port.")), "{read}");
}

#[test]
fn the_lines_of_a_hit_are_those_of_its_words() {
    let agent = Agent::new();
    let text: String = (1..=900).map(|line| format!("Line {line} tells of w{line}.\n")).collect();
    let id = agent.add(&text);
    for line in [1_u64, 2, 317, 450, 899, 900] {
        let hit = &agent.hits(&format!("w{line}"))[0];
        let (first, last) = (hit["first_line"].as_u64().expect("a line"), hit["last_line"].as_u64().expect("a line"));
        assert!((first..=last).contains(&line), "w{line} in {first} to {last}");
        assert!(last - first < 100, "a passage has bounds: {first} to {last}");
        assert_eq!(hit["content_id"], id.as_str());
    }
}

#[test]
fn english_is_found_by_other_endings_and_korean_within_words() {
    let agent = Agent::new();
    agent.add("The harbour opens early.");
    agent.add("항구의 등대는 밤마다 불을 밝힌다.");
    assert_eq!(agent.hits("opening")[0]["snippet"], "The harbour **opens** early.");
    let hits = agent.hits("등대");
    assert_eq!(hits.len(), 1);
    assert!(hits[0]["snippet"].as_str().is_some_and(|snippet| snippet.contains("**등대**는")), "{hits:?}");
}

#[test]
fn phrases_and_exclusions_are_kept() {
    let agent = Agent::new();
    let (together, apart) = (agent.add("a red light at night"), agent.add("a light that is red"));
    let ids = |query: &str| agent.hits(query).iter().map(|hit| hit["content_id"].clone()).collect::<Vec<Value>>();
    assert_eq!(ids("\"red light\""), [json!(together)]);
    assert_eq!(ids("light -night"), [json!(apart)]);
}

#[test]
fn a_search_is_narrowed_to_contents_and_types() {
    let agent = Agent::new();
    let page = agent.document("a.html", b"<p>harbour page</p>")["content_id"].clone();
    let note = json!(agent.add_named("a.md", "harbour note"));
    let table = agent.document("a.json", b"{\"harbour\": \"table\"}")["content_id"].clone();
    let ids = |more: Value| {
        let mut arguments = json!({ "query": "harbour" });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let mut ids: Vec<String> = hits_of(&agent.ok("search_content", &arguments))
            .iter()
            .map(|hit| hit["content_id"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        ids
    };
    let sorted = |list: &[&Value]| {
        let mut ids: Vec<String> = list.iter().map(|id| id.as_str().expect("an id").to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(json!({ "content_ids": [page, table] })), sorted(&[&page, &table]));
    assert_eq!(ids(json!({ "mime_types": ["text/markdown"] })), sorted(&[&note]));
    assert_eq!(ids(json!({ "mime_types": ["text/*"] })), sorted(&[&page, &note]));
    assert_eq!(ids(json!({ "mime_types": ["text/*"], "content_ids": [table] })), sorted(&[]));
    assert_eq!(ids(json!({ "mime_types": ["video/mp4"] })), sorted(&[]));
}

#[test]
fn an_unknown_content_in_a_filter_is_named() {
    let agent = Agent::new();
    agent.add("harbour");
    let unknown = "ct_5_0123456789abcdef";
    let refused = agent.refused("search_content", &json!({ "query": "harbour", "content_ids": [unknown] }));
    assert!(refused.contains(unknown), "{refused}");
}

#[test]
fn only_so_many_hits_come_and_none_below_the_threshold() {
    let agent = Agent::new();
    for number in 0..30 {
        agent.add(&format!("harbour {number} {}", "light ".repeat(number)));
    }
    let all = hits_of(&agent.ok("search_content", &json!({ "query": "light", "top_n": 100 })));
    assert_eq!(all.len(), 29);
    let scores: Vec<f64> = all.iter().map(|hit| hit["score"].as_f64().expect("a score")).collect();
    assert!(scores.is_sorted_by(|first, second| first >= second), "{scores:?}");
    assert_eq!(hits_of(&agent.ok("search_content", &json!({ "query": "light", "top_n": 3 }))), all[..3]);
    let above = agent.ok("search_content", &json!({ "query": "light", "top_n": 100, "threshold": scores[4] }));
    assert_eq!(hits_of(&above).len(), 5);
}

#[test]
fn a_query_with_nothing_to_look_for_is_refused_with_what_to_do() {
    let agent = Agent::new();
    agent.add("harbour");
    for query in ["-harbour", "\"\"", "?!"] {
        let refused = agent.refused("search_content", &json!({ "query": query }));
        assert!(refused.contains("give at least one word"), "{query}: {refused}");
    }
    let refused = agent.refused("search_content", &json!({ "query": " " }));
    assert!(refused.contains("`query` is empty"), "{refused}");
}

#[test]
fn a_query_of_stop_words_alone_looks_for_them() {
    let agent = Agent::new();
    agent.add("to be or not to be");
    agent.add("harbour");
    assert_eq!(agent.hits("to be or not to be").len(), 1);
}

#[test]
fn a_query_of_ten_thousand_words_is_refused_by_its_schema_and_by_the_tool() {
    let agent = Agent::new();
    agent.add("harbour");
    let query = json!({ "query": "harbour ".repeat(10_000) });
    assert!(!accepts("search_content", &query));
    let refused = agent.refused("search_content", &query);
    assert!(refused.contains("at most 10000"), "{refused}");
    // As many as are accepted are answered.
    assert_eq!(agent.hits(&"harbour ".repeat(1_249)).len(), 1);
}

#[test]
fn nothing_that_matches_is_said_so() {
    let agent = Agent::new();
    agent.add("harbour");
    let (found, text) = agent.answer("search_content", &json!({ "query": "lighthouse" }));
    assert_eq!((&found["hits"], &found["matches"]), (&json!([]), &json!(0)));
    assert!(text.starts_with("Nothing matches."), "{text}");
}
