//! The same packages in each form, and what is none.

use std::io::Write as _;

use flate2::{Compression, write::ZlibEncoder};
use serde_json::json;

use super::*;
use crate::package::Package;

const DIGEST: &str = "00000000000000000000000000000000000000000000000000000000000000ab";

fn read(value: &Value) -> Result<BillOfMaterials, BillError> {
    BillOfMaterials::read(value.to_string().as_bytes())
}

fn section(value: &Value) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(value.to_string().as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn told(bill: &BillOfMaterials) -> Vec<String> {
    let told = |package: &Package| {
        let [ecosystem, version] = [&package.ecosystem, &package.version].map(|word| word.as_deref().unwrap_or("-"));
        format!("{ecosystem} {} {version}", package.name)
    };
    bill.packages.iter().map(told).collect()
}

#[test]
fn each_form_is_read_to_the_same_packages() {
    let cyclonedx = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {"component": {"name": "greeter", "hashes": [
            {"alg": "SHA-1", "content": "00"}, {"alg": "SHA-256", "content": DIGEST.to_uppercase()},
        ]}},
        "components": [
            {"name": "serde", "version": "1.0.1", "purl": "pkg:cargo/serde@1.0.1"},
            {"name": "outer", "group": "acme", "version": "2", "components": [
                {"name": "left-pad", "purl": "pkg:npm/left-pad@1.3.0"},
            ]},
            {"name": "serde", "version": "1.0.1", "purl": "pkg:cargo/serde@1.0.1"},
        ],
    });
    let spdx = json!({
        "spdxVersion": "SPDX-2.3",
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-greeter"},
        ],
        "packages": [
            {"SPDXID": "SPDXRef-greeter", "name": "greeter", "checksums": [{"algorithm": "SHA256", "checksumValue": DIGEST}]},
            {"SPDXID": "1", "name": "serde", "versionInfo": "1.0.1", "externalRefs": [
                {"referenceType": "purl", "referenceLocator": "pkg:cargo/serde@1.0.1"},
            ]},
            {"SPDXID": "2", "name": "acme/outer", "versionInfo": "2"},
            {"SPDXID": "3", "name": "left-pad", "externalRefs": [
                {"referenceType": "purl", "referenceLocator": "pkg:npm/left-pad@1.3.0"},
            ]},
        ],
    });
    let expected = ["- acme/outer 2", "crates.io serde 1.0.1", "npm left-pad 1.3.0"];
    for (form, format) in [(cyclonedx, BillFormat::CycloneDx), (spdx, BillFormat::Spdx)] {
        let bill = read(&form).expect("a bill");
        assert_eq!((bill.format, bill.subjects.as_slice()), (format, [DIGEST.to_owned()].as_slice()));
        assert_eq!(told(&bill), expected, "{format}");
    }
}

#[test]
fn the_list_in_a_component_has_what_is_in_it_and_not_what_built_it() {
    let list = json!({"packages": [
        {"name": "greeter", "version": "0.1.0", "source": "local", "root": true, "dependencies": [1, 2, 900]},
        {"name": "serde", "version": "1.0.1", "source": "crates.io"},
        {"name": "mine", "version": "0.2.0", "source": "git"},
        {"name": "cc", "version": "1.0.0", "source": "crates.io", "kind": "build"},
    ]});
    let bill = BillOfMaterials::of_section(&section(&list)).expect("a list");
    assert_eq!(told(&bill), ["- mine 0.2.0", "crates.io serde 1.0.1"]);
    assert!(bill.subjects.is_empty());
    for broken in [b"".to_vec(), b"no zlib".to_vec(), section(&json!({})), section(&json!([1]))] {
        assert!(matches!(BillOfMaterials::of_section(&broken), Err(BillError::Libraries(_))));
    }
    let bomb = section(&json!({"packages": [], "x": "0".repeat(BillOfMaterials::MAX_BYTES)}));
    assert!(bomb.len() < 100_000, "it is small as it comes");
    assert!(matches!(BillOfMaterials::of_section(&bomb), Err(BillError::TooLong { .. })));
}

#[test]
fn what_is_no_bill_or_too_much_of_one_is_told_in_words() {
    assert_eq!(read(&json!({"format": 1})), Err(BillError::Unknown));
    assert_eq!(read(&json!([])), Err(BillError::Unknown));
    assert!(matches!(read(&json!({"bomFormat": "CycloneDX", "components": 1})), Err(BillError::Malformed(_))));
    assert!(matches!(BillOfMaterials::read(b"<bom/>"), Err(BillError::Malformed(_))));
    let third = read(&json!({"spdxVersion": "SPDX-3.0\n"})).expect_err("another version").to_string();
    assert_eq!(third, "it is SPDX SPDX-3.0, which is not read; write SPDX-2.3");
    let components = |count: usize| json!((0..count).map(|at| json!({"name": at.to_string()})).collect::<Vec<_>>());
    let most = BillOfMaterials::MAX_PACKAGES;
    let bill = |count| json!({"bomFormat": "CycloneDX", "components": components(count)});
    assert_eq!(read(&bill(most)).map(|bill| bill.packages.len()), Ok(most));
    assert_eq!(read(&bill(most + 1)), Err(BillError::TooMany { most }));
    assert!(matches!(
        BillOfMaterials::read(&vec![b' '; BillOfMaterials::MAX_BYTES + 1]),
        Err(BillError::TooLong { .. })
    ));
    let deep = format!(r#"{{"bomFormat":"CycloneDX","components":{}"#, r#"[{"name":"a","components":"#.repeat(10_000));
    assert!(matches!(BillOfMaterials::read(deep.as_bytes()), Err(BillError::Malformed(_))));
}
