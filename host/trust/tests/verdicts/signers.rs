//! Signers in one line, and those to whom grants are pinned.

use wharf_trust::{PinnedSigner, Signer};

use super::{GITHUB, WORKFLOW};

fn signer(identity: &str, issuer: &str) -> Signer {
    Signer::Identity { identity: identity.to_owned(), issuer: issuer.to_owned() }
}

fn key(fingerprint: &str) -> Signer {
    Signer::Key { fingerprint: fingerprint.to_owned() }
}

#[test]
fn a_signer_is_one_line_that_reads_one_way() {
    let sha256 = format!("sha256:{}", "0f".repeat(32));
    for (signer, line) in [
        (signer(WORKFLOW, GITHUB), format!("{WORKFLOW} ({GITHUB})")),
        (signer("me (at work) (x)@example.com", GITHUB), format!("me (at work) (x)@example.com ({GITHUB})")),
        (signer("minisign:E7620F1842B4E81F", GITHUB), format!("minisign:E7620F1842B4E81F ({GITHUB})")),
        (key("minisign:E7620F1842B4E81F"), "minisign:E7620F1842B4E81F".to_owned()),
        (key(&sha256), sha256.clone()),
    ] {
        assert_eq!(signer.to_string(), line);
        assert_eq!(line.parse(), Ok(signer.clone()));
        assert_eq!(serde_json::to_value(&signer).expect("JSON"), line);
        assert_eq!(serde_json::from_value::<Signer>(line.into()).expect("what was kept"), signer);
    }
}

#[test]
fn a_line_that_names_no_signer_is_refused() {
    let long = format!("{} ({GITHUB})", "a".repeat(1024));
    for wrong in [
        "",
        "me@example.com",
        "me@example.com ()",
        " (https://issuer.example)",
        "*@example.com (https://issuer.example)",
        "a\nb (https://issuer.example)",
        "minisign:e7620f1842b4e81f",
        "minisign:E762",
        "sha256:00",
        &long,
    ] {
        assert!(wrong.parse::<Signer>().is_err(), "{wrong}");
    }
    for wrong in ["* (https://issuer.example)", "a* (https://*.example)", "sha256:*"] {
        assert!(wrong.parse::<PinnedSigner>().is_err(), "{wrong}");
    }
}

#[test]
fn the_pin_of_a_workflow_holds_for_its_other_releases_and_for_no_other_workflow() {
    let released = signer(WORKFLOW, GITHUB);
    let pinned = released.pinned();
    assert_eq!(pinned.to_string(), format!("https://github.com/acme/tool/.github/workflows/release.yml@* ({GITHUB})"));
    assert!(released.is_same_as(&pinned));
    assert!(pinned.matches(&signer(&WORKFLOW.replace("v1", "v2"), GITHUB)));
    for other in [
        signer(&WORKFLOW.replace("acme", "evil"), GITHUB),
        signer(&WORKFLOW.replace("release.yml", "test.yml"), GITHUB),
        signer(WORKFLOW, "https://gitlab.com"),
        key("minisign:E7620F1842B4E81F"),
    ] {
        assert!(!pinned.matches(&other), "{other}");
    }
    assert_eq!(pinned.to_string().parse(), Ok(pinned));
}

#[test]
fn the_pin_of_any_other_signer_is_the_signer() {
    for signer in [
        signer("me@example.com", "https://accounts.google.com"),
        signer("me@refs/x@example.com", "https://accounts.google.com"),
        signer("https://ci.example/build", GITHUB),
        key("minisign:E7620F1842B4E81F"),
    ] {
        let pinned = signer.pinned();
        assert_eq!(pinned.to_string(), signer.to_string());
        assert!(pinned.matches(&signer));
        let parsed: PinnedSigner = signer.to_string().parse().expect("a pin");
        assert_eq!(serde_json::to_value(&parsed).expect("JSON"), signer.to_string());
        assert_eq!(parsed, pinned);
    }
    assert!(!key("minisign:E7620F1842B4E81F").pinned().matches(&key("minisign:E7620F1842B4E820")));
}

#[test]
fn a_signer_that_nobody_read_cannot_be_pinned_to_everybody() {
    let pinned = signer("*", GITHUB).pinned();
    assert!(!pinned.matches(&signer(WORKFLOW, GITHUB)));
}
