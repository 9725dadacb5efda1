use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    thread,
};

use serde_json::{Value, json};
use wharf_test_support::sigstore::MinisignKey;

use wharf_trust::{FoundSignature, SignedArtifact};

use super::*;
use crate::configuration::{Configuration, DenySettings, TrustSettings};

fn list(sequence: u64, denied: &Value) -> String {
    json!({"format": 1, "sequence": sequence, "denied": denied}).to_string()
}

fn read(denied: &Value) -> Result<DeniedThings, InvalidDenyList> {
    DeniedThings::read(list(1, denied).as_bytes())
}

fn name() -> PluginName {
    "greeter".parse().expect("legal")
}

/// A component that says its version, where one is given.
fn component(version: Option<&str>) -> Component {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    if let Some(version) = version {
        let section = [b"\x07version", version.as_bytes()].concat();
        bytes.extend([0, u8::try_from(section.len()).expect("short")]);
        bytes.extend(section);
    }
    Component::new(bytes)
}

/// What a verified signature of a signer tells.
fn evidence(signer: &str) -> Evidence {
    serde_json::from_value(json!({"signer": signer, "form": "minisign", "covers": "component"})).expect("evidence")
}

fn denied(things: &Value, component: &Component, evidence: &[Evidence]) -> Option<String> {
    let list = DenyList::known(Arc::new(read(things).expect("a list")));
    list.check(&name(), component, false, evidence).err().map(|denied| denied.to_string())
}

#[test]
fn a_component_is_denied_by_either_digest_by_its_signer_or_by_its_version() {
    let one = component(Some("1.2.3"));
    let sha256 = sha256_hex(&one.bytes()).to_uppercase();
    let signer =
        ["minisign:0123456789ABCDEF", "https://example.com/a@refs/tags/v1 (https://issuer.example)"].map(evidence);
    for (thing, told) in [
        (json!({"digest": one.digest().to_string(), "reason": "leaks"}), "blake3:"),
        (json!({"digest": format!("sha256:{sha256}"), "reason": "leaks"}), "sha256:"),
        (json!({"signer": "https://example.com/a@* (https://issuer.example)", "reason": "leaks"}), "its signer"),
        (json!({"plugin": "greeter", "versions": ">=1.2, <1.3", "reason": "leaks"}), "version 1.2.3 of greeter"),
    ] {
        let told_of_it = denied(&json!([thing]), &one, &signer).unwrap_or_else(|| panic!("{thing}"));
        assert!(told_of_it.contains(told) && told_of_it.contains("leaks"), "{told_of_it}");
    }
    let others = json!([
        {"digest": Digest::of(b"another").to_string(), "reason": "r"},
        {"digest": format!("sha256:{}", "0".repeat(64)), "reason": "r"},
        {"signer": "https://example.com/b@* (https://issuer.example)", "reason": "r"},
        {"plugin": "greeter", "versions": "<1.2.3", "reason": "r"},
        {"plugin": "other", "versions": "*", "reason": "r"},
    ]);
    assert_eq!(denied(&others, &one, &signer), None);
    let by_signer = json!([{"signer": "https://example.com/a@* (https://issuer.example)", "reason": "r"}]);
    assert_eq!(denied(&by_signer, &one, &[]), None, "nobody is known to have signed it");
}

#[test]
fn signers_that_no_line_of_trust_knows_are_told() {
    let place = Place::new();
    let text = "[plugins]\ntrust = [{ key = \"key.pub\" }]\n[plugins.deny]\nsource = \"deny.json\"";
    let trust = Configuration::parse(text, place.directory.path()).expect("usable").trust;
    let vouching = SignedArtifact { component: b"x", manifest: None };
    let signature = FoundSignature::read(place.key.sign(b"x").as_bytes()).expect("a signature");
    let known = trust.policy.verify(vouching, &[signature]).expect("its key").signer;
    let other = "https://example.com/a@* (https://issuer.example)";
    fs::write(
        place.path("deny.json"),
        list(
            1,
            &json!([
                {"signer": known.to_string(), "reason": "r"},
                {"signer": other, "reason": "r"},
            ]),
        ),
    )
    .expect("written");
    let (keeper, settings) = (DenyKeeper::of(None), trust.deny.as_ref().expect("a list"));
    assert_eq!(keeper.take(&trust).unknown_signers(&trust.policy), [&other.parse().expect("a signer")]);
    assert_eq!(keeper.status(settings, &trust.policy).unknown_signers, [other]);
}

