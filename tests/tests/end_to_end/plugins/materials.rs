//! What plugins are made of: found beside and within their components, checked against their digest, shown, and
//! held against advisories.

use std::{collections::HashMap, io::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use serde_json::{Value, json};
use wharf_test_support::sigstore::{PROVENANCE_STATEMENT, SignAs, SigstoreInstance};
use wharf_tests::{Setup, Upstream, with_section};

use super::{
    commands::Place,
    registries::{self, WASM, descriptor, sha256},
    saying,
};

const IDENTITY: &str = "https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

fn hex(bytes: &[u8]) -> String {
    sha256(bytes).trim_start_matches("sha256:").to_owned()
}

/// A bill that lists one library, and is about what has this digest.
fn bill(of: Option<&[u8]>, version: &str) -> String {
    let hashes: Vec<_> = of.iter().map(|of| json!({"alg": "SHA-256", "content": hex(of)})).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {"component": {"name": "greeter", "type": "application", "hashes": hashes}},
        "components": [
            {"name": "time", "version": version, "purl": format!("pkg:cargo/time@{version}")},
            {"name": "house-made", "version": "3"},
        ],
    })
    .to_string()
}

fn provenance() -> String {
    json!({
        "buildDefinition": {"resolvedDependencies": [
            {"uri": "git+https://github.com/acme/tool@refs/tags/v1", "digest": {"gitCommit": "4f2c9c1e"}},
        ]},
        "runDetails": {"builder": {"id": "https://github.com/actions/runner/github-hosted"}},
    })
    .to_string()
}

/// A component that lists its libraries as `cargo auditable` does.
fn auditable(version: &str) -> Vec<u8> {
    let list = json!({"packages": [
        {"name": "greeter", "version": "0.1.0", "source": "local", "root": true},
        {"name": "time", "version": version, "source": "crates.io"},
    ]});
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(list.to_string().as_bytes()).expect("memory");
    with_section(saying(true), ".dep-v0", &encoder.finish().expect("memory"))
}

/// The directory of advisories of a place, with one about versions of `time` before 0.2.23.
fn advisories(place: &Place) -> String {
    let directory = place.files.path().join("osv/crates.io");
    std::fs::create_dir_all(&directory).expect("a directory");
    let advisory = json!({
        "id": "RUSTSEC-2020-0071", "aliases": ["CVE-2020-26235"], "summary": "Potential segfault in the time crate",
        "affected": [{
            "package": {"ecosystem": "crates.io", "name": "time"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0.0.0-0"}, {"fixed": "0.2.23"}]}],
        }],
        "database_specific": {"severity": "MEDIUM"},
    });
    std::fs::write(directory.join("RUSTSEC-2020-0071.json"), advisory.to_string()).expect("written");
    place.file("osv")
}

#[test]
fn a_bill_beside_a_component_is_kept_shown_and_held_against_advisories() {
    let place = Place::new(&Setup::bare());
    let component = saying(true);
    place.files.write("greeter.wasm.cdx.json", bill(Some(&component), "0.1.42"));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    // What was found when it was added is kept.
    std::fs::remove_file(place.file("greeter.wasm.cdx.json")).expect("removed");
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains("SBOM     CycloneDX, 2 packages, not signed"), "{info}");
    assert!(info.contains("greeter.wasm.cdx.json (names the component's digest)"), "{info}");
    let told = place.json(&["plugin", "info", "greeter"])["materials"]["bills"][0].clone();
    assert_eq!((&told["packages"], &told["bound"]), (&json!(2), &json!("digest")), "{told}");
    let database = advisories(&place);
    let run = place.run(&["audit", "vulnerabilities", "greeter", "--database", &database]);
    assert_eq!(run.code, Some(1), "{run:?}");
    for word in ["RUSTSEC-2020-0071", "CVE-2020-26235", "MEDIUM", "0.1.42", "0.2.23", "1 finding(s)", "no ecosystem"] {
        assert!(run.out.contains(word), "{word}: {}", run.out);
    }
    let run = place.run(&["audit", "vulnerabilities", "--database", &database, "--json"]);
    let report: Value = serde_json::from_str(&run.out).expect("JSON");
    let finding = &report["findings"][0];
    assert_eq!(
        (run.code, &finding["plugin"], &finding["fixed"]),
        (Some(1), &json!("greeter"), &json!("0.2.23")),
        "{report}"
    );
    // A version in which it is mended.
    place.files.write("greeter.wasm.cdx.json", bill(Some(&component), "0.2.23"));
    place.ran(&["plugin", "update", "greeter"]);
    let clean = place.ran(&["audit", "vulnerabilities", "greeter", "--database", &database]);
    assert!(clean.contains("0 finding(s) in 1 plugin(s), by 1 advisories."), "{clean}");
}

