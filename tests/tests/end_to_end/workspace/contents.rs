//! Files of the workspace that the content store keeps.

use serde_json::json;
use wharf_tests::Setup;

use super::{ask, refusal, run, told};

const ADD: &str = "content-store__add_content_from_workspace";

#[tokio::test]
async fn what_a_command_made_is_kept_and_found() {
    let setup = Setup::new().with("profile = \"developer\"").bundled("workspace", "").bundled("content-store", "");
    let fixture = setup.open().await;
    run(
        &fixture,
        "mkdir reports; echo '# March\n\nThe harbour closed for two days.\n\n돛단배 요금이 올랐다.' > reports/march.md",
    )
    .await;
    let added = told(fixture.call(ADD, json!({"path": "reports/march.md"})).await);
    let id = &added.structured["content_id"];
    for query in ["harbour closed", "돛단배 요금"] {
        let found = told(fixture.call("content-store__search_content", json!({"query": query})).await);
        let hit = &found.structured["hits"][0];
        assert_eq!((&hit["content_id"], &hit["name"]), (id, &json!("march.md")), "{query}: {found:?}");
    }
    // It is a copy.
    run(&fixture, "rm -r reports").await;
    let found = told(fixture.call("content-store__search_content", json!({"query": "harbour"})).await);
    assert_eq!(&found.structured["hits"][0]["content_id"], id);
    for (path, word) in [("reports/march.md", "not-found"), ("../x", "leads out"), ("/etc/passwd", "leads out")] {
        let refusal = refusal(fixture.call(ADD, json!({"path": path})).await);
        assert!(refusal.contains(word), "{path}: {refusal}");
    }
    ask(&fixture, "write_file", json!({"path": "x.pdf", "content": "no document"})).await;
    let refusal = refusal(fixture.call(ADD, json!({"path": "x.pdf"})).await);
    assert!(refusal.starts_with("invalid"), "{refusal}");
}

#[tokio::test]
async fn without_the_grant_it_says_which_one_and_what_works_without_it() {
    let fixture = Setup::new().bundled("content-store", "").open().await;
    let refusal = refusal(fixture.call(ADD, json!({"path": "x"})).await);
    for word in ["denied", "[plugin.content-store.grants.workspace]", "add_content takes"] {
        assert!(refusal.contains(word), "{word}: {refusal}");
    }
}
