//! A NATS server of a test's own, with encryption and a login. It knows nothing of what goes over it.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
};

use serde_json::Value;
use wharf_test_support::unpacked::DebianProgram;

use crate::{AMPLE, Authority, Data, Holds, artifacts::target, balancer::free_address, blocking};

const PASSWORD: &str = "known-to-all-hosts";

/// The server. It ends with the test.
#[derive(Debug)]
pub struct NatsServer {
    program: DebianProgram,
    files: Data,
    address: SocketAddr,
    monitor: SocketAddr,
    authority: Authority,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts one; nothing where NATS is not there, which says so.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        let program = DebianProgram::find("nats-server", &target())?;
        let (files, authority) = (Data::alone(), Authority::new());
        let (address, monitor) = (free_address(), free_address());
        let (certificate, key) = authority.certificate("localhost", Holds::Now);
        let (certificate, key) = (files.write("nats.pem", certificate), files.write_private("nats.key", key));
        files.write(
            "nats.conf",
            format!(
                "listen: \"{address}\"\nhttp: \"{monitor}\"\n\
                 authorization {{ user: wharf, password: \"{PASSWORD}\" }}\n\
                 tls {{ cert_file: {certificate:?}, key_file: {key:?} }}\n"
            ),
        );
        let mut server = Self { program, files, address, monitor, authority, child: None };
        server.resume();
        Some(server)
    }

    /// Starts it again after [`NatsServer::kill`].
    ///
    /// # Panics
    /// Where it does not start.
    pub fn resume(&mut self) {
        let mut serve = self.program.command();
        serve.arg("-c").arg(self.files.path().join("nats.conf"));
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(serve.spawn().expect("it runs"));
        blocking::until("the server takes connections", || TcpStream::connect(self.address).map(drop));
    }

    /// Ends it at once.
    ///
    /// # Panics
    /// Where it cannot be ended.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it runs");
            child.wait().expect("waited for");
        }
    }

    /// The table with which a host reaches it, once [`NatsServer::prepare`] has written the files.
    #[must_use]
    pub fn table(&self) -> String {
        format!(
            "[cluster.nats]\nservers = [\"tls://localhost:{}\"]\nuser = \"wharf\"\n\
             password_file = \"nats-password\"\nauthority = \"nats-authority.pem\"\n",
            self.address.port()
        )
    }

    /// Writes what a host needs.
    pub fn prepare(&self, data: &Data) {
        data.write_private("nats-password", PASSWORD);
        data.write("nats-authority.pem", self.authority.pem());
    }

    /// How many messages it has taken.
    ///
    /// # Panics
    /// Where it does not say so.
    #[must_use]
    pub fn messages(&self) -> u64 {
        let mut stream = TcpStream::connect(self.monitor).expect("a connection");
        stream.set_read_timeout(Some(AMPLE)).expect("a limit");
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).expect("a body");
        let says: Value = serde_json::from_str(body).expect("JSON");
        says["in_msgs"].as_u64().expect("a number")
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