#[test]
fn a_bill_of_another_component_does_not_count_and_one_without_a_digest_says_so() {
    let place = Place::new(&Setup::bare());
    place.files.write("greeter.wasm.cdx.json", bill(Some(b"another"), "0.1.42"));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains("not used") && info.contains("it is about another component"), "{info}");
    let run = place.run(&["audit", "vulnerabilities", "greeter", "--database", &advisories(&place)]);
    assert!(run.code == Some(3) && run.err.contains("nobody says what greeter is made of"), "{run:?}");
    let all = place.ran(&["audit", "vulnerabilities", "--database", &advisories(&place)]);
    assert!(all.contains("Not checked, since nobody says what they are made of:") && all.contains("greeter"), "{all}");
    place.files.write("greeter.wasm.cdx.json", bill(None, "0.1.42"));
    place.ran(&["plugin", "update", "greeter"]);
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains("names no digest: it may be of another component"), "{info}");
}

#[test]
fn the_list_within_a_component_counts_wherever_it_is() {
    let place = Place::new(&Setup::bare());
    place.files.write("greeter.wasm", auditable("0.1.0"));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let info = place.ran(&["plugin", "info", "greeter"]);
    assert!(info.contains("SBOM     cargo auditable, 1 packages, not signed"), "{info}");
    assert!(info.contains("(part of the component)"), "{info}");
    let database = advisories(&place);
    assert_eq!(place.run(&["audit", "vulnerabilities", "--database", &database]).code, Some(1));
    place.files.write("greeter.wasm", auditable("0.3.0"));
    place.ran(&["plugin", "update", "greeter"]);
    place.ran(&["audit", "vulnerabilities", "greeter", "--database", &database]);
}

#[test]
fn without_advisories_nothing_is_called_clean() {
    let place = Place::new(&Setup::bare());
    place.files.write("greeter.wasm", auditable("0.3.0"));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let run = place.run(&["audit", "vulnerabilities"]);
    assert!(run.code == Some(3) && run.err.contains("advisories"), "{run:?}");
    std::fs::create_dir_all(place.file("empty")).expect("a directory");
    let run = place.run(&["audit", "vulnerabilities", "--database", &place.file("empty")]);
    assert!(run.code == Some(3) && run.err.contains("has no advisory"), "{run:?}");
    let run = place.run(&["audit", "vulnerabilities", "nobody", "--database", &place.file("empty")]);
    assert!(run.code == Some(3) && run.err.contains("there is no plugin nobody"), "{run:?}");
}

#[test]
fn a_bill_of_no_plugin_is_held_against_advisories() {
    let place = Place::new(&Setup::bare());
    place.files.write("sbom.cdx.json", bill(None, "0.1.42"));
    let (database, file) = (advisories(&place), place.file("sbom.cdx.json"));
    let run = place.run(&["audit", "vulnerabilities", "--bill", &file, "--database", &database]);
    assert!(run.code == Some(1) && run.out.contains("RUSTSEC-2020-0071") && run.out.contains("1 bill(s)"), "{run:?}");
    let run = place.run(&["audit", "vulnerabilities", "--bill", &file, "--database", &database, "--json"]);
    let report: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((&report["findings"][0]["bill"], &report["checked"]), (&json!(file), &json!([file])), "{report}");
    place.files.write("sbom.cdx.json", bill(None, "0.2.23"));
    place.ran(&["audit", "vulnerabilities", "--bill", &file, "--database", &database]);
    // What is no bill is refused, and so is one that is not there.
    for text in ["{}", ""] {
        place.files.write("sbom.cdx.json", text);
        let run = place.run(&["audit", "vulnerabilities", "--bill", &file, "--database", &database]);
        assert!(run.code == Some(3) && run.err.contains("sbom.cdx.json cannot be read"), "{run:?}");
    }
    let none = place.file("none.json");
    let run = place.run(&["audit", "vulnerabilities", "--bill", &none, "--database", &database]);
    assert!(run.code == Some(3) && run.err.contains("none.json cannot be read"), "{run:?}");
}

