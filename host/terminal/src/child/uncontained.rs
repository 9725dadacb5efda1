//! A program that portable-pty starts on its end of a terminal: not supervised,
//! not limited, not contained.
//!
//! What cannot be done so is refused: containment, another user, limits, a
//! directory that is not there. The crate of children follows and ends the program.

use std::io;

use portable_pty::{Child, CommandBuilder, SlavePty};
use tokio::task::spawn_blocking;
use wharf_spawn::{
    SpawnError,
    uncontained::{self, UncontainedChild},
};

use crate::{TerminalRequest, pty::Slave};

/// Starts a program, of whose end of the terminal no copy is left here. Where
/// the future is dropped, the program is killed.
///
/// # Errors
/// Where the request needs what is not here, or the program does not start.
pub(crate) async fn start(request: TerminalRequest, terminal: Slave) -> Result<UncontainedChild, SpawnError> {
    let command = command(request)?;
    let started = spawn_blocking(move || run(command, &*terminal)).await;
    started.map_err(|error| SpawnError::System { action: "start a program", source: io::Error::other(error) })?
}

fn run(command: CommandBuilder, terminal: &dyn SlavePty) -> Result<UncontainedChild, SpawnError> {
    let program = command.get_argv().first().cloned().unwrap_or_default();
    let child = terminal.spawn_command(command).map_err(|error| {
        let source = error.downcast().unwrap_or_else(io::Error::other);
        SpawnError::Program { step: "run", path: program.into(), source }
    })?;
    follow(child)
}

/// The command of a request.
fn command(request: TerminalRequest) -> Result<CommandBuilder, SpawnError> {
    let TerminalRequest { containment, user, limits, program, working_directory, .. } = &request;
    uncontained::check(containment, *user, limits, program, working_directory)?;
    let mut command = CommandBuilder::new(program);
    command.args(&request.arguments);
    command.cwd(working_directory);
    command.env_clear();
    for (name, value) in request.whole_environment() {
        command.env(name, value);
    }
    Ok(command)
}

/// Follows a program, which leads a session and so a group of its own.
#[cfg(unix)]
fn follow(child: Box<dyn Child + Send + Sync>) -> Result<UncontainedChild, SpawnError> {
    let child: Box<dyn Child> = child;
    // The words of portable-pty say neither signal nor code as they are.
    let child = child.downcast::<std::process::Child>();
    let child = child.map_err(|_| SpawnError::Unsupported("the terminal started what is no process here"))?;
    UncontainedChild::follow(*child)
}

/// Follows a program of a console.
#[cfg(not(unix))]
fn follow(mut child: Box<dyn Child + Send + Sync>) -> Result<UncontainedChild, SpawnError> {
    let mut killer = child.clone_killer();
    let (pid, handle) = (child.process_id(), child.as_raw_handle());
    let (pid, handle) = pid.zip(handle).ok_or(SpawnError::Lost)?;
    let wait = move || child.wait().map(|status| status.exit_code());
    UncontainedChild::follow_handle(pid, handle, wait).inspect_err(|_| drop(killer.kill()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
