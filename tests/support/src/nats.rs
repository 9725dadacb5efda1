//! A NATS server of a test's own, with encryption and a login. It knows nothing of what goes over it.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Stdio},
};

use tempfile::TempDir;

use crate::{
    AMPLE,
    authority::{Authority, Holds},
    blocking, free_address,
    unpacked::{DebianProgram, target},
    write_private,
};

const PASSWORD: &str = "known-to-all-hosts";

/// How hosts log in.
#[derive(Debug)]
pub enum NatsLogin {
    /// By a user and its password.
    Password,
    /// By a token.
    Token,
    /// By a certificate of the server's own authority.
    Certificate,
    /// By a file with credentials.
    Credentials {
        /// Whom the server believes: lines of its configuration.
        server: String,
        /// The file.
        file: String,
    },
}

/// The server. It ends with the test.
#[derive(Debug)]
pub struct NatsServer {
    login: NatsLogin,
    program: DebianProgram,
    files: TempDir,
    address: SocketAddr,
    monitor: SocketAddr,
    authority: Authority,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts one for hosts with a password; nothing where NATS is not there, which says so.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_for(NatsLogin::Password)
    }

    /// The same for hosts that log in like this.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start_for(login: NatsLogin) -> Option<Self> {
        let program = DebianProgram::find("nats-server", &target())?;
        let (files, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
        let (address, monitor) = (free_address(), free_address());
        let (certificate, key) = authority.certificate("localhost", Holds::Now);
        let certificate = write_private(files.path(), "nats.pem", certificate);
        let key = write_private(files.path(), "nats.key", key);
        let asked = write_private(files.path(), "authority.pem", authority.pem());
        let (logins, asks) = match &login {
            NatsLogin::Password => {
                (format!("authorization {{ user: wharf, password: \"{PASSWORD}\" }}"), String::new())
            }
            NatsLogin::Token => (format!("authorization {{ token: \"{PASSWORD}\" }}"), String::new()),
            NatsLogin::Certificate => (String::new(), format!(", ca_file: {asked:?}, verify: true")),
            NatsLogin::Credentials { server, .. } => (server.clone(), String::new()),
        };
        write_private(
            files.path(),
            "nats.conf",
            format!(
                "listen: \"{address}\"\nhttp: \"{monitor}\"\n{logins}\n\
                 tls {{ cert_file: {certificate:?}, key_file: {key:?}{asks} }}\n"
            ),
        );
        let mut server = Self { login, program, files, address, monitor, authority, child: None };
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
        self.table_at(self.address)
    }

    /// The same by way of an address that leads to it.
    #[must_use]
    pub fn table_at(&self, address: SocketAddr) -> String {
        let login = match self.login {
            NatsLogin::Password => "user = \"wharf\"\npassword_file = \"nats-login\"",
            NatsLogin::Token => "token_file = \"nats-login\"",
            NatsLogin::Certificate => "certificate = \"nats-login\"\nkey = \"nats-key\"",
            NatsLogin::Credentials { .. } => "credentials_file = \"nats-login\"",
        };
        format!(
            "[cluster.nats]\nservers = [\"tls://localhost:{}\"]\nauthority = \"nats-authority.pem\"\n{login}\n",
            address.port()
        )
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Writes what a host needs into the folder of its configuration.
    pub fn prepare(&self, folder: &Path) {
        let login = match &self.login {
            NatsLogin::Password | NatsLogin::Token => PASSWORD.to_owned(),
            NatsLogin::Certificate => {
                let (certificate, key) = self.authority.certificate("host", Holds::Now);
                write_private(folder, "nats-key", &key);
                certificate
            }
            NatsLogin::Credentials { file, .. } => file.clone(),
        };
        write_private(folder, "nats-login", &login);
        write_private(folder, "nats-authority.pem", self.authority.pem());
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
        let (_, count) = answer.split_once("\"in_msgs\":").expect("a count");
        let count: String = count.trim_start().chars().take_while(char::is_ascii_digit).collect();
        count.parse().expect("a number")
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
