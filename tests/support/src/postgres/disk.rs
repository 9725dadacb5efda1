//! A server whose tables are on another disk than its log, so that a test can fill it.

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio};

use super::PostgresServer;

impl PostgresServer {
    /// Makes a cluster whose tables are in this folder, and starts it; nothing where PostgreSQL is
    /// not installed, which says so.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start_with_tables_in(disk: &Path) -> Option<Self> {
        let mut server = Self::start_with(|_| "default_tablespace = 'elsewhere'\n".to_owned())?;
        server.stop("fast");
        let place = disk.join("tables");
        fs::create_dir(&place).expect("a folder for tables");
        for folder in [disk, &place] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("open to the server");
        }
        server.programs.give(&place);
        server.run_alone(&format!("CREATE TABLESPACE elsewhere LOCATION '{}'", place.display()));
        server.resume();
        Some(server)
    }

    /// Runs a statement while the server does not run: no client of it is needed.
    fn run_alone(&self, statement: &str) {
        let mut single = self.programs.command("postgres");
        single.args(["--single", "-D"]).arg(self.cluster()).arg("postgres");
        let mut running =
            single.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("postgres runs");
        let mut input = running.stdin.take().expect("piped");
        writeln!(input, "{statement}").expect("it reads");
        drop(input);
        let said = running.wait_with_output().expect("waited for").stderr;
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("ERROR:") && !said.contains("FATAL:"), "{statement}: {said}");
    }
}
