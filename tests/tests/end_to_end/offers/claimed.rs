//! Addresses have one owner.

use wharf::OfferService;
use wharf_tests::{Data, Setup, component};

use super::{asking, attacker, offering};

#[tokio::test]
async fn a_plugin_that_claims_addresses_of_one_before_it_is_refused() {
    let files = Data::alone();
    let setup = offering().plugin("later", &attacker(&files, "claim-others"), "");
    let fixture = setup.open_in(Data::new()).await;
    let rejected = fixture.host.rejected();
    assert_eq!(rejected.len(), 1);
    let reason = &rejected[0].reason;
    for part in ["`test://static`", "plugin `conformance`", "`test://`"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert!(fixture.host.read_resource(&asking(), "test://static-text").await.is_ok());
    assert!(fixture.host.read_resource(&asking(), "attack://listed").await.is_err());
}

#[tokio::test]
async fn the_same_component_twice_is_refused_the_second_time_and_plugins_without_resources_never() {
    let echo = component("guest-echo");
    let setup = offering()
        .plugin("twice", &component("guest-conformance"), "")
        .plugin("other", &echo, "")
        .plugin("third", &echo, "");
    let fixture = setup.open_in(Data::new()).await;
    let rejected: Vec<_> = fixture.host.rejected().into_iter().map(|rejected| rejected.name.to_string()).collect();
    assert_eq!(rejected, ["twice"]);
}

#[tokio::test]
async fn a_plugin_that_claims_what_is_nobodys_or_lists_what_it_does_not_claim_is_refused() {
    let files = Data::alone();
    for (attack, told) in [
        ("claim-nothing", "claims 0 beginnings"),
        ("claim-all", "is no beginning of an address"),
        ("claim-files", "not for plugins"),
        ("claim-web", "names the host"),
        ("foreign-template", "does not start with what its plugin claims"),
        ("open-template", "does not start with what its plugin claims"),
        ("same-prompts", "there are two of them"),
        ("host-argument", "arguments"),
        ("257-prompts", "more than 256"),
        ("long-prompt", "description"),
    ] {
        let fixture = Setup::new().plugin("attack", &attacker(&files, attack), "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        assert_eq!(rejected.len(), 1, "{attack}");
        assert!(rejected[0].reason.contains(told), "{attack}: {}", rejected[0].reason);
        fixture.works().await;
    }
}
