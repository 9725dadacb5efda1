//! A registry of OCI artifacts on this machine: Debian's build of the distribution server. Knows
//! nothing of what is published to it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result};

use crate::command;
use crate::workspace::Workspace;

/// A registry, which ends when it is dropped.
pub(crate) struct LocalRegistry {
    child: Child,
    /// Its host and port.
    pub(crate) address: String,
}

impl LocalRegistry {
    /// Keeps what it has in a folder of `here`. Nothing where the program is not there.
    pub(crate) fn start(workspace: &Workspace, here: &Path) -> Result<Option<Self>> {
        const PROGRAM: &str = "docker-registry";
        let unpacked = workspace.target().join(PROGRAM).join("usr/bin").join(PROGRAM);
        let program = if command::exists(PROGRAM) { PathBuf::from(PROGRAM) } else { unpacked };
        let folder = here.join("registry");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let configuration = folder.join("registry.yml");
        let store = folder.join("store");
        fs::write(
            &configuration,
            format!(
                "version: 0.1\nlog: {{level: info, formatter: text}}\nstorage: {{filesystem: {{rootdirectory: \"{}\"}}}}\n\
                 http: {{addr: \"127.0.0.1:0\"}}\n",
                store.display()
            ),
        )?;
        let mut registry = Command::new(program);
        registry.arg("serve").arg(&configuration).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let Ok(mut child) = registry.spawn() else { return Ok(None) };
        let mut lines = child.stderr.take().map(BufReader::new).into_iter().flat_map(BufReader::lines);
        // Its own log is the only place that says which port it has.
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("listening on ")?;
            Some(rest.chars().take_while(|letter| !['"', ','].contains(letter)).collect::<String>())
        });
        let mut started = Self { child, address: String::new() };
        started.address = address.context("the registry did not say where it listens")?;
        // Nobody reads on, and a full pipe would hold it up.
        thread::spawn(move || lines.for_each(drop));
        Ok(Some(started))
    }
}

impl Drop for LocalRegistry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
