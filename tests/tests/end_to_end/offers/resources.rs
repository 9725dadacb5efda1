//! Resources and their templates.

use wharf::{Code, OfferService};
use wharf_tests::{Data, until, viewer};

use super::{asking, offering, open};

#[tokio::test]
async fn resources_are_listed_by_address_and_templates_stand_for_families() {
    let fixture = open().await;
    assert!(fixture.host.has_resources(viewer()));
    let listed = fixture.host.resources(&asking()).await.expect("a listing");
    let addresses: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(addresses, ["test://static-binary", "test://static-text", "test://watched-resource"]);
    assert_eq!((listed[1].name.as_str(), listed[1].mime_type.as_deref()), ("Static text", Some("text/plain")));
    let templates = fixture.host.templates(viewer());
    assert_eq!(templates.len(), 1);
    assert_eq!(templates[0].uri_template, "test://template/{id}/data");
}

#[tokio::test]
async fn a_resource_is_read_as_text_as_bytes_and_by_its_template() {
    let fixture = open().await;
    let read = async |uri| fixture.host.read_resource(&asking(), uri).await.expect("it is there").remove(0);
    let text = read("test://static-text").await;
    assert_eq!(text.content.as_text(), Some("This is the content of the static text resource."));
    let picture = read("test://static-binary").await;
    assert!(picture.content.mime_type == "image/png" && picture.content.data.starts_with(b"\x89PNG"));
    let json = read("test://template/123/data").await;
    let value: serde_json::Value = serde_json::from_slice(&json.content.data).expect("JSON");
    assert_eq!(value, serde_json::json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"}));
    assert_eq!((json.uri.as_str(), json.content.mime_type.as_str()), ("test://template/123/data", "application/json"));
}

#[tokio::test]
async fn an_address_of_nobody_and_one_that_its_plugin_does_not_know_are_not_found() {
    let fixture = open().await;
    let long = format!("test://{}", "x".repeat(3_000));
    for uri in ["nobody://x", "test:/static-text", "TEST://static-text", "", "test://unknown", &long] {
        let error = fixture.host.read_resource(&asking(), uri).await.expect_err(uri);
        assert_eq!(error.code, Code::NotFound, "{uri}: {error}");
    }
}

#[tokio::test]
async fn what_is_offered_is_kept_with_the_compiled_code_and_an_entry_that_cannot_be_read_is_made_again() {
    let setup = offering();
    let data = Data::new();
    let first = setup.open_in(data).await;
    let (prompts, templates) = (first.host.prompts(viewer()), first.host.templates(viewer()));
    let data = first.data;
    drop(first.host);
    let second = setup.open_in(data).await;
    assert_eq!((second.host.prompts(viewer()), second.host.templates(viewer())), (prompts.clone(), templates));
    assert!(second.host.read_resource(&asking(), "test://static-text").await.is_ok());
    let data = second.data;
    drop(second.host);
    for entry in std::fs::read_dir(data.path().join("cache")).expect("there is a cache") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|found| found == "tools") {
            std::fs::write(&path, b"{\"tools\":[],\"imports\":[]}").expect("written");
        }
    }
    let third = setup.open_in(data).await;
    assert_eq!(third.host.prompts(viewer()), prompts);
}

#[tokio::test]
async fn asking_takes_a_place_as_a_call_does_and_gives_it_back() {
    let fixture = offering().host_limit("calls_in_flight", 1).open().await;
    let call = fixture.start(&wharf_tests::context("local", "test"), "hostile__spin", serde_json::json!({}));
    fixture.load_is(1, 0).await;
    let (host, asked) = (fixture.host.clone(), asking());
    let reading = tokio::spawn(async move { host.read_resource(&asked, "test://static-text").await });
    fixture.load_is(1, 1).await;
    let (host, cancelled) = (fixture.host.clone(), asking());
    let cancel = cancelled.cancel.clone();
    let given_up = tokio::spawn(async move { host.read_resource(&cancelled, "test://static-text").await });
    fixture.load_is(1, 2).await;
    cancel.cancel();
    let error = given_up.await.expect("no panic").expect_err("cancelled");
    assert_eq!(error.code, Code::Cancelled);
    call.cancel.cancel();
    assert!(reading.await.expect("no panic").is_ok());
    until("nothing runs", || fixture.host.load() == (0, 0)).await;
}
