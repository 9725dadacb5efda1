//! Programs of the system that the demo and the tests need: installed where
//! they are missing and this user may.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::command::{self, say};
use crate::debian;
use crate::workspace::Workspace;

/// A program, and the package of Debian that has it.
struct PackagedProgram {
    command: &'static str,
    package: &'static str,
}

const fn program(command: &'static str, package: &'static str) -> PackagedProgram {
    PackagedProgram { command, package }
}

/// Interactive programs that tests drive in terminals, and what follows them
/// over HTTP.
const INTERACTIVE: [PackagedProgram; 11] = [
    program("zsh", "zsh"),
    program("python3", "python3"),
    program("sqlite3", "sqlite3"),
    program("gdb", "gdb"),
    program("less", "less"),
    program("vi", "vim-tiny"),
    program("top", "procps"),
    program("curl", "curl"),
    program("bc", "bc"),
    program("dc", "dc"),
    program("ed", "ed"),
];

/// What shows windows without a screen, and says what libraries are there.
const WEBVIEWS: [PackagedProgram; 3] =
    [program("xvfb-run", "xvfb"), program("xauth", "xauth"), program("pkg-config", "pkg-config")];

/// A library, by the name that pkg-config has for it.
const WEBKIT: PackagedProgram = program("webkit2gtk-4.1", "libwebkit2gtk-4.1-dev");

/// Runs web pages. The one of several browsers that is ready in half the time.
const BROWSER: PackagedProgram = program("chromium-headless-shell", "chromium-headless-shell");

/// Makes certificates.
const CERTIFICATES: PackagedProgram = program("openssl", "openssl");

/// What an operator of untrusted plugins signs with, and looks for processes with.
const SIGNING: [PackagedProgram; 3] = [program("minisign", "minisign"), program("pkill", "procps"), CERTIFICATES];

/// Sees to it that what is signed in the book can be signed.
pub(crate) fn ensure_signing() -> Result<()> {
    ensure(&SIGNING, "with which the book has its reader sign plugins", "Its chapter cannot be followed")
}

/// Sees to it that everything is there that tests run beside the host.
pub(crate) fn ensure_for_tests(workspace: &Workspace) -> Result<()> {
    ensure_browser()?;
    ensure_interactive()?;
    ensure_registry(workspace)?;
    ensure_postgres(workspace)?;
    ensure_servers_of_clusters(workspace)?;
    ensure_prometheus(workspace)?;
    ensure_certificates()?;
    ensure_signing()
}

/// Sees to it that a browser is there for the host to run web pages in.
pub(crate) fn ensure_browser() -> Result<()> {
    ensure(
        &[BROWSER],
        "in which the host runs web pages",
        "Without any Chromium there are no pages, and tests of them fail",
    )
}

/// Sees to it that certificates can be made as `deploy/` makes them.
pub(crate) fn ensure_certificates() -> Result<()> {
    ensure(&[CERTIFICATES], "with which hosts of a cluster get certificates", "There are none")
}

/// Sees to it that the programs are there that tests drive in terminals.
pub(crate) fn ensure_interactive() -> Result<()> {
    ensure(&INTERACTIVE, "which tests drive in terminals", "Their tests say that they tested nothing")
}

/// A server for tests. It is unpacked and not installed: installed it would serve on this
/// machine from then on.
struct UnpackedServer {
    package: &'static str,
    /// Below `target/`.
    folder: &'static str,
    purpose: &'static str,
    without: &'static str,
    size: &'static str,
}

/// The registry that plugins are added from in tests.
const REGISTRY: UnpackedServer = UnpackedServer {
    package: "docker-registry",
    folder: "docker-registry",
    purpose: "which tests add plugins from",
    without: "Tests that add plugins from a real registry say that they tested nothing",
    size: "5 MB, seconds",
};

/// The database server that tests keep state on.
const POSTGRES: UnpackedServer = UnpackedServer {
    package: "postgresql-15",
    folder: "postgresql",
    purpose: "on which tests keep state",
    without: "Tests of state on PostgreSQL say that they tested nothing",
    size: "25 MB, seconds",
};
/// What reads the metrics of a host in a test.
const PROMETHEUS: UnpackedServer = UnpackedServer {
    package: "prometheus",
    folder: "prometheus",
    purpose: "with which a test asks what the dashboard asks",
    without: "The test says that it tested nothing",
    size: "20 MB, seconds",
};
/// What hosts of a cluster stand behind in tests, what carries their notices, and what tells them a
/// wrong time.
const OF_CLUSTERS: [UnpackedServer; 4] = [
    UnpackedServer {
        package: "nats-server",
        folder: "nats-server",
        purpose: "over which tests have hosts tell each other of changes",
        without: "Its tests say that they tested nothing",
        size: "5 MB, seconds",
    },
    UnpackedServer {
        package: "haproxy",
        folder: "haproxy",
        purpose: "behind which tests have hosts serve",
        without: "Its test says that it tested nothing",
        size: "2 MB, seconds",
    },
    UnpackedServer {
        package: "nginx",
        folder: "nginx",
        purpose: "behind which tests have hosts serve",
        without: "Its test says that it tested nothing",
        size: "1 MB, seconds",
    },
    UnpackedServer {
        package: "libfaketime",
        folder: "faketime",
        purpose: "with which a test has hosts whose clocks are wrong",
        without: "The test says that it tested nothing",
        size: "less than 1 MB, seconds",
    },
];
/// Where Debian has the server's programs, which is on no `PATH`.
const POSTGRES_PROGRAMS: &str = "/usr/lib/postgresql";

