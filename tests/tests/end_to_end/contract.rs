//! A plugin that was built for a released text of the contract still loads.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Map, json};
use wharf::{
    Caller, InputGiven, OfferService,
    offer::{CompletionOf, Role},
};
use wharf_tests::{Data, Setup, context, object, viewer};

/// The folder of each released text, with its components.
fn released() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contract");
    let entries = std::fs::read_dir(folder).expect("the released texts");
    let versions: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    assert!(!versions.is_empty(), "no released text is stored");
    versions
}

#[tokio::test]
async fn every_function_of_every_released_text_is_still_there() {
    for version in released() {
        let files = Data::alone();
        let component = wat::parse_file(version.join("imports.wat")).expect("a component");
        let path = files.write("imports.wasm", component);
        let fixture = Setup::new().plugin("imports", &path, "").open_in(Data::new()).await;
        // Its bodies trap, so it is linked and then cannot list its tools.
        let reason = &fixture.host.rejected()[0].reason;
        assert!(reason.contains("could not list its tools"), "{}: {reason}", version.display());
    }
}

#[tokio::test]
async fn a_plugin_of_every_released_text_still_runs() {
    for version in released() {
        let files = Data::alone();
        let component = wat::parse_file(version.join("running.wat")).expect("a component");
        let path = files.write("running.wasm", component);
        let fixture = Setup::new().plugin("running", &path, "").open().await;
        let answer = fixture.call("running__run", json!({})).await.expect("answers");
        assert_eq!(answer.content[0].as_text(), Some("yes"), "{}", version.display());
    }
}

#[tokio::test]
async fn what_a_plugin_of_every_released_text_offers_beside_tools_is_still_understood() {
    let offering: Vec<_> = released().into_iter().map(|version| version.join("offering.wat")).collect();
    let offering: Vec<_> = offering.into_iter().filter(|path| path.exists()).collect();
    assert!(!offering.is_empty(), "no plugin that offers more than tools is stored");
    for stored in offering {
        let files = Data::alone();
        let path = files.write("offering.wasm", wat::parse_file(&stored).expect("a component"));
        let fixture = Setup::new().plugin("offering", &path, "").open().await;
        let host = &fixture.host;
        let asking = || Arc::new(Caller::new(context("local", "test")));

        let asked = fixture.call("offering__run", json!({})).await.expect("a round").input_required.expect("it asks");
        assert_eq!((asked.requests.len(), asked.state.as_deref()), (1, Some("hand")));
        let prompts = host.prompts(viewer());
        assert_eq!((prompts[0].name.as_str(), &prompts[0].meta["title"]), ("offering__say", &json!("Say")));
        assert_eq!((prompts[0].arguments[0].name.as_str(), prompts[0].arguments[0].required), ("word", true));
        let prompt = host
            .prompt(&asking(), "offering__say", &object(json!({"word": "w"})).into(), InputGiven::default())
            .await
            .expect("a prompt");
        assert_eq!((prompt.messages[0].role, prompt.messages[0].content.as_text()), (Role::Assistant, Some("yes")));
        assert_eq!(prompt.description.as_deref(), Some("By hand."));
        assert_eq!(host.templates(viewer())[0].uri_template, "hand://{id}");
        assert_eq!(host.resources(&asking()).await.expect("a listing")[0].uri, "hand://one");
        let read = host.read_resource(&asking(), "hand://one").await.expect("it is there");
        assert_eq!(read[0].content.as_text(), Some("yes"));
        let of = CompletionOf::Prompt("offering__say".to_owned());
        let words = host.complete(&asking(), of, "word", "y", Map::new()).await.expect("words");
        assert_eq!((words.values, words.total, words.has_more), (vec!["yes".to_owned()], Some(1), false));
    }
}
