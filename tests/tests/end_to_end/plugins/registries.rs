//! Plugins from OCI registries: a real one, ones that lie, and ones that ask for a login.

mod hostile;
mod indexed;
mod logins;
pub(crate) mod protected;
mod served;

use std::{io::Write as _, net::TcpStream};

use serde_json::{Value, json};
use wharf::sources::{FetchError, FetchedComponent, OciError, PluginSource, RegistryLogins};
use wharf_tests::Upstream;

use super::saying;

/// What `wkg oci push` makes of a component.
pub(super) const WASM: &str = "application/wasm";

/// Whether it is the error that a test expects.
type Expected = fn(&OciError) -> bool;

/// The digest by which the OCI names these bytes.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// What names a layer in a manifest.
pub(super) fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({"mediaType": kind, "digest": sha256(bytes), "size": bytes.len()})
}

/// A manifest of these layers. Its configuration is an empty object.
pub(super) fn manifest(layers: &[Value]) -> Vec<u8> {
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.wasm.config.v0+json", b"{}"),
        "layers": layers,
    });
    manifest.to_string().into_bytes()
}

/// A registry whose `team/greeter:1.2` is a component, and that says what a test likes
/// where it answers: that is asked first, by method and path, and has written an answer
/// where it says so.
pub(super) fn registry(
    component: &[u8],
    lies: impl Fn(&str, &str, &mut TcpStream) -> bool + Send + Sync + 'static,
) -> Upstream {
    let manifest = manifest(&[descriptor(WASM, component)]);
    let blob = (format!("/v2/team/greeter/blobs/{}", sha256(component)), component.to_vec());
    let by_digest = format!("/v2/team/greeter/manifests/{}", sha256(&manifest));
    Upstream::start(move |head, connection| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        if lies(head, path, connection) {
        } else if path == "/v2/team/greeter/manifests/1.2" || path == by_digest {
            Upstream::send(connection, "", &manifest);
        } else if path == blob.0 {
            Upstream::send(connection, "", &blob.1);
        } else {
            answer(connection, "404 Not Found", "", b"{}");
        }
    })
}

/// One that does not lie.
fn honest(component: &[u8]) -> Upstream {
    registry(component, |_, _, _| false)
}

/// Says that nothing is there.
pub(super) fn not_found(connection: &mut TcpStream) {
    answer(connection, "404 Not Found", "", b"{}");
}

/// Sends a whole answer with this status.
fn answer(connection: &mut TcpStream, status: &str, lines: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\n{lines}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // A client that has gone does not want it.
    let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(body));
}

/// How a test asks for it.
fn reference(registry: &Upstream, version: &str) -> PluginSource {
    format!("oci://{}/team/greeter{version}", registry.authority()).parse().expect("a reference")
}

/// Fetches `team/greeter` in this version.
fn pull(registry: &Upstream, version: &str) -> Result<FetchedComponent, OciError> {
    pull_as(registry, version, &RegistryLogins::none())
}

fn pull_as(registry: &Upstream, version: &str, logins: &RegistryLogins) -> Result<FetchedComponent, OciError> {
    match reference(registry, version).fetch(1 << 20, logins, &mut |_| {}) {
        Ok(fetched) => Ok(fetched),
        Err(FetchError::Registry { source, .. }) => Err(*source),
        Err(other) => panic!("{other:?}"),
    }
}

/// The paths that were asked for.
pub(super) fn paths(registry: &Upstream) -> Vec<String> {
    let path = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
    registry.asked().iter().map(path).collect()
}