#[test]
fn a_component_that_hides_its_version_is_denied_where_versions_are() {
    let of_plugin = json!([{"plugin": "greeter", "versions": "<1.2.3", "reason": "leaks"}]);
    let told = denied(&of_plugin, &component(None), &[]).expect("denied");
    assert!(told.contains("does not say which it is"), "{told}");
    assert!(denied(&of_plugin, &component(Some("soon")), &[]).is_some());
}

#[test]
fn one_entry_that_is_not_understood_makes_the_list_unusable() {
    for wrong in [
        json!([{"reason": "nothing is named"}]),
        json!([{"digest": Digest::of(b"x").to_string(), "plugin": "greeter", "reason": "two things"}]),
        json!([{"plugin": "greeter", "reason": "no versions"}]),
        json!([{"digest": "sha256:00", "reason": "short"}]),
        json!([{"digest": "md5:00", "reason": "weak"}]),
        json!([{"plugin": "greeter", "versions": "new", "reason": "no version"}]),
        json!([{"publisher": "somebody", "reason": "of a later version"}]),
    ] {
        assert!(read(&wrong).is_err(), "{wrong}");
    }
    let later = json!({"format": 2, "sequence": 1, "denied": []}).to_string();
    assert_eq!(DeniedThings::read(later.as_bytes()), Err(InvalidDenyList::Format(2)));
}

/// A configuration with this list that trusts nobody.
fn trusting(settings: &DenySettings) -> TrustSettings {
    TrustSettings { deny: Some(settings.clone()), ..Configuration::parse("", Path::new("/")).expect("usable").trust }
}

/// A list in a file, its key, and who looks after it.
struct Place {
    directory: tempfile::TempDir,
    key: MinisignKey,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().expect("a directory"), key: MinisignKey::new() };
        fs::write(place.path("key.pub"), place.key.public()).expect("written");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn settings(&self, lines: &str) -> DenySettings {
        let text = format!("[plugins.deny]\nsource = \"deny.json\"\n{lines}");
        let configuration = Configuration::parse(&text, self.directory.path()).expect("usable");
        configuration.trust.deny.expect("a list")
    }

    fn signed(&self) -> DenySettings {
        self.settings("trust = [{ key = \"key.pub\" }]\nfails = \"closed\"")
    }

    fn write(&self, sequence: u64, denied: &Component, key: &MinisignKey) {
        let list = list(sequence, &json!([{"digest": denied.digest().to_string(), "reason": "leaks"}]));
        fs::write(self.path("deny.json.minisig"), key.sign(list.as_bytes())).expect("written");
        fs::write(self.path("deny.json"), list).expect("written");
    }

    fn keeper(&self) -> DenyKeeper {
        DenyKeeper::of(Some(&self.path("data")))
    }
}

fn allows(list: &DenyList, component: &Component) -> bool {
    list.check(&name(), component, false, &[]).is_ok()
}

