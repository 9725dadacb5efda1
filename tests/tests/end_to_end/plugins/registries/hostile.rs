//! Registries that lie about what they have, or never stop.

use super::*;

/// Sends and sends, until nobody takes it.
fn endless(connection: &mut TcpStream, lines: &str) -> bool {
    let chunk = [b' '; 64 << 10];
    let mut sent = connection.write_all(format!("HTTP/1.1 200 OK\r\n{lines}connection: close\r\n\r\n").as_bytes());
    while sent.is_ok() {
        sent = connection.write_all(&chunk);
    }
    true
}

fn is_blob(path: &str) -> bool {
    path.contains("/blobs/")
}

#[test]
fn what_an_honest_registry_has_comes_with_the_digest_of_its_manifest() {
    let component = saying(true);
    let registry = honest(&component);
    let named = manifest(&[descriptor(WASM, &component)]);
    let digest = sha256(&named);
    for version in [":1.2".to_owned(), format!("@{digest}"), format!(":9@{digest}")] {
        let fetched = pull(&registry, &version).expect("is there");
        assert_eq!(
            fetched,
            FetchedComponent { component: component.clone(), manifest: Some(digest.clone()) },
            "{version}"
        );
    }
    assert_eq!(paths(&registry)[4], format!("/v2/team/greeter/manifests/{digest}"), "the digest decides, not the tag");
    let missing = pull(&registry, ":1.3").expect_err("no such tag");
    assert!(missing.to_string().contains("has no `team/greeter/manifests/1.3`"), "{missing}");
}

#[test]
fn a_layer_of_other_bytes_than_its_digest_names_is_not_taken() {
    let (named, other) = (saying(true), saying(false));
    assert_eq!(named.len(), other.len(), "only the digest tells them apart");
    let registry = registry(&named, move |_, path, connection| {
        if is_blob(path) {
            Upstream::send(connection, &format!("docker-content-digest: {}\r\n", sha256(&other)), &other);
        }
        is_blob(path)
    });
    let refused = pull(&registry, ":1.2").expect_err("other bytes");
    assert!(matches!(refused, OciError::Digest { what: "the layer", .. }), "{refused}");
}

#[test]
fn a_manifest_that_is_not_the_one_of_its_digest_is_not_read() {
    let component = saying(true);
    let named = sha256(&manifest(&[descriptor(WASM, &component)]));
    let evil = manifest(&[descriptor(WASM, b"evil")]);
    let sent = evil.clone();
    let swapping = registry(&component, move |_, _, connection| {
        Upstream::send(connection, "", &sent);
        true
    });
    let refused = pull(&swapping, &format!("@{named}")).expect_err("another manifest");
    assert!(matches!(&refused, OciError::Digest { what: "the manifest", .. }), "{refused}");
    assert_eq!(paths(&swapping).len(), 1, "nothing that it names is asked for");
    let claiming = registry(&component, move |_, _, connection| {
        Upstream::send(connection, &format!("docker-content-digest: {named}\r\n"), &evil);
        true
    });
    let refused = pull(&claiming, ":1.2").expect_err("it says that it is another one");
    assert!(matches!(refused, OciError::Digest { what: "the manifest", .. }), "{refused}");
    assert_eq!(paths(&claiming).len(), 1);
}

#[test]
fn a_digest_that_nobody_can_check_is_not_believed() {
    let layer = json!({"mediaType": WASM, "digest": "crc32:00000000", "size": 3});
    let named = manifest(&[layer]);
    let registry = Upstream::start(move |_, connection| Upstream::send(connection, "", &named));
    let refused = pull(&registry, ":1.2").expect_err("anything has this digest");
    assert!(matches!(refused, OciError::Algorithm { .. }), "{refused}");
}

#[test]
fn a_manifest_or_a_layer_without_an_end_is_read_as_far_as_it_may_go() {
    for lines in ["", "content-length: 99999999999999\r\n"] {
        let manifest = registry(b"abc", move |_, _, connection| endless(connection, lines));
        let refused = pull(&manifest, ":1.2").expect_err("too long");
        assert!(matches!(refused, OciError::TooLong { limit: 1_048_576, .. }), "{refused}");
        let layer = registry(b"abc", move |_, path, connection| is_blob(path) && endless(connection, lines));
        let refused = pull(&layer, ":1.2").expect_err("longer than it was to be");
        assert!(matches!(refused, OciError::Size { named: 3, came: 4 }), "{refused}");
    }
}

