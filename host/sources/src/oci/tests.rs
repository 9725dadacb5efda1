use std::{fs, io::Read as _, io::Write as _, net::TcpListener, os::unix::fs::PermissionsExt as _, thread};

use serde_json::{Value, json};
use url::Url;

use super::{challenge::Challenge, manifest::layer, *};
use crate::{error::SourceError, source::PluginSource};

const HEX: &str = "9c82cbe576ddd4f39f7ba7ae2b8bcd0d4a4b3e1bb9a3f7ad5f1f1d1e2b0c4a55";

fn reference(text: &str) -> OciReference {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_reference_is_asked_for_where_it_says_and_over_tls_but_on_this_machine() {
    let cases = [
        ("oci://registry.example/team/my_tool:1.2", "https://registry.example/v2/team/my_tool/", "1.2", "my-tool"),
        ("oci://registry.example:5000/greeter:v1", "https://registry.example:5000/v2/greeter/", "v1", "greeter"),
        ("oci://docker.io/greeter:1", "https://index.docker.io/v2/library/greeter/", "1", "greeter"),
        ("oci://index.docker.io/a/b:1", "https://index.docker.io/v2/a/b/", "1", "b"),
        ("oci://127.0.0.1:5000/a:1", "http://127.0.0.1:5000/v2/a/", "1", "a"),
        ("oci://127.0.0.1:443/a:1", "http://127.0.0.1:443/v2/a/", "1", "a"),
        ("oci://localhost:5000/a:1", "https://localhost:5000/v2/a/", "1", "a"),
        ("oci://127.0.0.1.example.com/a:1", "https://127.0.0.1.example.com/v2/a/", "1", "a"),
        ("oci://10.0.0.1/a:1", "https://10.0.0.1/v2/a/", "1", "a"),
    ];
    for (text, base, version, stem) in cases {
        let source: PluginSource = text.parse().expect("a source");
        assert_eq!((source.to_string().as_str(), source.stem().as_deref()), (text, Some(stem)));
        let read = reference(text);
        assert_eq!((read.base().as_str(), read.version(), read.is_fixed()), (base, version, false), "{text}");
    }
    let digest = format!("sha256:{HEX}");
    for text in [format!("oci://registry.example/a@{digest}"), format!("oci://registry.example/a:1@{digest}")] {
        let read = reference(&text);
        assert!(read.is_fixed() && read.version() == digest && read.to_string() == text, "{read:?}");
    }
}

#[test]
fn what_does_not_say_which_artifact_of_which_registry_is_no_reference() {
    let parse = |text: &str| text.parse::<PluginSource>().expect_err(text);
    for unversioned in ["oci://registry.example/team/greeter", "oci://registry.example:5000/greeter"] {
        assert_eq!(parse(unversioned), SourceError::Unversioned(unversioned.to_owned()));
    }
    for login in ["oci://me:secret@registry.example/a:1", "oci://me@registry.example/a:1"] {
        assert_eq!(parse(login), SourceError::Password);
    }
    let short = format!("oci://registry.example/a@sha256:{}", &HEX[1..]);
    let capital = format!("oci://registry.example/a@sha256:{}", HEX.to_uppercase());
    let others = [
        "oci://",
        "oci:///a:1",
        "oci://greeter:1",
        // No registry, but a name of Docker's.
        "oci://team/greeter:1",
        "oci://registry.example/../a:1",
        "oci://registry.example/a:1?x=1",
        "oci://registry.example/a:1#x",
        "oci://registry.example/A:1",
        "oci://registry.example/a:1/b",
        "oci://registry.example:99999/a:1",
        "oci://registry.example/a@md5:0123456789abcdef0123456789abcdef",
        "oci://registry.example/a:1\r\nx",
        &short,
        &capital,
    ];
    for other in others {
        assert_eq!(parse(other), SourceError::Reference(other.to_owned()));
    }
}

fn layer_of(manifest: &Value) -> Result<String, OciError> {
    let layer =
        layer(&reference("oci://registry.example/team/a:1"), manifest.to_string().as_bytes(), Sought::Component);
    layer.map(|layer| layer.media_type().to_string())
}

fn manifest_of(types: &[&str]) -> Value {
    let entry = |kind: &&str| json!({"mediaType": kind, "digest": format!("sha256:{HEX}"), "size": 3});
    json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": entry(&"application/vnd.wasm.config.v0+json"), "layers": types.iter().map(entry).collect::<Vec<_>>(),
    })
}

