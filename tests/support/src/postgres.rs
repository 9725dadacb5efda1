//! A PostgreSQL server of a test's own: a new cluster in a folder of its own, reached by a
//! socket there. It knows nothing of what is kept in it.

mod disk;
mod standby;
mod template;

use std::{
    env,
    ffi::OsString,
    fs,
    io::Write as _,
    net::SocketAddr,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    blocking,
    unpacked::{libraries, target},
};

/// Where Debian and what `cargo xtask test` unpacks have the programs, by version.
const PLACE: &str = "usr/lib/postgresql";
/// PostgreSQL refuses to run as root; any other user does.
const NOBODY: u32 = 65_534;
/// In the socket's name; no port is opened.
const PORT: u16 = 5432;

/// The server. It ends with the test.
#[derive(Debug)]
pub struct PostgresServer {
    programs: Programs,
    child: Option<Child>,
    folder: PathBuf,
}

#[derive(Debug, Clone)]
struct Programs {
    directory: PathBuf,
    /// Where the libraries of unpacked programs are, as the loader's variable names them.
    libraries: Option<OsString>,
    user: User,
}

/// Who runs the server, which refuses to run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum User {
    /// The one who runs the test.
    Own,
    /// Another user, where this one is root.
    Nobody,
    /// Root, whom a namespace gives another number: a folder on the way to the programs is
    /// closed to other users, as root's home is.
    RootUnderAnotherNumber,
}