#[test]
fn what_is_said_in_a_registry_counts_for_its_subject_and_says_who_signed_it() {
    let instance = SigstoreInstance::new();
    let place = Place::new(&Setup::bare());
    let trust = format!("trust = [{{ identity = \"https://github.com/acme/*\", issuer = \"{ISSUER}\" }}]");
    let text = format!("{}\n[plugins]\nsigstore_root = \"root.json\"\n{trust}\n", Setup::bare().text());
    place.files.write("wharf.toml", text);
    place.files.write("root.json", instance.trusted_root());
    let component = saying(true);
    let manifest = registries::manifest(&[descriptor(WASM, &component)]);
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let bundle = "application/vnd.dev.sigstore.bundle.v0.3+json";
    let stranger = SignAs::new("https://github.com/evil/tool@refs/tags/v1", ISSUER);
    let acme = SignAs::new(IDENTITY, ISSUER);
    let (built, bill) = (provenance(), bill(None, "0.1.42"));
    let signed = |who: &SignAs<'_>, bytes: &[u8], about: &str, what: &str| {
        instance.sign_as(bytes, &SignAs { statement: Some(about), predicate: Some(what), ..who.clone() })
    };
    let said = [
        (bundle, signed(&acme, &component, PROVENANCE_STATEMENT, &built)),
        (bundle, signed(&stranger, &component, "https://cyclonedx.org/bom", &bill)),
        (bundle, signed(&acme, b"another", "https://cyclonedx.org/bom", &bill)),
        ("application/vnd.cyclonedx+json", bill.clone()),
    ];
    // What the registry has, by path.
    let mut held = HashMap::new();
    let mut listed = Vec::new();
    for (about, text) in &said {
        let referrer = json!({
            "schemaVersion": 2, "mediaType": kind, "artifactType": about,
            "config": descriptor("application/vnd.oci.empty.v1+json", b"{}"),
            "layers": [descriptor(about, text.as_bytes())],
            "subject": descriptor(kind, &manifest),
        })
        .to_string();
        let mut described = descriptor(kind, referrer.as_bytes());
        described["artifactType"] = json!(about);
        listed.push(described);
        held.insert(format!("/v2/team/greeter/blobs/{}", sha256(text.as_bytes())), text.clone());
        held.insert(format!("/v2/team/greeter/manifests/{}", sha256(referrer.as_bytes())), referrer);
    }
    let referrers = json!({"schemaVersion": 2, "manifests": listed}).to_string();
    held.insert(format!("/v2/team/greeter/referrers/{}", sha256(&manifest)), referrers);
    let registry = registries::registry(&component, move |_, path, connection| {
        let Some(answer) = held.get(path) else { return false };
        Upstream::send(connection, "", answer.as_bytes());
        true
    });
    place.ran(&["plugin", "add", &format!("oci://{}/team/greeter:1.2", registry.authority())]);
    let info = place.ran(&["plugin", "info", "greeter"]);
    for word in [
        format!("built    by https://github.com/actions/runner/github-hosted, signed by {IDENTITY}"),
        "from https://github.com/acme/tool at 4f2c9c1e".to_owned(),
        "SBOM     CycloneDX, 2 packages, signed, and not trusted:".to_owned(),
        "SBOM     CycloneDX, 2 packages, not signed".to_owned(),
        "(refers to the component's manifest)".to_owned(),
        "it is about another component: none of its subjects has the digest".to_owned(),
    ] {
        assert!(info.contains(&word), "{word}: {info}");
    }
    assert_eq!(info.matches("SBOM     ").count(), 2, "{info}");
    // The statement of provenance vouches for the component, too; the others do not.
    assert!(info.contains(&format!("signed   by {IDENTITY}")), "{info}");
}

#[test]
fn an_envelope_beside_a_file_is_read_and_called_unsigned() {
    let place = Place::new(&Setup::bare());
    let statement = json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "greeter.wasm", "digest": {"sha256": hex(&saying(true))}}],
        "predicateType": PROVENANCE_STATEMENT,
        "predicate": serde_json::from_str::<Value>(&provenance()).expect("JSON"),
    });
    let envelope = json!({
        "payloadType": "application/vnd.in-toto+json",
        "payload": STANDARD.encode(statement.to_string()),
        "signatures": [{"sig": "AAAA"}],
    });
    place.files.write("greeter.wasm.intoto.jsonl", format!("{envelope}\n{envelope}\n"));
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    let told = place.json(&["plugin", "info", "greeter"])["materials"]["provenance"].clone();
    assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
    assert_eq!((&told[0]["voucher"], &told[0]["build"]["commit"]), (&json!("nobody"), &json!("4f2c9c1e")), "{told}");
}
