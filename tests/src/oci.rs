//! A real registry of OCI artifacts: Debian's build of the distribution server, with its
//! files in a directory of its own. Things are pushed by plain HTTP, so that nothing of
//! what is tested takes part in it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
};

use wharf_test_support::unpacked::DebianProgram;

use crate::{Data, Reply, artifacts::target, replied};

/// What it is called, by Debian.
const PROGRAM: &str = "docker-registry";
/// The type of a manifest.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The registry. It ends with the test.
#[derive(Debug)]
pub struct OciRegistry {
    child: Child,
    address: SocketAddr,
    /// What goes with each request that pushes.
    headers: String,
    files: Data,
}

impl OciRegistry {
    /// Serves on a free port; nothing where the program is not installed, which says so.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::configured("", &[], "")
    }

    /// The same with further lines of its configuration, in which `FILES` is where these
    /// files of it are, and with headers of the requests that push.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn configured(further: &str, named: &[(&str, &str)], headers: &str) -> Option<Self> {
        let program = DebianProgram::find(PROGRAM, &target())?;
        let files = Data::alone();
        let place = files.path().display();
        for (name, content) in named {
            files.write(name, content);
        }
        let further = further.replace("FILES", &place.to_string());
        let configuration = files.write(
            "registry.yml",
            format!(
                "version: 0.1\nlog: {{level: info, formatter: text}}\nstorage: {{filesystem: {{rootdirectory: \
                 \"{place}/store\"}}}}\nhttp: {{addr: \"127.0.0.1:0\"}}\n{further}"
            ),
        );
        // Its own log is the only place that says which port it has.
        let mut child = program
            .command()
            .arg("serve")
            .arg(configuration)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the registry can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut said = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("it does not serve: {said:?}") };
            if let Some((_, rest)) = line.split_once("listening on ") {
                let address: String = rest.chars().take_while(|byte| !['"', ','].contains(byte)).collect();
                break address.parse().expect("an address");
            }
            said.push(line);
        };
        // Nobody reads on, and a full pipe would hold it up.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, address, headers: headers.to_owned(), files })
    }

    /// Host and port.
    #[must_use]
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Where its configuration is.
    #[must_use]
    pub fn files(&self) -> &Data {
        &self.files
    }

    /// Puts a blob under a name of an artifact.
    ///
    /// # Panics
    /// Where it is not taken.
    pub fn push_blob(&self, name: &str, digest: &str, bytes: &[u8]) {
        let begun = self.ask("POST", &format!("/v2/{name}/blobs/uploads/"), "", b"");
        assert_eq!(begun.status, 202, "{begun:?}");
        let place = begun.header("location").expect("a place to put it");
        let path = place.splitn(4, '/').nth(3).expect("an address");
        let octets = "Content-Type: application/octet-stream\r\n";
        let put = self.ask("PUT", &format!("/{path}&digest={digest}"), octets, bytes);
        assert_eq!(put.status, 201, "{put:?}");
    }

    /// Puts a manifest under a tag, or under its digest; says what the registry calls it.
    ///
    /// # Panics
    /// Where it is not taken.
    pub fn push_manifest(&self, name: &str, version: &str, kind: Option<&str>, bytes: &[u8]) -> String {
        let kind = format!("Content-Type: {}\r\n", kind.unwrap_or(MANIFEST));
        let put = self.ask("PUT", &format!("/v2/{name}/manifests/{version}"), &kind, bytes);
        assert_eq!(put.status, 201, "{put:?}");
        put.header("docker-content-digest").expect("its digest").to_owned()
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\n{}{headers}Content-Length: {}\r\n\r\n",
            self.address,
            self.headers,
            body.len()
        );
        // It may have refused it by its head alone.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        replied(stream)
    }
}

impl Drop for OciRegistry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
