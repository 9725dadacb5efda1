//! Lists without end, answers that are not valid, and calls that do not return.

use serde_json::json;
use wharf::{Code, InputGiven, OfferService, offer::CompletionOf};
use wharf_tests::{Data, Setup, object, viewer};

use super::{asking, attacker, offering};

#[tokio::test]
async fn lists_without_end_and_listings_that_do_not_return_keep_a_plugin_out_and_nothing_else() {
    let files = Data::alone();
    for attack in ["many-prompts", "many-claims", "many-templates", "trap", "spin"] {
        let fixture = Setup::new().plugin("attack", &attacker(&files, attack), "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        assert_eq!(rejected.len(), 1, "{attack}");
        assert!(rejected[0].reason.contains("could not list"), "{attack}: {}", rejected[0].reason);
        fixture.works().await;
    }
}

#[tokio::test]
async fn a_plugin_that_lists_too_much_hides_its_own_resources_and_no_others() {
    let files = Data::alone();
    for attack in ["many-resources", "1025-resources", "foreign-resource", "fail-listing", "trap-listing"] {
        let fixture = offering().plugin("attack", &attacker(&files, attack), "").open().await;
        let listed = fixture.host.resources(&asking()).await.expect("those of the others");
        assert_eq!(listed.len(), 3, "{attack}");
        assert!(listed.iter().all(|resource| resource.uri.starts_with("test://")), "{attack}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_the_contract_reaches_nobody() {
    let files = Data::alone();
    let fixture = Setup::new().plugin("attack", &attacker(&files, "none"), "").open().await;
    let prompt = async |name: &str| {
        fixture
            .host
            .prompt(&asking(), &format!("attack__{name}"), &object(json!({"text": "t"})).into(), InputGiven::default())
            .await
    };
    for (name, code, told) in [
        ("large", Code::Limit, "output_bytes"),
        ("state", Code::Internal, "inputRequired"),
        ("role", Code::Internal, "neither `user` nor `assistant`"),
        ("many", Code::Internal, "more than 256 parts"),
        ("fail", Code::Internal, "no[2J"),
    ] {
        let error = prompt(name).await.expect_err(name);
        assert!(error.code == code && error.message.contains(told), "{name}: {error}");
    }
    let shown = prompt("control").await.expect("a prompt");
    assert_eq!(shown.messages[0].content.as_text(), Some("a[2Jb"));
    assert_eq!(fixture.host.prompts(viewer())[0].description, "An attack[2J.");
    let asked = prompt("ask").await.expect("a round");
    assert_eq!(asked.input_required.and_then(|required| required.state).as_deref(), Some("round"));

    for (name, code, told) in [
        ("foreign", Code::Internal, "does not claim"),
        ("nothing", Code::Internal, "gave nothing"),
        ("many", Code::Internal, "more than 256 parts"),
        ("large", Code::Limit, "output_bytes"),
    ] {
        let error = fixture.host.read_resource(&asking(), &format!("attack://{name}")).await.expect_err(name);
        assert!(error.code == code && error.message.contains(told), "{name}: {error}");
    }
    let read = fixture.host.read_resource(&asking(), "attack://control").await.expect("a text");
    assert_eq!(read[0].content.as_text(), Some("a[2Jb"));
}

#[tokio::test]
async fn reading_that_does_not_return_ends_with_its_time() {
    let files = Data::alone();
    let setup = Setup::new().plugin("attack", &attacker(&files, "none"), "").limit("cpu_time_milliseconds", 50);
    let fixture = setup.open().await;
    let error = fixture.host.read_resource(&asking(), "attack://spin").await.expect_err("it spins");
    assert!(error.code == Code::Timeout && error.message.contains("cpu_time_milliseconds"), "{error}");
    fixture.works().await;
}

#[tokio::test]
async fn completions_are_cut_to_what_a_client_may_show() {
    let files = Data::alone();
    let fixture = Setup::new().plugin("attack", &attacker(&files, "none"), "").open().await;
    let complete = async |typed: &str| {
        let of = CompletionOf::Prompt("attack__ask".to_owned());
        fixture.host.complete(&asking(), of, "text", typed, object(json!({}))).await
    };
    let shown = complete("200").await.expect("words");
    assert_eq!((shown.values.len(), shown.has_more), (100, true));
    assert_eq!(complete("long").await.expect("a word").values[0].len(), 1_024);
    // The plugin knows its own name of the prompt.
    assert_eq!(complete("x").await.expect("a word").values, ["ask[2J"]);
    assert_eq!(complete("many").await.expect_err("too many").code, Code::Limit);
    fixture.works().await;
}
