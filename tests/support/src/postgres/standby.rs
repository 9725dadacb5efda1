//! A server that follows another one, which waits for it with each commit.

use std::{fs, process::Command};

use super::{PORT, PostgresServer, folder};
use crate::blocking;

impl PostgresServer {
    /// Starts a standby of this server. From then on, a commit returns once the standby has it, too.
    ///
    /// # Panics
    /// Where it does not follow.
    #[must_use]
    pub fn with_standby(&mut self) -> Self {
        // What a server has left that ended in order is a whole cluster.
        self.stop("fast");
        let mut standby = Self { programs: self.programs.clone(), child: None, folder: folder(&self.programs) };
        let mut copy = Command::new("cp");
        let copied = copy.arg("-a").arg(self.cluster()).arg(standby.cluster()).status();
        assert!(copied.is_ok_and(|copied| copied.success()), "the cluster can be copied");
        self.configure("\nsynchronous_standby_names = 'standby'\n");
        self.resume();
        standby.configure(&format!(
            "\nprimary_conninfo = 'host={} port={PORT} user=postgres application_name=standby'\n",
            self.folder.display()
        ));
        let signal = standby.cluster().join("standby.signal");
        fs::write(&signal, "").expect("written");
        standby.programs.give(&signal);
        standby.spawn();
        blocking::until("the standby follows", || {
            let said = standby.said();
            if said.contains("started streaming WAL") { Ok(()) } else { Err(said) }
        });
        standby
    }

    /// Makes a standby a server of its own, whose primary must have ended.
    ///
    /// # Panics
    /// Where it does not become one.
    pub fn promote(&self) {
        let mut promote = self.programs.command("pg_ctl");
        promote.args(["promote", "--silent", "-D"]).arg(self.cluster());
        assert!(promote.status().is_ok_and(|promoted| promoted.success()), "{}", self.said());
        blocking::until("it takes writes", || if self.starts() > 0 { Ok(()) } else { Err(self.said()) });
    }
}
