//! Hosts of one cluster: real binaries on a real database, with certificates of an authority of
//! their own.

mod network;

use std::{
    io::Read as _,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wharf_test_support::{free_address, postgres::PostgresServer, processes::state_and_parent};

pub use self::network::Network;
use crate::{
    AMPLE, Authority, Command, Data, Holds, Reply, Server, blocking,
    called::called,
    link::{Destination, Link},
    program, replied, wharf_of,
};

/// A database, and what the hosts of a cluster on it are told.
#[derive(Debug)]
pub struct Cluster {
    /// The database server.
    pub database: PostgresServer,
    /// Signs the certificates of its hosts.
    pub authority: Authority,
    tables: String,
    token: String,
}

/// A host of a cluster, and how it is configured.
#[derive(Debug)]
pub struct ClusterHost {
    /// The running host.
    pub server: Server,
    /// Its name.
    pub name: String,
    program: PathBuf,
}

impl Cluster {
    /// A cluster without hosts, whose hosts have these tables in their configuration; nothing
    /// where this machine has no PostgreSQL.
    #[must_use]
    pub fn new(tables: &str) -> Option<Self> {
        Some(Self::on(PostgresServer::start()?, tables))
    }

    /// The same on this database.
    #[must_use]
    pub fn on(database: PostgresServer, tables: &str) -> Self {
        let token = "0123456789abcdef".repeat(4);
        Self { database, authority: Authority::new(), tables: tables.to_owned(), token }
    }

    /// Writes what a host needs into a data directory of its own.
    #[must_use]
    pub fn prepare(&self, name: &str, authority: &Authority, holds: Holds) -> Data {
        let address = format!("localhost:{}", free_address().port());
        self.prepare_at(&address, None, name, authority, holds)
    }

    /// The same where the other hosts reach it at this address, and it listens at another one.
    fn prepare_at(
        &self,
        address: &str,
        listen: Option<SocketAddr>,
        name: &str,
        authority: &Authority,
        holds: Holds,
    ) -> Data {
        let data = Data::new();
        let certified = address.rsplit_once(':').map_or(address, |(name, _)| name);
        let (certificate, key) = authority.certificate(certified, holds);
        let listen = listen.map(|listen| format!("listen = \"{listen}\"\n")).unwrap_or_default();
        data.write_private("database", self.database.connection("postgres"));
        data.write("host.pem", certificate);
        data.write_private("host.key", key);
        data.write("authority.pem", self.authority.pem());
        data.write_private("http-token", &self.token);
        data.write_private("secret", "seals-what-clients-carry-from-host-to-host");
        data.write(
            "wharf.toml",
            format!(
                "{}\n[state]\ndatabase_file = \"database\"\n[cluster]\nname = \"test\"\nhost = \"{name}\"\n\
                 address = \"{address}\"\n{listen}secret_files = [\"secret\"]\n[cluster.tls]\ncertificate = \"host.pem\"\n\
                 key = \"host.key\"\nauthority = \"authority.pem\"\n",
                self.tables
            ),
        );
        data
    }

    /// Starts a host and waits until it serves.
    #[must_use]
    pub fn host(&self, name: &str) -> ClusterHost {
        self.host_in(name, self.prepare(name, &self.authority, Holds::Now))
    }

    /// Starts a host on what was prepared for it.
    #[must_use]
    pub fn host_in(&self, name: &str, data: Data) -> ClusterHost {
        self.host_again(&program(), name, data)
    }

    /// Starts a host of another program, such as that of the previous version.
    #[must_use]
    pub fn host_of(&self, program: &Path, name: &str) -> ClusterHost {
        self.host_again(program, name, self.prepare(name, &self.authority, Holds::Now))
    }

    /// The same on what a host has left.
    #[must_use]
    pub fn host_again(&self, program: &Path, name: &str, data: Data) -> ClusterHost {
        self.host_at("127.0.0.1:0", program, name, data, |command| command)
    }

    /// Ends a host in order and starts another program in its place: with its files, where its clients
    /// reach it.
    #[must_use]
    pub fn replaced(&self, host: ClusterHost, program: &Path) -> ClusterHost {
        let (name, address) = (host.name.clone(), host.server.address.to_string());
        self.host_at(&address, program, &name, host.retired(), |command| command)
    }

    /// A link to its database.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::to(Destination::Socket(self.database.socket()))
    }

    /// Starts a host that reaches the database over this link.
    #[must_use]
    pub fn host_over(&self, link: &Link, name: &str) -> ClusterHost {
        let data = self.prepare(name, &self.authority, Holds::Now);
        data.write_private("database", PostgresServer::connection_at(link.address(), "postgres"));
        self.host_in(name, data)
    }

    /// Starts a host by what is made of its command.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn host_by(&self, name: &str, data: Data, dress: impl FnOnce(Command) -> Command) -> ClusterHost {
        self.host_at("127.0.0.1:0", &program(), name, data, dress)
    }

    fn host_at(
        &self,
        address: &str,
        program: &Path,
        name: &str,
        data: Data,
        dress: impl FnOnce(Command) -> Command,
    ) -> ClusterHost {
        let token_file = data.path().join("http-token");
        let token_file = token_file.to_str().expect("text").to_owned();
        // What the hosts say of each other is shown where a test fails.
        let log = ["--log", "warn,wharf=info,wharf_cell=debug"];
        let arguments = [&log[..], &["--http-token-file", &token_file]].concat();
        let command = Server::command_of(program, address, &data, &arguments);
        let server = Server::start_as(data, dress(command));
        ClusterHost { server, name: name.to_owned(), program: program.to_owned() }
    }
}

