//! Starting the program of a session on its end of a terminal.
//!
//! On Linux the spawner starts it, which supervises, limits and contains. Nothing
//! does that elsewhere, so there the pair starts its program itself, and only
//! where the operator gave up containment. Never knows what the program prints.

#[cfg(any(test, not(target_os = "linux")))]
mod uncontained;

pub(crate) use wharf_spawn::Child;
use wharf_spawn::{SpawnError, Spawner};

use crate::{TerminalRequest, pty::ProgramEnd};

/// Starts a program on its end of a terminal, of which no copy is left here.
///
/// # Errors
/// Where it does not start; then nothing of it is left.
#[cfg(target_os = "linux")]
pub(crate) async fn start(
    spawner: &Spawner,
    request: TerminalRequest,
    terminal: ProgramEnd,
) -> Result<Child, SpawnError> {
    spawner.spawn(request.into_child(terminal.0)).await
}

/// Starts a program on its end of a terminal, of which no copy is left here.
///
/// # Errors
/// Where it does not start; then nothing of it is left.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn start(_: &Spawner, request: TerminalRequest, terminal: ProgramEnd) -> Result<Child, SpawnError> {
    uncontained::start(request, terminal.0).await
}
