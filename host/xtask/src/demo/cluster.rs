//! `cargo xtask demo --cluster`: three hosts behind HAProxy. The story is one of the official
//! Python client, and so it is told in Python.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, say};
use crate::packages;
use crate::python;
use crate::workspace::Workspace;

pub(super) fn tell(workspace: &Workspace) -> Result<()> {
    packages::ensure_postgres(workspace)?;
    packages::ensure_servers_of_clusters(workspace)?;
    packages::ensure_certificates()?;
    let clients = workspace.root.join("tests").join("clients");
    let python = python::interpreter(workspace, "python", &clients.join("requirements.txt"))?;
    say("Starting a database with a standby, three hosts and a balancer");
    let mut story = Command::new(python);
    story.arg(clients.join("cluster.py")).env("WHARF", workspace.binary("debug", "wharf"));
    command::run(story.env("WHARF_TARGET", workspace.target()).current_dir(&workspace.root))
}