#[test]
fn a_list_counts_where_it_is_signed_and_an_older_one_takes_no_newer_ones_place() {
    let (place, bad, good) = (Place::new(), component(Some("1.0.0")), component(Some("2.0.0")));
    let (settings, keeper) = (place.signed(), place.keeper());
    place.write(5, &bad, &place.key);
    assert!(keeper.refresh(&settings).expect("signed"), "the first one");
    assert!(!keeper.refresh(&settings).expect("signed"), "the same one");
    let holds = |keeper: &DenyKeeper| {
        let list = keeper.current(Some(&settings));
        !allows(&list, &bad) && allows(&list, &good)
    };
    assert!(holds(&keeper));
    // An older one that was signed once, a newer one of somebody else, one that was changed.
    place.write(4, &good, &place.key);
    assert!(matches!(keeper.refresh(&settings), Err(DenyListUnavailable::Older { found: 4, known: 5, .. })));
    place.write(6, &good, &MinisignKey::new());
    assert!(matches!(keeper.refresh(&settings), Err(DenyListUnavailable::Signature { .. })));
    place.write(6, &good, &place.key);
    let changed = fs::read_to_string(place.path("deny.json")).expect("read").replace("leaks", "is fine");
    fs::write(place.path("deny.json"), changed).expect("written");
    assert!(matches!(keeper.refresh(&settings), Err(DenyListUnavailable::Signature { .. })));
    fs::remove_file(place.path("deny.json.minisig")).expect("removed");
    assert!(matches!(keeper.refresh(&settings), Err(DenyListUnavailable::Signature { .. })));
    assert!(holds(&keeper) && holds(&place.keeper()), "the last good one holds, for the next host, too");
}

#[test]
fn without_a_list_nothing_runs_but_what_is_bundled_or_all_of_it_as_the_operator_says() {
    let (place, any) = (Place::new(), component(None));
    let closed = place.keeper().current(Some(&place.signed()));
    assert!(matches!(closed.check(&name(), &any, false, &[]), Err(Denied::NoList { .. })));
    assert_eq!(closed.check(&name(), &any, true, &[]), Ok(()));
    let open = place.keeper().current(Some(&place.settings("trust = [{ key = \"key.pub\" }]")));
    assert!(allows(&open, &any));
    assert!(allows(&place.keeper().current(None), &any), "no list is configured");
}

#[test]
fn a_host_hears_of_another_list_once_and_of_a_missing_one_where_that_matters() {
    let (place, bad) = (Place::new(), component(Some("1.0.0")));
    let (settings, keeper) = (place.signed(), place.keeper());
    assert!(keeper.look(&settings), "nothing runs any more");
    assert!(!keeper.look(&settings), "as before");
    place.write(1, &bad, &place.key);
    assert!(keeper.look(&settings), "there is a list");
    assert!(!keeper.look(&settings), "as before");
    fs::remove_file(place.path("deny.json")).expect("removed");
    assert!(!keeper.look(&settings), "the last one is young enough");
    assert!(!allows(&keeper.current(Some(&settings)), &bad));
}

#[test]
fn each_host_of_a_data_directory_hears_of_a_list_that_another_one_or_a_command_fetched() {
    let (place, bad) = (Place::new(), component(Some("1.0.0")));
    let settings = place.signed();
    let (one, two) = (place.keeper(), place.keeper());
    place.write(1, &component(Some("2.0.0")), &place.key);
    for host in [&one, &two] {
        assert!(allows(&host.take(&trusting(&settings)), &bad));
        assert!(!host.look(&settings), "what it goes by");
    }
    place.write(10, &bad, &place.key);
    assert!(one.look(&settings) && !one.look(&settings));
    assert!(!allows(&place.keeper().current(Some(&settings)), &bad), "a command");
    assert!(two.look(&settings) && !two.look(&settings));
    assert!(!allows(&two.take(&trusting(&settings)), &bad));
}

/// Makes the copy of a list older, as it is after so many seconds.
fn age(place: &Place, seconds: u64) {
    let path = place.path("data/plugins").join(COPY);
    let mut copy: Value = serde_json::from_slice(&fs::read(&path).expect("a copy")).expect("JSON");
    copy["fetched"] = json!(copy["fetched"].as_u64().expect("a time") - seconds);
    fs::write(&path, copy.to_string()).expect("written");
}

