//! Tools under their own names, without that of their plugin before them.

use serde_json::json;
use wharf_tests::{Data, Setup};

use super::{listed, with_tools};

#[tokio::test]
async fn a_plugin_without_a_prefix_lists_its_tools_under_their_own_names() {
    let data = Data::new();
    let path = data.write("plain.wasm", with_tools(&["run", "walk"]));
    let fixture = Setup::bare().plugin("plain", &path, "prefix = false").open_in(data).await;
    assert_eq!(listed(&fixture.host), ["run", "walk"], "{:?}", fixture.host.rejected());
    let answer = fixture.call("walk", json!({})).await.expect("found by the name that is listed");
    assert_eq!(answer.content[0].as_text(), Some("yes"));
    let missing = fixture.call("plain__walk", json!({})).await.expect_err("is not listed");
    assert!(missing.message.contains("plain__walk"), "{missing}");
}

#[tokio::test]
async fn a_name_that_is_taken_is_refused_with_the_plugin_that_has_it() {
    let data = Data::new();
    let first = data.write("first.wasm", with_tools(&["run", "walk"]));
    let second = data.write("second.wasm", with_tools(&["crawl", "walk"]));
    let third = data.write("third.wasm", with_tools(&["walk"]));
    let setup = Setup::bare()
        .plugin("first", &first, "prefix = false")
        .plugin("second", &second, "prefix = false")
        .plugin("third", &third, "");
    let fixture = setup.open_in(data).await;
    assert_eq!(listed(&fixture.host), ["run", "third__walk", "walk"]);
    let rejected = fixture.host.rejected();
    assert_eq!(rejected.len(), 1, "{rejected:?}");
    assert_eq!(rejected[0].name.as_str(), "second");
    for part in ["`walk`", "plugin first", "[plugin.second]", "`prefix = false`"] {
        assert!(rejected[0].reason.contains(part), "{}", rejected[0].reason);
    }
}
