use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use super::*;

fn of(source: &PluginSource) -> Result<Vec<Vec<u8>>, FetchError> {
    let found = source.signatures(None, &RegistryLogins::none())?;
    Ok(found.files.into_iter().map(|file| file.bytes).collect())
}

#[test]
fn signatures_lie_beside_a_file_under_its_name_and_one_that_is_too_long_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let component = directory.path().join("greeter.wasm");
    let source = PluginSource::File(component.clone());
    assert!(of(&source).expect("none is no error").is_empty());
    for (ending, text) in [(".minisig", "one"), (".sigstore.json", "two"), (".sigstore", "three"), (".sig", "four")] {
        fs::write(directory.path().join(format!("greeter.wasm{ending}")), text).expect("written");
    }
    assert_eq!(of(&source).expect("read"), [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()]);
    let [first, ..] = signature_files(&component);
    fs::write(&first, vec![b'x'; 256 << 10]).expect("written");
    assert_eq!(of(&source).expect("as long as may be").len(), 3);
    fs::write(&first, vec![b'x'; (256 << 10) + 1]).expect("written");
    assert!(matches!(of(&source), Err(FetchError::LongSignature { limit: SIGNATURE_BYTES, .. })));
    fs::remove_file(&first).expect("removed");
    fs::create_dir(&first).expect("made");
    assert!(matches!(of(&source), Err(FetchError::File { .. })), "what cannot be read is not passed over");
}

/// A server that answers each request with a status and a body, by its path, and tells the paths.
fn serve(answer: impl Fn(&str) -> (u16, Vec<u8>) + Send + 'static) -> PluginSource {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let address = format!("http://{}/some/tool.wasm?key=1", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let read = stream.read(&mut head).unwrap_or_default();
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let (status, body) = answer(head.split(' ').nth(1).unwrap_or_default());
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that has read enough is gone.
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    address.parse().expect("the loopback")
}

#[test]
fn signatures_lie_beside_an_address_and_a_server_that_fails_is_not_one_without() {
    let found = of(&serve(|path| match path {
        "/some/tool.wasm.minisig?key=1" => (200, b"one".to_vec()),
        "/some/tool.wasm.sigstore.json?key=1" => (403, Vec::new()),
        _ => (404, Vec::new()),
    }));
    assert_eq!(found.expect("read"), [b"one".to_vec()]);
    for status in [204, 401, 500] {
        let failing = serve(move |_| (status, Vec::new()));
        assert!(matches!(of(&failing), Err(FetchError::Request { .. })), "{status}");
    }
    let endless = serve(|_| (200, vec![b'x'; 300_000]));
    assert!(matches!(of(&endless), Err(FetchError::LongSignature { .. })));
}