#[test]
fn a_list_beyond_its_age_holds_or_lets_nothing_run_as_the_operator_says() {
    let (place, bad, good) = (Place::new(), component(Some("1.0.0")), component(Some("2.0.0")));
    let closed = place.signed();
    let open = place.settings("trust = [{ key = \"key.pub\" }]");
    place.write(1, &bad, &place.key);
    place.keeper().refresh(&closed).expect("signed");
    // Nobody has a newer one.
    fs::remove_file(place.path("deny.json")).expect("removed");
    age(&place, 86_000);
    let allowed =
        |settings: &DenySettings| [&bad, &good].map(|one| allows(&place.keeper().current(Some(settings)), one));
    assert_eq!((allowed(&closed), allowed(&open)), ([false, true], [false, true]), "young enough");
    age(&place, 1_000);
    assert_eq!((allowed(&closed), allowed(&open)), ([false, false], [false, true]));
    // A host that starts by it unloads all but what is bundled, and goes on once there is a list.
    let host = place.keeper();
    assert!(host.look(&closed) && !host.look(&closed));
    place.write(2, &bad, &place.key);
    assert!(host.look(&closed));
    assert!(allows(&host.take(&trusting(&closed)), &good));
}

#[test]
fn a_list_from_an_address_is_fetched_once_it_is_due() {
    let (place, bad) = (Place::new(), component(Some("1.0.0")));
    let text = format!(
        "[plugins.deny]\nsource = \"{}\"\ntrust = [{{ key = \"key.pub\" }}]",
        served(place.directory.path(), "deny.json")
    );
    let settings = Configuration::parse(&text, place.directory.path()).expect("usable").trust.deny.expect("a list");
    place.write(1, &component(Some("2.0.0")), &place.key);
    place.keeper().refresh(&settings).expect("signed");
    place.write(2, &bad, &place.key);
    for (older, is_due) in [(3_500, false), (200, true)] {
        age(&place, older);
        let host = place.keeper();
        host.take(&trusting(&settings));
        assert_eq!(host.look(&settings), is_due, "{older}");
    }
    assert!(!allows(&place.keeper().current(Some(&settings)), &bad));
}

/// Serves the files of a directory on the loopback: as the address of one of them.
fn served(directory: &Path, name: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = format!("http://{}/{name}", listener.local_addr().expect("bound"));
    let directory = directory.to_owned();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let read = stream.read(&mut head).unwrap_or_default();
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let name = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let (status, body) = fs::read(directory.join(name)).map_or((404, Vec::new()), |body| (200, body));
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that has gone does not want it.
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    address
}

#[test]
fn a_host_takes_a_list_from_an_address_that_a_command_fetched_before_it_is_due() {
    let (place, bad) = (Place::new(), component(Some("1.0.0")));
    let text = format!(
        "[plugins.deny]\nsource = \"{}\"\ntrust = [{{ key = \"key.pub\" }}]",
        served(place.directory.path(), "deny.json")
    );
    let settings = Configuration::parse(&text, place.directory.path()).expect("usable").trust.deny.expect("a list");
    let host = place.keeper();
    place.write(1, &component(Some("2.0.0")), &place.key);
    assert!(allows(&host.take(&trusting(&settings)), &bad));
    place.write(10, &bad, &place.key);
    assert!(!host.look(&settings), "it asks again in an hour");
    assert!(place.keeper().refresh(&settings).expect("signed"), "`wharf plugin denied --refresh`");
    assert!(host.look(&settings) && !host.look(&settings));
    assert!(!allows(&host.take(&trusting(&settings)), &bad));
}

#[test]
fn a_list_from_another_machine_needs_somebody_who_may_sign_it() {
    let text = "[plugins.deny]\nsource = \"https://lists.example/deny.json\"";
    let problem = Configuration::parse(text, Path::new("/")).expect_err("unsigned").to_string();
    assert!(problem.contains("`trust`"), "{problem}");
}
