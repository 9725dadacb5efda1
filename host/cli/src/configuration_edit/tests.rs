//! Changes of files as operators write them.

use std::fs;

use wharf::{Digest, configuration::KnownComponent};

use super::*;

const WRITTEN: &str = "\
# Ours.
profile = \"default\" # not developer

[plugin.x] # the one
source = \"x.wasm\"
digest = \"blake3:0000000000000000000000000000000000000000000000000000000000000000\" # by hand

[plugin.x.grants.process] # builds
reason = \"builds\"
programs = [\"make\"] # no more

[limits]
output_bytes = 5 # small
";

fn name() -> PluginName {
    "x".parse().expect("legal")
}

fn granting(capability: Capability, expires: Option<&str>, keys: Vec<(String, GrantValue)>) -> GrantChange {
    let expires = expires.map(|expires| expires.parse().expect("a day"));
    GrantChange { capability, reason: "says \"why\"".to_owned(), expires, keys }
}

#[test]
fn a_change_keeps_comments_and_order_and_adds_what_is_missing_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.toml");
    fs::write(&path, WRITTEN).expect("written");
    let mut edit = ConfigurationEdit::open(&path).expect("opens");
    let programs = GrantValue::Names(vec!["git".to_owned(), "make".to_owned()]);
    edit.grant(&name(), &granting(Capability::Process, None, vec![("programs".to_owned(), programs)])).expect("ok");
    edit.grant(&name(), &granting(Capability::State, Some("2027-01-31"), Vec::new())).expect("ok");
    let digest = Digest::of(b"x");
    let settings = edit.check().expect("usable").settings_of(&name());
    edit.confirm(&name(), &settings, KnownComponent::unsigned(digest), None).expect("ok");
    edit.save().expect("saved");
    let written = fs::read_to_string(&path).expect("read");
    let expected = WRITTEN
        .replace("blake3:0000000000000000000000000000000000000000000000000000000000000000", &digest.to_string())
        .replace("reason = \"builds\"", "reason = 'says \"why\"'")
        .replace(
            "[\"make\"] # no more\n",
            "[\"make\", \"git\"] # no more\n\n[plugin.x.grants.state]\nreason = 'says \"why\"'\nexpires = 2027-01-31\n",
        );
    assert_eq!(written, expected);
    assert!(edit.check().expect("right").plugins[&name()].grants.as_ref().is_some_and(|all| all.state.is_some()));
}

#[test]
fn what_would_not_be_usable_or_has_changed_meanwhile_is_not_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.toml");
    fs::write(&path, WRITTEN).expect("written");
    let mut edit = ConfigurationEdit::open(&path).expect("opens");
    let origin = GrantValue::Names(vec!["no origin".to_owned()]);
    let keys = vec![("origins".to_owned(), origin)];
    edit.grant(&name(), &granting(Capability::WebView, None, keys)).expect("not checked yet");
    assert!(matches!(edit.save(), Err(EditError::Refused { .. })));
    let mut edit = ConfigurationEdit::open(&path).expect("opens");
    edit.grant(&name(), &granting(Capability::State, None, Vec::new())).expect("ok");
    fs::write(&path, "# somebody else").expect("written");
    assert!(matches!(edit.save(), Err(EditError::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).expect("read"), "# somebody else");
    assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 1, "nothing is left behind");
}

#[test]
fn what_is_taken_back_is_gone_and_a_bundled_plugin_does_not_get_its_defaults_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("deeper").join("wharf.toml");
    let mut edit = ConfigurationEdit::open(&path).expect("a new one");
    assert!(!edit.revoke(&name(), None).expect("nothing"));
    edit.source(&name(), Path::new("/x.wasm")).expect("ok");
    edit.grant(&name(), &granting(Capability::State, None, Vec::new())).expect("ok");
    edit.grant(&name(), &granting(Capability::Events, None, Vec::new())).expect("ok");
    assert!(edit.revoke(&name(), Some(Capability::State)).expect("ok"));
    assert!(!edit.revoke(&name(), Some(Capability::State)).expect("ok"));
    assert!(edit.revoke(&name(), None).expect("ok"));
    edit.save().expect("saved");
    let configuration = Configuration::read(&path).expect("right");
    assert_eq!(configuration.plugins[&name()].grants, Some(Grants::default()), "{}", edit.text());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay_as_they_were() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("a directory");
    let (path, link) = (directory.path().join("real.toml"), directory.path().join("wharf.toml"));
    fs::write(&path, WRITTEN).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    let mut edit = ConfigurationEdit::open(&link).expect("opens");
    edit.grant(&name(), &granting(Capability::State, None, Vec::new())).expect("ok");
    edit.save().expect("saved");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&path).expect("read").contains("[plugin.x.grants.state]"));
}

#[test]
fn inline_tables_and_dotted_keys_are_understood_and_what_is_no_table_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wharf.toml");
    for text in [
        "plugin.x.source = \"x.wasm\"\nplugin.x.grants.events.reason = \"r\"\n",
        "[plugin]\nx = { source = \"x.wasm\", grants = { events = { reason = \"r\" } } }\n",
    ] {
        fs::write(&path, text).expect("written");
        let mut edit = ConfigurationEdit::open(&path).expect("opens");
        edit.grant(&name(), &granting(Capability::State, Some("2027-01-31"), Vec::new())).expect("ok");
        edit.save().expect(text);
        let grants = Configuration::read(&path).expect("right").plugins[&name()].grants.clone().expect("some");
        assert!(grants.state.is_some() && grants.events.is_some(), "{}", edit.text());
    }
    fs::write(&path, "plugin = 5").expect("written");
    let mut edit = ConfigurationEdit::open(&path).expect("opens");
    let refused = edit.grant(&name(), &granting(Capability::State, None, Vec::new()));
    assert!(matches!(refused, Err(EditError::NoTable { key }) if key == "plugin"));
}