impl ClusterHost {
    /// Kills it as a crash would: what it leaves on its disk.
    #[must_use]
    pub fn killed(mut self) -> Data {
        self.server.kill();
        std::mem::replace(&mut self.server.data, Data::alone())
    }

    /// Ends it in order: what it leaves on its disk.
    ///
    /// # Panics
    /// Where it fails at its end.
    #[must_use]
    pub fn retired(mut self) -> Data {
        self.server.terminate();
        assert_eq!(self.server.ended(), Some(0), "{}", self.server.log());
        std::mem::replace(&mut self.server.data, Data::alone())
    }

    /// Calls a tool in a session: the result, whatever it is.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn call(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        let reply = self.reply(session, tool, arguments);
        let message = reply.message();
        assert!(message["result"].is_object(), "{reply:?}");
        message["result"].clone()
    }

    /// The same with the answer as it came.
    #[must_use]
    pub fn reply(&self, session: &str, tool: &str, arguments: &Value) -> Reply {
        let (headers, request) = called(tool, arguments, &json!({"dev.wharf/sessionId": session}));
        replied(self.server.say(&headers, &request))
    }

    /// The result of a call in the context that `meta` says; nothing where there is no whole
    /// answer, as of a host that was killed.
    #[must_use]
    pub fn attempt(&self, tool: &str, arguments: &Value, meta: &Value) -> Option<Value> {
        self.attempt_at(self.server.address, tool, arguments, meta)
    }

    /// The same at another address, with the token of this host.
    #[must_use]
    pub fn attempt_at(&self, address: SocketAddr, tool: &str, arguments: &Value, meta: &Value) -> Option<Value> {
        let (headers, request) = called(tool, arguments, meta);
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(AMPLE)).ok()?;
        self.server.send_over(&mut stream, &headers, &request).ok()?;
        let (mut answer, mut buffer, until) = (Vec::new(), [0; 4_096], Instant::now() + AMPLE);
        while let read @ 1.. = stream.read(&mut buffer).ok()? {
            answer.extend_from_slice(&buffer[..read]);
            // What only says that the connection lives comes for ever.
            assert!(Instant::now() < until, "{tool} has no answer: {}\n{}", self.name, self.server.log());
        }
        let mut message = Reply::of(&String::from_utf8(answer).ok()?)?.said()?;
        message["result"].is_object().then(|| message["result"].take())
    }

    /// Kills it as a crash would, while others still call it.
    ///
    /// # Panics
    /// Where it is gone.
    pub fn crash(&self) {
        kill_process(self.pid(), Signal::KILL).expect("it lives");
    }

    fn pid(&self) -> Pid {
        i32::try_from(self.server.id()).ok().and_then(Pid::from_raw).expect("a process")
    }

    /// What a call gives that must succeed.
    ///
    /// # Panics
    /// Where it fails.
    #[track_caller]
    #[must_use]
    pub fn called(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        let result = self.call(session, tool, arguments);
        assert_ne!(result["isError"], true, "{}: {tool}: {result}\n{}", self.name, self.server.log());
        result
    }

    /// The code of the error that a call fails with; nothing where it succeeds.
    #[must_use]
    pub fn code(&self, session: &str, tool: &str, arguments: &Value) -> Option<String> {
        code_of(&self.call(session, tool, arguments))
    }

    /// Whether a balancer would send requests here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.server.ask("GET", "/v1/ready", "s", None).status == 200
    }

    /// Stops the process, or lets it go on: `SIGSTOP` and `SIGCONT`.
    ///
    /// # Panics
    /// Where it is gone.
    pub fn stop(&self, is_stopped: bool) {
        kill_process(self.pid(), if is_stopped { Signal::STOP } else { Signal::CONT }).expect("it lives");
        // The signal reaches one thread first: on a busy machine, another one answers meanwhile.
        blocking::until("the signal has reached every thread", || {
            let state = state_and_parent(self.server.id()).map(|(state, _)| state);
            if (state == Some('T')) == is_stopped { Ok(()) } else { Err(format!("{state:?}")) }
        });
    }

    /// `wharf` of its version with the configuration of this host.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let data = self.server.data.path();
        wharf_of(&self.program, arguments).config(&data.join("wharf.toml")).data(data)
    }

    /// What `wharf hosts` lists.
    fn listed(&self) -> Vec<Value> {
        let run = self.command(&["hosts", "--json"]).run();
        assert_eq!(run.code, Some(0), "{run:?}");
        let listed: Value = serde_json::from_str(&run.out).expect("JSON");
        listed["hosts"].as_array().expect("a list").clone()
    }

    /// The hosts that `wharf hosts` lists: name, state and number of sessions.
    ///
    /// # Panics
    /// Where it lists none.
    #[must_use]
    pub fn hosts(&self) -> Vec<(String, String, u64)> {
        let text = |host: &Value, member: &str| host[member].as_str().expect("a text").to_owned();
        let listed = self.listed().into_iter();
        listed
            .map(|host| (text(&host, "name"), text(&host, "state"), host["sessions"].as_u64().expect("a number")))
            .collect()
    }

    /// How long ago the last beat of this host was, by the clock of the database.
    ///
    /// # Panics
    /// Where it is not listed.
    #[must_use]
    pub fn silence_of(&self, name: &str) -> Duration {
        let listed = self.listed();
        let found = listed.iter().rfind(|host| host["name"] == name).expect("it is listed");
        Duration::from_millis(found["silentMs"].as_u64().expect("a number"))
    }

    /// How this host is listed.
    #[must_use]
    pub fn state_of(&self, name: &str) -> String {
        let hosts = self.hosts();
        let found = hosts.iter().filter(|(host, ..)| host == name);
        found.map(|(_, state, _)| state.clone()).next_back().unwrap_or_else(|| format!("not in {hosts:?}"))
    }
}

/// The code of the error that a result is; nothing where it is none.
#[must_use]
pub fn code_of(result: &Value) -> Option<String> {
    // The host puts it beside the text, a plugin before it.
    let text = || result["content"][0]["text"].as_str().and_then(|text| text.split(':').next());
    let code = || result["_meta"]["dev.wharf/error"]["code"].as_str().or_else(text);
    (result["isError"] == true).then(|| code().unwrap_or("no code").to_owned())
}

/// After how long without a beat a host is declared dead.
pub const DEAD: Duration = Duration::from_secs(15);