/// Sees to it that a real registry is there for tests.
pub(crate) fn ensure_registry(workspace: &Workspace) -> Result<()> {
    if command::exists(REGISTRY.package) {
        return Ok(());
    }
    REGISTRY.ensure(workspace, || Ok(BTreeSet::from([REGISTRY.package.to_owned()])))
}

/// Sees to it that a real PostgreSQL is there for tests.
pub(crate) fn ensure_postgres(workspace: &Workspace) -> Result<()> {
    // A machine with the client alone has the folder, too.
    let has_server = |version: fs::DirEntry| version.path().join("bin/initdb").exists();
    if fs::read_dir(POSTGRES_PROGRAMS).is_ok_and(|versions| versions.flatten().any(has_server)) {
        return Ok(());
    }
    POSTGRES.ensure(workspace, || with_libraries(POSTGRES.package))
}

/// Sees to it that a real Prometheus is there for tests.
pub(crate) fn ensure_prometheus(workspace: &Workspace) -> Result<()> {
    if command::exists(PROMETHEUS.package) {
        return Ok(());
    }
    PROMETHEUS.ensure(workspace, || with_libraries(PROMETHEUS.package))
}

/// Sees to it that what stands before and between the hosts of a cluster is there for tests.
pub(crate) fn ensure_servers_of_clusters(workspace: &Workspace) -> Result<()> {
    let mut missing = OF_CLUSTERS.iter().filter(|server| !command::exists(server.package));
    missing.try_for_each(|server| server.ensure(workspace, || with_libraries(server.package)))
}

/// A package and its libraries. A compiler, which is large, is loaded where it is there.
fn with_libraries(package: &str) -> Result<BTreeSet<String>> {
    let mut packages = debian::with_libraries(package)?;
    packages.retain(|package| package.starts_with("lib") && !package.starts_with("libllvm"));
    packages.insert(package.to_owned());
    Ok(packages)
}

impl UnpackedServer {
    fn ensure(&self, workspace: &Workspace, packages: impl FnOnce() -> Result<BTreeSet<String>>) -> Result<()> {
        let Self { package, folder, purpose, without, size } = self;
        let root = workspace.target().join(folder);
        if root.is_dir() {
            return Ok(());
        }
        if !debian::available() {
            say(&format!("Missing: {package}, and there is no apt to unpack it with. {without}."));
            return Ok(());
        }
        debian::refresh_lists()?;
        say(&format!("Unpacking Debian's {package}, {purpose}, under target/ ({size})."));
        let (stage, downloads) = (root.with_extension("stage"), root.with_extension("downloads"));
        let unpacked = packages().and_then(|packages| debian::unpack(&packages, &downloads, &stage));
        if let Err(error) = unpacked {
            say(&format!("{package} cannot be had: {error:#}. {without}."));
            return Ok(());
        }
        // The folder gets its name when it is complete.
        fs::rename(&stage, &root)?;
        Ok(fs::remove_dir_all(&downloads)?)
    }
}

/// Sees to it that WebViews can be built and shown, or says what is missing.
pub(crate) fn ensure_webviews() -> Result<()> {
    let mut missing: Vec<_> = WEBVIEWS.iter().filter(|program| !command::exists(program.command)).collect();
    let mut library = Command::new("pkg-config");
    if command::capture(library.args(["--exists", WEBKIT.command])).is_err() {
        missing.push(&WEBKIT);
    }
    let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
    install(&packages, "which WebViews are built and shown with", "The example of an app is not built")
}

fn ensure(programs: &[PackagedProgram], purpose: &str, without: &str) -> Result<()> {
    let missing = programs.iter().filter(|program| !command::exists(program.command));
    let packages: Vec<_> = missing.map(|program| program.package).collect();
    install(&packages, purpose, without)
}

fn install(packages: &[&str], purpose: &str, without: &str) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    if !debian::install(packages, purpose)? {
        let names = packages.join(" ");
        say(&format!("Missing: {names}, {purpose}. {without}; to have it, as root: apt-get install {names}"));
    }
    Ok(())
}
