//! What a signature is before anything of it is verified.

use wharf_test_support::sigstore::{MinisignKey, SigstoreInstance};
use wharf_trust::{FoundSignature, SignatureError, SignatureForm};

use super::{COMPONENT, GITHUB, WORKFLOW, found};

#[test]
fn the_form_is_told_by_the_content() {
    let minisign = found(MinisignKey::new().sign(COMPONENT));
    assert_eq!((minisign.form(), minisign.form().as_str()), (SignatureForm::Minisign, "minisign"));
    let bundle = SigstoreInstance::new().sign(COMPONENT, WORKFLOW, GITHUB);
    let sigstore = found(format!("\n {bundle}\n"));
    assert_eq!((sigstore.form().to_string(), sigstore.text()), ("sigstore".to_owned(), bundle.as_str()));
    let older = r#"{"mediaType": "application/vnd.dev.sigstore.bundle+json;version=0.1"}"#;
    assert_eq!(found(older).form(), SignatureForm::Sigstore);
}

#[test]
fn what_has_neither_form_is_refused() {
    for unknown in ["", "{}", "[]", "signature", r#"{"mediaType": "text/plain"}"#, r#"{"base64Signature": "AAAA"}"#] {
        assert_eq!(FoundSignature::read(unknown.as_bytes()), Err(SignatureError::Unknown), "{unknown}");
    }
    assert_eq!(FoundSignature::read(b"untrusted comment: \xff"), Err(SignatureError::NotText));
    let long = vec![b' '; FoundSignature::MAX_BYTES + 1];
    assert_eq!(FoundSignature::read(&long), Err(SignatureError::TooLong { most: 256 << 10 }));
}

#[test]
fn a_signature_is_kept_as_its_form_and_its_text_and_read_with_the_same_care() {
    let signature = found(MinisignKey::new().sign(COMPONENT));
    let kept = serde_json::to_value(&signature).expect("JSON");
    assert_eq!(kept, serde_json::json!({"form": "minisign", "text": signature.text()}));
    assert_eq!(serde_json::from_value::<FoundSignature>(kept).expect("what was kept"), signature);
    for wrong in [
        serde_json::json!({"form": "sigstore", "text": signature.text()}),
        serde_json::json!({"form": "minisign", "text": "signature"}),
        serde_json::json!({"form": "minisign", "text": "x".repeat(FoundSignature::MAX_BYTES + 1)}),
    ] {
        assert!(serde_json::from_value::<FoundSignature>(wrong).is_err());
    }
}
