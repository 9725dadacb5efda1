//! Debian's Prometheus, which reads the metrics of a host.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
};

use serde_json::Value;
use wharf_test_support::{free_address, unpacked::DebianProgram};

use crate::{Data, Server, artifacts::target, replied};

/// Debian's Prometheus, which reads a host each second. It ends with the test.
#[derive(Debug)]
pub struct Prometheus {
    address: SocketAddr,
    process: Child,
    _files: Data,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Unanswered(#[expect(dead_code, reason = "shown where a test fails")] String);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Prometheus {
    /// One that reads this host; nothing where Prometheus is not there, which says so.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn reading(host: &Server) -> Option<Self> {
        let program = DebianProgram::find("prometheus", &target())?;
        let (files, address) = (Data::alone(), free_address());
        let token = files.write("token", &host.token);
        let configuration = format!(
            "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\nscrape_configs:\n  - job_name: wharf\n    authorization:\n      \
             credentials_file: {}\n    static_configs:\n      - targets: [\"{}\"]\n",
            token.display(),
            host.address
        );
        let configuration = files.write("prometheus.yml", configuration);
        let mut serve = program.command();
        serve.arg(format!("--config.file={}", configuration.display()));
        serve.arg(format!("--storage.tsdb.path={}", files.path().join("tsdb").display()));
        serve.arg(format!("--web.listen-address={address}"));
        let process =
            serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        Some(Self { address, process, _files: files })
    }

    /// What it answers to a question.
    ///
    /// # Errors
    /// Why it does not.
    pub fn ask(&self, question: &str) -> Result<Vec<Value>, Unanswered> {
        let mut stream = TcpStream::connect(self.address).map_err(|error| Unanswered(error.to_string()))?;
        let encoded: String = question.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let path = format!("/api/v1/query?query={encoded}");
        let head = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).map_err(|error| Unanswered(error.to_string()))?;
        let answer = replied(stream).body;
        let read: Value = serde_json::from_str(&answer).map_err(|_| Unanswered(answer.clone()))?;
        if read["status"] != "success" {
            return Err(Unanswered(answer));
        }
        Ok(read["data"]["result"].as_array().cloned().unwrap_or_default())
    }
}
