//! Addresses that are forged: by the plugin that lists them, and by the
//! client that asks for them.

use wharf::{Code, OfferService};
use wharf_tests::Data;

use super::{asking, attacker, offering};

#[tokio::test]
async fn a_forged_address_is_listed_for_nobody_and_hides_no_others() {
    let files = Data::alone();
    for attack in ["uri-file", "uri-case", "uri-control", "uri-line", "uri-space", "uri-long"] {
        let fixture = offering().plugin("attack", &attacker(&files, attack), "").open().await;
        let listed = fixture.host.resources(&asking()).await.expect("those of the others");
        assert!(listed.len() == 3 && listed.iter().all(|one| one.uri.starts_with("test://")), "{attack}: {listed:?}");
        fixture.works().await;
    }
}

#[tokio::test]
async fn dots_and_schemes_in_an_address_lead_to_no_other_plugin_and_to_no_file() {
    let files = Data::alone();
    let fixture = offering().plugin("attack", &attacker(&files, "uri-dots"), "").open().await;
    let listed = fixture.host.resources(&asking()).await.expect("listed");
    let forged = listed.iter().find(|one| one.uri.starts_with("attack://")).expect("it claims what starts so");
    let long = format!("attack://{}", "x".repeat(2_048));
    // Its own plugin alone is asked, which knows nothing by this name.
    for uri in [&forged.uri, "attack://../../../etc/passwd", "attack://%2e%2e/%2e%2e/etc/passwd"] {
        let error = fixture.host.read_resource(&asking(), uri).await.expect_err(uri);
        assert_eq!((error.code, error.message.as_str()), (Code::NotFound, "there is none"), "{uri}");
    }
    // And nobody here.
    for uri in
        ["file:///etc/passwd", "/etc/passwd", "../attack://x", "ATTACK://x", " attack://x", "wharf://x", "", &long]
    {
        let error = fixture.host.read_resource(&asking(), uri).await.expect_err(uri);
        assert!(error.code == Code::NotFound && error.message != "there is none", "{uri}: {error}");
    }
    let told = fixture.host.read_resource(&asking(), "attack:\u{1b}[2J\u{7}").await.expect_err("nobody's");
    assert!(!told.message.contains(['\u{1b}', '\u{7}']), "{told}");
    fixture.works().await;
}
