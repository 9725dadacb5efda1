use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn receipt(name: &str, component: &[u8]) -> Receipt {
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
        replaced: None,
    }
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
    added.add(&receipt("one", b"first"), b"first").expect("kept");
    added.add(&receipt("two", b"first"), b"first").expect("the same component under another name");
    let again = AddedPlugins::of(data.path());
    let digest = Digest::of(b"first");
    assert_eq!(again.list().expect("read").into_values().collect::<Vec<_>>(), [digest, digest]);
    assert_eq!(again.component(&digest, 100).expect("read"), b"first");
    let one = "one".parse().expect("legal");
    assert_eq!(again.receipt(&one).expect("read"), Some(receipt("one", b"first")));
    added.replace(&receipt("one", b"second"), b"second").expect("replaced");
    assert_eq!(files(&data.path().join("plugins/components")).len(), 2, "the other one still needs the first");
    added.remove(&one).expect("removed");
    added.remove(&"two".parse().expect("legal")).expect("removed");
    assert!(files(&data.path().join("plugins/components")).is_empty());
    assert!(files(&data.path().join("plugins/receipts")).is_empty());
    assert!(matches!(added.remove(&one), Err(AddedError::Unknown { .. })));
}

#[test]
fn a_name_is_added_once_and_replaced_only_where_it_is() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    assert!(matches!(added.replace(&receipt("one", b"x"), b"x"), Err(AddedError::Unknown { .. })));
    added.add(&receipt("one", b"x"), b"x").expect("kept");
    let taken = added.add(&receipt("one", b"y"), b"y").expect_err("taken");
    assert!(taken.to_string().contains("wharf plugin update one"), "{taken}");
    assert!(added.switch(&"one".parse().expect("legal"), false).expect("switched"));
    assert!(!added.switch(&"one".parse().expect("legal"), false).expect("is off already"));
    assert_eq!(added.disabled().expect("read").len(), 1);
    added.remove(&"one".parse().expect("legal")).expect("removed");
    assert!(added.disabled().expect("read").is_empty(), "another plugin of the name begins anew");
}

#[test]
fn a_component_that_was_changed_on_disk_is_not_handed_out() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    added.add(&receipt("one", b"good"), b"good").expect("kept");
    let digest = Digest::of(b"good");
    fs::write(data.path().join(format!("plugins/components/{}.wasm", digest.to_hex())), b"evil").expect("written");
    assert!(matches!(added.component(&digest, 100), Err(AddedError::Changed { .. })));
    added.replace(&receipt("one", b"good"), b"good").expect("put right");
    assert_eq!(added.component(&digest, 100).expect("read"), b"good");
}

#[test]
fn nobody_else_reads_what_is_kept_and_what_is_no_set_is_refused() {
    let data = tempfile::tempdir().expect("a directory");
    let added = AddedPlugins::of(data.path());
    added.add(&receipt("one", b"x"), b"x").expect("kept");
    let plugins = data.path().join("plugins");
    let mode = |path: &Path| path.metadata().expect("is there").permissions().mode() & 0o777;
    assert_eq!((mode(&plugins), mode(&plugins.join(SET))), (0o700, 0o600));
    for text in ["", "[]", "{\"format\": 2, \"plugins\": {}, \"disabled\": []}"] {
        fs::write(plugins.join(SET), text).expect("written");
        let error = added.list().expect_err("is no set");
        assert!(error.to_string().contains("put it aside"), "{error}");
    }
}