#[test]
fn the_one_layer_of_wasm_is_taken_as_every_known_tool_makes_it() {
    for kind in [
        "application/wasm",
        "application/vnd.wasm.content.layer.v1+wasm",
        "application/vnd.module.wasm.content.layer.v1+wasm",
        "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm",
    ] {
        assert_eq!(layer_of(&manifest_of(&[kind])).expect("is taken"), kind);
        assert_eq!(layer_of(&manifest_of(&["text/markdown", kind])).expect("beside a page"), kind);
    }
}

#[test]
fn anything_else_is_refused_with_what_is_there() {
    let refused = |types: &[&str]| layer_of(&manifest_of(types)).expect_err("is no component");
    assert!(matches!(refused(&[]), OciError::NoWasm { found } if found == "nothing"));
    let image = ["application/vnd.docker.image.rootfs.diff.tar.gzip"; 9];
    assert!(matches!(refused(&image), OciError::NoWasm { found } if found.ends_with("and 4 more")));
    let two = refused(&["application/wasm", "application/wasm"]);
    assert!(matches!(&two, OciError::SeveralWasm { .. }) && two.to_string().contains("application/wasm"), "{two}");
    let steered = refused(&["\u{1b}[2Jtext/\u{202e}plain\n", &"x".repeat(5_000)]).to_string();
    assert!(!steered.contains(['\u{1b}', '\u{202e}', '\n']) && steered.len() < 1_000, "{steered:?}");
    let index = json!({"schemaVersion": 2, "manifests": [{
        "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": format!("sha256:{HEX}"), "size": 3,
        "platform": {"architecture": "wasm", "os": "wasip2"},
    }]});
    let index = layer_of(&index).expect_err("is an index").to_string();
    assert!(index.contains(&format!("oci://registry.example/team/a@sha256:{HEX} (wasip2/wasm)")), "{index}");
    for none in [json!([]), json!({}), json!({"schemaVersion": 2, "config": {}, "layers": 7}), json!("x")] {
        assert!(matches!(layer_of(&none), Err(OciError::Manifest { .. })), "{none}");
    }
}

