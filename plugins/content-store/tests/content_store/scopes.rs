//! Whose contents are: the session's, or what the operator chose.

use serde_json::json;
use wharf_sdk::Scope;

use crate::{Agent, TestAgent as _};

#[test]
fn a_session_never_sees_the_contents_of_another() {
    let mine = Agent::new();
    let other = Agent(mine.0.clone().session("other"));
    let id = mine.add("a secret harbour");
    assert!(other.hits("secret").is_empty());
    assert_eq!(other.contents(), 0);
    for tool in ["read_content", "get_content_info", "delete_content"] {
        assert!(other.refused(tool, &json!({ "content_id": id })).starts_with("not-found"), "{tool}");
    }
    let refused = other.refused("search_content", &json!({ "query": "secret", "content_ids": [id] }));
    assert!(refused.starts_with("not-found"), "{refused}");
    // The same place, another content.
    let theirs = other.add("nothing to see");
    assert_ne!(theirs, id);
    assert!(other.refused("read_content", &json!({ "content_id": id })).starts_with("not-found"));
    assert_eq!(mine.read(&id), "a secret harbour");
}

#[test]
fn contents_of_other_sessions_do_not_change_scores() {
    let mine = Agent::new();
    mine.add("harbour lights");
    mine.add("the master of the harbour");
    let before = mine.hits("harbour master");
    let other = Agent(mine.0.clone().session("other"));
    for _ in 0..50 {
        other.add("master master master harbour");
    }
    assert_eq!(mine.hits("harbour master"), before);
}

#[test]
fn threads_of_a_session_share_contents_unless_the_operator_chose_otherwise() {
    let shared = Agent::new();
    shared.add("for all threads");
    assert_eq!(Agent(shared.0.clone().thread("other")).hits("threads").len(), 1);

    let apart = Agent(shared.0.clone().default_scope(Scope::Thread));
    apart.add("for one thread");
    assert_eq!(apart.hits("thread").len(), 1);
    assert!(Agent(apart.0.clone().thread("other")).hits("thread").is_empty());
}

#[test]
fn an_assistants_contents_are_in_all_its_sessions_where_the_operator_chose_so() {
    let here = Agent(Agent::new().0.default_scope(Scope::Assistant));
    here.add("kept for long");
    assert_eq!(Agent(here.0.clone().session("later")).hits("kept").len(), 1);
    assert!(Agent(here.0.clone().assistant("another")).hits("kept").is_empty());
}
