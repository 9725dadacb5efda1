//! What counts of what lies beside a component.

use serde_json::{Value, json};

use super::*;

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const MANIFEST: &[u8] = b"{\"a\": \"manifest\"}";

fn read(files: &[(&str, String)], manifest: Option<&[u8]>) -> FoundMaterials {
    let policy = TrustPolicy::default();
    let mut reader = MaterialsReader::new(COMPONENT, manifest, &policy);
    for (from, text) in files {
        reader.take(from, text.as_bytes());
    }
    reader.found
}

fn bill(digest: Option<&str>) -> Value {
    let hashes: Vec<_> = digest.iter().map(|digest| json!({"alg": "SHA-256", "content": digest})).collect();
    json!({"bomFormat": "CycloneDX", "metadata": {"component": {"hashes": hashes}}, "components": [{"name": "a", "version": "1"}]})
}

fn statement(kind: &str, digest: &str, predicate: &Value) -> Value {
    json!({"_type": "https://in-toto.io/Statement/v1", "predicateType": kind, "predicate": predicate,
           "subject": [{"digest": {"sha256": digest}}]})
}

const BILL: &str = "https://cyclonedx.org/bom";
const BUILT: &str = "https://slsa.dev/provenance/v1";

#[test]
fn a_bill_counts_for_the_component_whose_digest_it_names_or_where_it_lies() {
    let (own, other) = (wharf_trust::sha256_hex(COMPONENT), wharf_trust::sha256_hex(b"another"));
    let bound = |found: &FoundMaterials| found.bills.iter().map(|bill| bill.bound).collect::<Vec<_>>();
    let files =
        [("x", bill(Some(&own)).to_string()), ("y", bill(Some(&other)).to_string()), ("z", bill(None).to_string())];
    let beside = read(&files, None);
    assert_eq!(bound(&beside), [Binding::Digest, Binding::Place]);
    assert_eq!(beside.problems, ["y: it is about another component: the digest is another one"]);
    assert_eq!(bound(&read(&files, Some(MANIFEST))), [Binding::Digest, Binding::Manifest]);
    assert_eq!(beside.packages().len(), 1, "each package once");
}

#[test]
fn a_statement_counts_for_its_subjects_alone() {
    let (own, manifest, other) =
        (wharf_trust::sha256_hex(COMPONENT), wharf_trust::sha256_hex(MANIFEST), wharf_trust::sha256_hex(b"another"));
    let built = json!({"runDetails": {"builder": {"id": "the builder"}}});
    let lines = [&own, &manifest, &other].map(|digest| statement(BUILT, digest, &built).to_string()).join("\n");
    let files = [("x.intoto.jsonl", lines), ("y", statement(BILL, &own, &bill(None)).to_string())];
    let found = read(&files, Some(MANIFEST));
    let bound: Vec<_> = found.provenance.iter().map(|found| found.bound).collect();
    assert_eq!(bound, [Binding::Digest, Binding::Manifest]);
    assert_eq!(found.provenance[0].build.builder.as_deref(), Some("the builder"));
    assert_eq!((found.bills.len(), found.bills[0].bound), (1, Binding::Digest));
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
    // Without a manifest nothing counts for one.
    assert_eq!(read(&files, None).provenance.len(), 1);
}

#[test]
fn a_signed_statement_that_nobody_vouches_for_says_why() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let said = statement(BILL, &wharf_trust::sha256_hex(COMPONENT), &bill(None)).to_string();
    let envelope =
        json!({"payloadType": "application/vnd.in-toto+json", "payload": STANDARD.encode(said), "signatures": []});
    let bundle = json!({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": envelope});
    let found = read(&[("x", bundle.to_string()), ("y", envelope.to_string())], None);
    assert!(matches!(&found.bills[0].voucher, Voucher::Untrusted(why) if why.contains("no rule")), "{found:?}");
    assert_eq!(found.bills[1].voucher, Voucher::Nobody, "an envelope alone has no signature that is verified");
}

#[test]
fn what_is_something_else_is_passed_over_and_what_is_broken_is_told() {
    let scan = statement("https://example.com/scan", &wharf_trust::sha256_hex(COMPONENT), &json!({})).to_string();
    let signature =
        json!({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "messageSignature": {}}).to_string();
    let found = read(&[("scan", scan), ("signature", signature), ("x\u{1b}[2J", "<bom/>".to_owned())], None);
    assert_eq!((found.bills.len(), found.provenance.len()), (0, 0));
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].starts_with("x[2J: "), "{:?}", found.problems);
}

#[test]
fn strangers_cannot_fill_a_receipt_with_bills() {
    let many = |count: usize| {
        let components: Vec<_> = (0..count).map(|at| json!({"name": at.to_string()})).collect();
        json!({"bomFormat": "CycloneDX", "components": components}).to_string()
    };
    let files: Vec<_> = (0..4).map(|_| ("x", many(3_000))).collect();
    let found = read(&files, Some(MANIFEST));
    assert_eq!((found.bills.len(), found.problems.len()), (3, 1));
    let files: Vec<_> = (0..40).map(|_| ("x", many(1))).collect();
    assert_eq!(read(&files, Some(MANIFEST)).bills.len(), 16);
}