impl PostgresServer {
    /// Makes a cluster and starts it; nothing where PostgreSQL is not installed, which says so.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::start_with(|_| String::new())
    }

    /// The same with further lines of its `postgresql.conf`, for the folder in which the
    /// server may read files.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
    pub fn start_with(further: impl FnOnce(&Path) -> String) -> Option<Self> {
        let Some(programs) = Programs::find() else {
            eprintln!("PostgreSQL is not there, so this tests nothing: `cargo xtask test` unpacks it");
            return None;
        };
        let mut server = Self::make(programs);
        // What a crash of the machine would do is not tested, and waiting for disks is slow.
        let settings = format!("listen_addresses = ''\nfsync = off\n{}", further(&server.folder));
        server.configure(&settings);
        server.resume();
        Some(server)
    }

    /// A new cluster, whose server does not run yet.
    fn make(programs: Programs) -> Self {
        let folder = folder(&programs);
        let server = Self { programs, child: None, folder };
        template::make(&server.programs, &server.cluster());
        server
    }

    /// Appends lines to its `postgresql.conf`.
    fn configure(&self, lines: &str) {
        let mut file = fs::File::options().append(true).open(self.cluster().join("postgresql.conf")).expect("a file");
        file.write_all(lines.as_bytes()).expect("settings");
    }

    /// Starts the server again after [`PostgresServer::kill`].
    ///
    /// # Panics
    /// Where it does not start.
    pub fn resume(&mut self) {
        self.spawn();
        blocking::until("the server accepts connections", || {
            if self.starts() > self.starts_before() { Ok(()) } else { Err(self.said()) }
        });
    }

    fn spawn(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.log()).expect("a log");
        let mut serve = self.programs.command("postgres");
        serve.arg("-D").arg(self.cluster()).arg("-k").arg(&self.folder);
        serve.args(["-c", "max_connections=50"]);
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(serve.spawn().expect("postgres runs"));
    }

    /// Ends the server at once, as a crash would: requests that run get no answer.
    ///
    /// # Panics
    /// Where it cannot be ended.
    pub fn kill(&mut self) {
        self.stop("immediate");
    }

    fn stop(&mut self, mode: &str) {
        let Some(mut child) = self.child.take() else { return };
        fs::write(self.folder.join("starts"), self.starts().to_string()).expect("written");
        let mut stop = self.programs.command("pg_ctl");
        stop.args(["stop", "--silent", "--mode", mode, "-D"]).arg(self.cluster());
        let stopped = stop.stdin(Stdio::null()).status().expect("pg_ctl runs");
        assert!(stopped.success(), "the server does not stop");
        child.wait().expect("waited for");
    }

    /// Waits until no request of a client runs, by the names that the server gives its
    /// processes.
    ///
    /// # Panics
    /// Where one runs on.
    pub fn rest(&self) {
        let Some(server) = self.child.as_ref().map(Child::id) else { return };
        blocking::until("no request runs", || {
            let titles = fs::read_dir("/proc").expect("processes").filter_map(|entry| {
                let process = entry.ok()?.path();
                let status = fs::read_to_string(process.join("status")).ok()?;
                let is_child = status.lines().any(|line| line == format!("PPid:\t{server}"));
                is_child.then(|| fs::read_to_string(process.join("cmdline")).ok()).flatten()
            });
            let busy: Vec<String> = titles.filter(|title| is_busy(title)).collect();
            if busy.is_empty() { Ok(()) } else { Err(busy.join(", ")) }
        });
    }

    /// How to connect to a database of it.
    #[must_use]
    pub fn connection(&self, database: &str) -> String {
        format!("host={} port={PORT} user=postgres dbname={database}", self.folder.display())
    }

    /// The same by way of an address that leads to its socket.
    #[must_use]
    pub fn connection_at(address: SocketAddr, database: &str) -> String {
        format!("host={} port={} user=postgres dbname={database}", address.ip(), address.port())
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{PORT}"))
    }

    fn cluster(&self) -> PathBuf {
        self.folder.join("cluster")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// What the server has logged.
    #[must_use]
    pub fn said(&self) -> String {
        fs::read(self.log()).map(|log| String::from_utf8_lossy(&log).into_owned()).unwrap_or_default()
    }

    fn starts(&self) -> usize {
        self.said().matches("database system is ready to accept connections").count()
    }

    fn starts_before(&self) -> usize {
        fs::read_to_string(self.folder.join("starts")).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Its children end with it.
            let mut stop = self.programs.command("pg_ctl");
            stop.args(["stop", "--silent", "--no-wait", "--mode=immediate", "-D"]).arg(self.cluster());
            if stop.stdin(Stdio::null()).status().is_ok_and(|status| status.success()) {
                let _ = child.wait();
            } else {
                let _ = child.kill();
            }
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Programs {
    fn find() -> Option<Self> {
        let is_root = fs::metadata("/proc/self").ok()?.uid() == 0;
        let unpacked = target().join("postgresql");
        let system = PathBuf::from("/");
        [system, unpacked].into_iter().find_map(|root| {
            let mut versions: Vec<PathBuf> =
                fs::read_dir(root.join(PLACE)).ok()?.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
            versions.retain(|programs| programs.join("initdb").exists());
            versions.sort();
            let libraries = (root != Path::new("/")).then(|| libraries(&root)).flatten();
            let directory = versions.pop()?.canonicalize().ok()?;
            let user = match is_root {
                false => User::Own,
                true if directory.ancestors().all(is_open) => User::Nobody,
                true => User::RootUnderAnotherNumber,
            };
            Some(Self { directory, libraries, user })
        })
    }

    /// Makes a file or folder the server's own.
    fn give(&self, path: &Path) {
        if self.user == User::Nobody {
            chown(path, Some(NOBODY), None).expect("the server's own");
        }
    }

    fn command(&self, program: &str) -> Command {
        let program = self.directory.join(program);
        let mut command = match self.user {
            User::Own | User::Nobody => Command::new(program),
            User::RootUnderAnotherNumber => {
                let mut command = Command::new("unshare");
                let number = NOBODY.to_string();
                command.args(["--user", "--map-user", &number, "--map-group", &number, "--"]).arg(program);
                command
            }
        };
        // A folder that every user may enter.
        command.current_dir("/");
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

/// A folder of its own for a cluster.
fn folder(programs: &Programs) -> PathBuf {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    // Short: the path of a socket has 107 bytes.
    let folder = env::temp_dir().join(format!("wharf-pg-{}-{number}", std::process::id()));
    fs::create_dir(&folder).expect("a folder for the cluster");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("open to the server");
    programs.give(&folder);
    folder
}

/// Whether the process of this name runs a request: those of clients end with what they do.
fn is_busy(title: &str) -> bool {
    let title = title.trim_end_matches(['\0', ' ']);
    title.contains("[local]") && !title.ends_with("idle")
}

/// Whether other users may enter a folder.
fn is_open(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & 0o001 != 0)
}
