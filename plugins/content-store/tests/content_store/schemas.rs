//! What a model sees of the tools before it calls one.

use wharf_content_store::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::check_definitions;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "add_content",
            "list_contents",
            "read_content",
            "search_content",
            "delete_content",
            "get_content_info",
            "add_content_from_workspace",
            "add_contents"
        ]
    );
}

#[test]
fn every_tool_says_all_that_a_model_needs() {
    check_definitions::<WharfPlugin>();
}
