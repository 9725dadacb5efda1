use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::{found_materials::FoundMaterials, vetting::FoundSignatures};

pub(crate) fn receipt(name: &str, component: &[u8]) -> Receipt {
    Receipt {
        name: name.parse().expect("legal"),
        source: "/somewhere/x.wasm".to_owned(),
        manifest: None,
        pinned: false,
        functions: false,
        digest: Digest::of(component),
        bytes: component.len() as u64,
        imports: vec!["wharf:plugin/state@0.1.0".to_owned()],
        wanted_grants: vec!["state".to_owned()],
        grants: Vec::new(),
        tools: vec!["run".to_owned()],
        added: "2026-01-02T03:04:05Z".to_owned(),
        by: "command".to_owned(),
        evidence: None,
        signatures: FoundSignatures::default(),
        materials: FoundMaterials::default(),
        replaced: None,
    }
}

fn add(added: &AddedPlugins, name: &str, component: &[u8]) -> Result<bool, AddedError> {
    added.apply(InstalledChange::Add { receipt: &receipt(name, component), component })
}

fn replace(added: &AddedPlugins, name: &str, component: &[u8]) -> Result<bool, AddedError> {
    added.apply(InstalledChange::Replace { receipt: &receipt(name, component), component })
}

fn remove(added: &AddedPlugins, name: &str) -> Result<bool, AddedError> {
    added.apply(InstalledChange::Remove(&name.parse().expect("legal")))
}

fn switch_off(added: &AddedPlugins, name: &str) -> Result<bool, AddedError> {
    added.apply(InstalledChange::Switch { name: &name.parse().expect("legal"), on: false })
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_is_added_is_there_for_the_next_one_and_what_is_removed_leaves_nothing() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    assert!(added.list().expect("nothing yet").is_empty() && files(data.path()).is_empty());
    add(&added, "one", b"first").expect("kept");
    add(&added, "two", b"first").expect("the same component under another name");
    let again = AddedPlugins::of(data.path());
    let digest = Digest::of(b"first");
    assert_eq!(again.list().expect("read").into_values().collect::<Vec<_>>(), [digest, digest]);
    assert_eq!(again.component(&digest, 100).expect("read"), b"first");
    let one = "one".parse().expect("legal");
    assert_eq!(again.receipt(&one).expect("read"), Some(receipt("one", b"first")));
    replace(&added, "one", b"second").expect("replaced");
    assert_eq!(files(&data.path().join("plugins/components")).len(), 2, "the other one still needs the first");
    remove(&added, "one").expect("removed");
    remove(&added, "two").expect("removed");
    assert!(files(&data.path().join("plugins/components")).is_empty());
    assert!(files(&data.path().join("plugins/receipts")).is_empty());
    assert!(matches!(remove(&added, "one"), Err(AddedError::Unknown { .. })));
}

#[test]
fn a_name_is_added_once_and_replaced_only_where_it_is() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    assert!(matches!(replace(&added, "one", b"x"), Err(AddedError::Unknown { .. })));
    add(&added, "one", b"x").expect("kept");
    let taken = add(&added, "one", b"y").expect_err("taken");
    assert!(taken.to_string().contains("wharf plugin update one"), "{taken}");
    assert!(switch_off(&added, "one").expect("switched"));
    assert!(!switch_off(&added, "one").expect("is off already"));
    assert_eq!(added.disabled().expect("read").len(), 1);
    remove(&added, "one").expect("removed");
    assert!(added.disabled().expect("read").is_empty(), "another plugin of the name begins anew");
}

#[test]
fn a_component_that_was_changed_on_disk_is_not_handed_out() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    add(&added, "one", b"good").expect("kept");
    let digest = Digest::of(b"good");
    fs::write(data.path().join(format!("plugins/components/{}.wasm", digest.to_hex())), b"evil").expect("written");
    assert!(matches!(added.component(&digest, 100), Err(AddedError::Changed { .. })));
    replace(&added, "one", b"good").expect("put right");
    assert_eq!(added.component(&digest, 100).expect("read"), b"good");
}

#[test]
fn nobody_else_reads_what_is_kept_and_what_is_no_set_is_refused() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    add(&added, "one", b"x").expect("kept");
    let plugins = data.path().join("plugins");
    let mode = |path: &Path| path.metadata().expect("is there").permissions().mode() & 0o777;
    assert_eq!((mode(&plugins), mode(&plugins.join(SET))), (0o700, 0o600));
    for text in ["", "[]", "{\"format\": 2, \"plugins\": {}, \"disabled\": []}"] {
        fs::write(plugins.join(SET), text).expect("written");
        let error = added.list().expect_err("is no set");
        assert!(error.to_string().contains("put it aside"), "{error}");
    }
}
