//! What plugins are asked for beside tools is told and counted apart from calls, by the
//! host's word for it.

use serde_json::json;
use wharf::{InputGiven, OfferService, offer::CompletionOf};
use wharf_tests::object;

use super::{asking, open};

#[tokio::test]
async fn what_is_asked_for_beside_tools_is_counted_without_its_name() {
    let fixture = open().await;
    let prompt = "conformance__test_simple_prompt";
    fixture.host.prompt(&asking(), prompt, &object(json!({})).into(), InputGiven::default()).await.expect("a prompt");
    fixture.host.resources(&asking()).await.expect("a list");
    fixture.host.read_resource(&asking(), "test://static-text").await.expect("a text");
    fixture.host.read_resource(&asking(), "test://secret-name").await.expect_err("there is none");
    let of = CompletionOf::Prompt("conformance__test_prompt_with_arguments".to_owned());
    fixture.host.complete(&asking(), of, "arg1", "te", object(json!({}))).await.expect("words");
    let metrics = fixture.host.metrics();
    for (word, outcome) in [
        ("prompt", "ok"),
        ("list-resources", "ok"),
        ("read-resource", "ok"),
        ("read-resource", "not-found"),
        ("complete", "ok"),
    ] {
        let line = format!(r#"wharf_offers_total{{plugin="conformance",tool="{word}",outcome="{outcome}"}} 1"#);
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    assert!(!metrics.contains("test_simple_prompt") && !metrics.contains("secret-name"), "{metrics}");
    assert!(!metrics.contains(r#"wharf_calls_total{plugin="conformance""#), "they are no calls of tools: {metrics}");
}