#[test]
fn a_token_comes_over_tls_and_nobody_elses_registry_sends_us_to_this_machine() {
    let read =
        |registry: &str, value: &str| Challenge::read(&Url::parse(registry).expect("an address"), [value].into_iter());
    let (far, near) = ("https://registry.example/v2/a/", "http://127.0.0.1:5000/v2/a/");
    let told = read(far, r#"Basic realm="x", bearer Realm="https://tokens.example/t?x=1", service="a \"b\"""#);
    let Ok(Challenge::Bearer { realm, service }) = told else { panic!("{told:?}") };
    assert_eq!((realm.as_str(), service.as_deref()), ("https://tokens.example/t?x=1", Some(r#"a "b""#)));
    assert!(matches!(read(far, "Basic realm=x"), Ok(Challenge::Basic)));
    assert!(matches!(read(near, r#"Bearer realm="http://127.0.0.1:6000/t""#), Ok(Challenge::Bearer { .. })));
    for realm in
        ["http://tokens.example/t", "http://127.0.0.1/t", "ftp://tokens.example/", "https://me:x@tokens.example/"]
    {
        let refused = read(far, &format!(r#"Bearer realm="{realm}""#));
        assert!(matches!(refused, Err(OciError::Realm { .. })), "{realm}: {refused:?}");
    }
    for realm in ["http://tokens.example/t", "http://169.254.169.254/t"] {
        let refused = read(near, &format!(r#"Bearer realm="{realm}""#));
        assert!(matches!(refused, Err(OciError::Realm { .. })), "{realm}: {refused:?}");
    }
    for unknown in ["", "Negotiate", "Bearer", r#"Bearer realm="/t""#, "Digest realm=x", "\u{7f}"] {
        assert!(matches!(read(far, unknown), Err(OciError::Challenge { .. })), "{unknown}");
    }
}

#[test]
fn a_login_is_for_the_host_and_port_that_it_is_written_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("config.json");
    let logins = RegistryLogins::in_file(&file);
    let find = |key: &str, entry: Value, at: &str| {
        fs::write(&file, json!({"auths": {key: entry}}).to_string()).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("changed");
        let found = logins.find(&Url::parse(at).expect("an address"));
        found.map(|login| login.map(|login| login.header().to_owned()))
    };
    let plain = json!({"username": "me", "password": "secret"});
    let coded = json!({"auth": "bWU6c2VjcmV0"});
    let header = Some("Basic bWU6c2VjcmV0".to_owned());
    let taken = [
        ("registry.example", "https://registry.example/v2/a/"),
        ("https://registry.example/v2/", "https://registry.example/v2/a/"),
        ("registry.example:443", "https://registry.example/v2/a/"),
        ("registry.example:5000", "https://registry.example:5000/v2/a/"),
        ("127.0.0.1:5000", "http://127.0.0.1:5000/v2/a/"),
        ("https://index.docker.io/v1/", "https://index.docker.io/v2/a/"),
        ("https://index.docker.io/v1/", "https://auth.docker.io/token"),
        ("docker.io", "https://auth.docker.io/token"),
    ];
    for (key, at) in taken {
        for entry in [&plain, &coded] {
            assert_eq!(find(key, entry.clone(), at).expect("readable"), header, "{key} for {at}");
        }
    }
    let others = [
        ("registry.example", "https://registry.example:5000/v2/a/"),
        ("registry.example", "https://tokens.registry.example/"),
        ("registry.example", "https://registry.example.evil.example/"),
        ("registry.example/team", "https://registry.example/v2/team/a/"),
        ("evil@registry.example/", "https://evil/"),
        ("https://index.docker.io/v1/", "https://docker.io.evil.example/"),
        ("https://index.docker.io/v1/", "https://auth.docker.io:444/token"),
        ("*", "https://registry.example/v2/"),
    ];
    for (key, at) in others {
        assert_eq!(find(key, plain.clone(), at).expect("readable"), None, "{key} for {at}");
    }
    let at = "https://registry.example/v2/a/";
    assert_eq!(find("registry.example", json!({}), at).expect("a helper has it"), None);
    for unusable in
        [json!({"auth": "secret!"}), json!({"auth": "c2VjcmV0"}), json!({"identitytoken": "secret"}), json!(1)]
    {
        let error = find("registry.example", unusable.clone(), at).expect_err("is no login").to_string();
        assert!(error.contains("config.json") && !error.contains("secret"), "{unusable}: {error}");
    }
    fs::remove_file(&file).expect("removed");
    assert!(logins.find(&Url::parse(at).expect("an address")).expect("none is written").is_none());
}

#[test]
fn a_login_in_a_file_that_others_may_read_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("config.json");
    let logins = RegistryLogins::in_file(&file);
    let written = json!({"auths": {"registry.example": {"auth": "bWU6c2VjcmV0"}, "helped.example": {}}});
    fs::write(&file, written.to_string()).expect("written");
    let find = |mode: u32, host: &str| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("changed");
        logins.find(&Url::parse(&format!("https://{host}/v2/a/")).expect("an address")).map(|found| found.is_some())
    };
    // As Docker makes it, and as an operator may restrict it.
    for mode in [0o600, 0o400] {
        assert!(find(mode, "registry.example").expect("it is private"), "{mode:o}");
    }
    for mode in [0o644, 0o640, 0o604, 0o660] {
        let refused = find(mode, "registry.example").expect_err("others may read it").to_string();
        assert!(refused.contains("chmod 600") && refused.contains("config.json"), "{refused}");
        // Nothing secret is taken from it.
        for other in ["helped.example", "another.example"] {
            assert!(!find(mode, other).expect("no login is used"), "{mode:o}");
        }
    }
}

#[test]
fn one_time_is_for_all_that_is_asked() {
    let manifest = manifest_of(&["application/wasm"]).to_string();
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let text = format!("oci://{}/a:1", listener.local_addr().expect("bound"));
    // The manifest comes, and the layer never does.
    let server = thread::spawn(move || {
        let (mut first, _) = listener.accept().expect("a client");
        let _ = first.read(&mut [0; 4096]).expect("a request");
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", manifest.len());
        first.write_all(head.as_bytes()).and_then(|()| first.write_all(manifest.as_bytes())).expect("taken");
        let (second, _) = listener.accept().expect("a client");
        std::io::copy(&mut &second, &mut std::io::sink()).expect("until it goes")
    });
    let none = RegistryLogins::none();
    let refused = pull(&reference(&text), (Sought::Component, 10), Duration::from_millis(500), &none, &mut |_| {})
        .expect_err("too late");
    assert!(
        matches!(&refused, OciError::Request { source, .. } if matches!(source.downcast_ref(), Some(ureq::Error::Timeout(_)))),
        "{refused:?}"
    );
    assert!(server.join().expect("served") > 0, "the layer was asked for");
}
