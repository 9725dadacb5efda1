//! What a model sees of the tools before it calls one.

use wharf_playbook::WharfPlugin;
use wharf_sdk::Plugin;
use wharf_sdk::testing::check_definitions;

#[test]
fn every_tool_is_there_in_a_fixed_order() {
    let names: Vec<_> = WharfPlugin::definitions().iter().map(|definition| definition.name).collect();
    assert_eq!(
        names,
        [
            "create_playbook",
            "get_playbook",
            "select_playbook",
            "update_playbook",
            "delete_playbook",
            "list_playbooks",
            "get_playbook_page",
            "get_active_playbook",
            "complete_step",
        ]
    );
}

#[test]
fn every_tool_says_all_that_a_model_needs() {
    check_definitions::<WharfPlugin>();
}

#[test]
fn what_a_client_is_told_of_a_tool_fits_what_it_does() {
    for definition in WharfPlugin::definitions() {
        let details = definition.details;
        let reads = definition.name.starts_with("get_") || definition.name.starts_with("list_");
        assert_eq!(details.read_only, reads, "{}", definition.name);
        assert_eq!(details.destructive, definition.name.starts_with("delete_"), "{}", definition.name);
        assert!(!details.open_world, "{}", definition.name);
    }
}