#[test]
fn a_layer_of_another_size_than_the_manifest_says_is_not_taken() {
    let component = saying(true);
    let lying = |size: u64| {
        let mut layer = descriptor(WASM, &component);
        layer["size"] = json!(size);
        let (named, served) = (manifest(&[layer]), component.clone());
        Upstream::start(move |head, connection| {
            Upstream::send(connection, "", if head.contains("/blobs/") { &served } else { &named });
        })
    };
    let bytes = component.len() as u64;
    for size in [0, bytes - 1, bytes + 1] {
        let refused = pull(&lying(size), ":1.2").expect_err("a lie");
        assert!(matches!(refused, OciError::Size { .. }), "{refused}");
    }
    let huge = lying(u64::MAX);
    let refused = pull(&huge, ":1.2").expect_err("too large");
    assert!(matches!(refused, OciError::TooLarge { limit: 1_048_576, .. }), "{refused}");
    assert_eq!(paths(&huge).len(), 1, "and never asked for");
}

#[test]
fn the_limit_of_a_component_holds_to_the_byte() {
    let component = saying(true);
    let registry = honest(&component);
    let fetch = |limit: usize| reference(&registry, ":1.2").fetch(limit as u64, &RegistryLogins::none(), &mut |_| {});
    assert_eq!(fetch(component.len()).expect("fits").component, component);
    let refused = fetch(component.len() - 1).expect_err("one too many");
    assert!(wharf::with_causes(&refused).contains("component_bytes"), "{refused:?}");
}

#[test]
fn what_breaks_off_or_answers_with_something_else_is_not_taken() {
    let breaking = registry(b"abc", |_, path, connection| {
        if is_blob(path) {
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab");
        }
        is_blob(path)
    });
    let refused = pull(&breaking, ":1.2").expect_err("cut off");
    assert!(matches!(refused, OciError::Broken { .. }), "{refused}");
    for (status, code) in [("500 No", 500), ("429 Later", 429), ("204 Nothing", 204), ("206 A part", 206)] {
        let broken = registry(b"abc", move |_, _, connection| {
            answer(connection, status, "", b"");
            true
        });
        let refused = pull(&broken, ":1.2").expect_err(status);
        assert!(matches!(refused, OciError::Status { status, .. } if status == code), "{refused}");
    }
}

#[test]
fn nothing_is_fetched_from_where_a_registry_leads() {
    let elsewhere = honest(b"abc");
    let places = [
        format!("http://{}/v2/team/greeter/blobs/{}", elsewhere.authority(), sha256(b"abc")),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    for place in places {
        let leading = registry(b"abc", move |_, path, connection| {
            if is_blob(path) {
                answer(connection, "307 Elsewhere", &format!("location: {place}\r\n"), b"");
            }
            is_blob(path)
        });
        let refused = pull(&leading, ":1.2").expect_err("leads elsewhere");
        assert!(matches!(refused, OciError::Status { status: 307, .. }), "{refused}");
    }
    // The address that a layer itself may name.
    let mut layer = descriptor(WASM, b"abc");
    layer["urls"] = json!([format!("http://{}/v2/team/greeter/blobs/{}", elsewhere.authority(), sha256(b"abc"))]);
    let named = manifest(&[layer]);
    let naming = Upstream::start(move |head, connection| {
        if head.contains("/blobs/") {
            answer(connection, "404 Not Found", "", b"");
        } else {
            Upstream::send(connection, "", &named);
        }
    });
    let refused = pull(&naming, ":1.2").expect_err("is not there");
    assert!(matches!(refused, OciError::Missing { .. }), "{refused}");
    assert!(elsewhere.asked().is_empty(), "{:?}", elsewhere.asked());
}

#[test]
fn what_is_no_component_of_wasm_is_refused_before_anything_else_is_fetched() {
    let layer = |kind: &str| descriptor(kind, b"abc");
    let index =
        json!({"schemaVersion": 2, "manifests": [descriptor("application/vnd.oci.image.manifest.v1+json", b"{}")]});
    let cases: [(Vec<u8>, Expected); 4] = [
        (manifest(&[layer(WASM), layer(WASM)]), |error| matches!(error, OciError::SeveralWasm { .. })),
        (manifest(&[layer("application/gzip")]), |error| matches!(error, OciError::NoWasm { .. })),
        (index.to_string().into_bytes(), |error| matches!(error, OciError::Index { .. })),
        (b"<html>".to_vec(), |error| matches!(error, OciError::Manifest { .. })),
    ];
    for (sent, is_it) in cases {
        let registry = Upstream::start(move |_, connection| Upstream::send(connection, "", &sent));
        let refused = pull(&registry, ":1.2").expect_err("no component");
        assert!(is_it(&refused), "{refused}");
        assert_eq!(paths(&registry).len(), 1);
    }
}
