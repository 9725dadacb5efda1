//! Feeding the routes of a host that serves over HTTP: schemathesis makes
//! requests of their OpenAPI description, as they should be and as they should
//! not. Owns how the script is run; what must hold is in tests/routes.

use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::python;
use crate::workspace::Workspace;

/// A short run that is the same each time.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    command::run(&mut script(workspace)?)
}

/// A long one that is another each time.
pub(crate) fn feed(workspace: &Workspace, minutes: u32) -> Result<()> {
    if minutes == 0 {
        return check(workspace);
    }
    command::say(&format!("Feeding the routes for {minutes} min"));
    command::run(script(workspace)?.arg("--minutes").arg(minutes.to_string()))
}

fn script(workspace: &Workspace) -> Result<Command> {
    let folder = workspace.root.join("tests").join("routes");
    let python = python::interpreter(workspace, "routes", &folder.join("requirements.txt"))?;
    let mut script = Command::new(python);
    script.arg(folder.join("feed.py")).env("WHARF", workspace.binary("debug", "wharf")).current_dir(&workspace.root);
    Ok(script)
}
