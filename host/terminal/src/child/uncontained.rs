//! A program that portable-pty starts on its end of a terminal: not supervised,
//! not limited, not contained.
//!
//! A request that needs more is refused: containment, another user, a directory
//! that does not exist. Descendants that leave the program's process group live
//! on after it.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use portable_pty::{Child as PortableChild, ChildKiller, CommandBuilder, SlavePty};
use tokio::{sync::watch, task::spawn_blocking, time::timeout};
use wharf_spawn::{ChildEnd, ChildExit, Containment, Signal, SpawnError};

use crate::{TerminalRequest, pty::Slave};

/// What ends a program; nothing once it is reaped, when its number may be
/// another's.
type Killer = Option<Box<dyn ChildKiller + Send + Sync>>;

/// A program that runs. Dropping it kills the program and its process group.
#[derive(Debug)]
pub(crate) struct UncontainedChild {
    pid: u32,
    ended: watch::Receiver<Option<Result<ChildExit, io::ErrorKind>>>,
    killer: Arc<Mutex<Killer>>,
}

impl UncontainedChild {
    /// Starts a program, of whose end of the terminal no copy is left here.
    /// Where the future is dropped, the program is killed.
    ///
    /// # Errors
    /// Where the request needs what is not here, or the program does not start.
    pub(crate) async fn start(request: TerminalRequest, terminal: Slave) -> Result<Self, SpawnError> {
        let command = command(request)?;
        let started = spawn_blocking(move || Self::run(command, &*terminal)).await;
        started.map_err(|error| SpawnError::Supervisor(io::Error::other(error)))?
    }

    fn run(command: CommandBuilder, terminal: &dyn SlavePty) -> Result<Self, SpawnError> {
        let program = command.get_argv().first().cloned().unwrap_or_default();
        let child = terminal.spawn_command(command).map_err(|error| {
            let source = error.downcast().unwrap_or_else(io::Error::other);
            SpawnError::Program { step: "run", path: program.into(), source }
        })?;
        let pid = child.process_id().ok_or(SpawnError::Lost)?;
        let killer = Arc::new(Mutex::new(Some(child.clone_killer())));
        let (sender, ended) = watch::channel(None);
        let this = Self { pid, ended, killer: Arc::clone(&killer) };
        let waits = move || {
            let exit = wait(child, &killer);
            sender.send_replace(Some(exit.map_err(|error| error.kind())));
        };
        thread::Builder::new().name("wharf-pty-wait".into()).spawn(waits).map_err(SpawnError::Supervisor)?;
        Ok(this)
    }

    /// The program's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end of the program. Cancel-safe.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the system does not say how it ended.
    pub(crate) async fn wait(&self) -> Result<ChildEnd, SpawnError> {
        let mut ended = self.ended.clone();
        let exit = *ended.wait_for(Option::is_some).await.map_err(|_| SpawnError::Lost)?;
        let exit = exit.and_then(Result::ok).ok_or(SpawnError::Lost)?;
        Ok(ChildEnd { exit, descendants: 0 })
    }

    /// Waits for the end of the program: nobody counts what is below it.
    pub(crate) async fn wait_for_tree(&self) {
        // However it ended, it is gone.
        drop(self.wait().await);
    }

    /// Sends a signal to the program's process group while the program lives.
    ///
    /// # Errors
    /// [`SpawnError::System`] where the system refuses.
    pub(crate) async fn signal(&self, signal: Signal) -> Result<(), SpawnError> {
        let killer = lock(&self.killer);
        if killer.is_none() {
            return Ok(());
        }
        send(self.pid, signal).map_err(|source| SpawnError::System { action: "send a signal", source })
    }

    /// Ends the program: politely, and after `grace` by force.
    ///
    /// # Errors
    /// [`SpawnError::Lost`] where the system does not say how it ended.
    pub(crate) async fn kill_tree(&self, grace: Duration) -> Result<ChildEnd, SpawnError> {
        self.signal(Signal::Terminate).await?;
        if timeout(grace, self.wait()).await.is_err() {
            self.kill();
        }
        self.wait().await
    }

    fn kill(&self) {
        if let Some(killer) = lock(&self.killer).as_mut() {
            // Where there is a group, it goes; the program in any case.
            if send(self.pid, Signal::Kill).is_err() {
                drop(killer.kill());
            }
        }
    }
}

impl Drop for UncontainedChild {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lock(killer: &Mutex<Killer>) -> MutexGuard<'_, Killer> {
    // It is set and removed as a whole.
    killer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command of a request.
fn command(request: TerminalRequest) -> Result<CommandBuilder, SpawnError> {
    if let Containment::Required(_) = request.containment {
        return Err(SpawnError::Uncontainable { missing: SpawnError::Unsupported.to_string(), required: false });
    }
    if let Some(user) = request.user {
        return Err(SpawnError::User { user });
    }
    let illegal = |what, shown: &std::path::Path| {
        let shown = shown.to_string_lossy().chars().take(60).collect();
        Err(SpawnError::Illegal { what, shown, why: "it is not absolute" })
    };
    if !request.program.is_absolute() {
        return illegal("the program", &request.program);
    }
    if !request.working_directory.is_absolute() {
        return illegal("the working directory", &request.working_directory);
    }
    // The command would start at home instead.
    if !request.working_directory.is_dir() {
        let source = io::ErrorKind::NotADirectory.into();
        return Err(SpawnError::Program { step: "enter", path: request.working_directory, source });
    }
    let mut command = CommandBuilder::new(&request.program);
    command.args(&request.arguments);
    command.cwd(&request.working_directory);
    command.env_clear();
    for (name, value) in request.whole_environment() {
        command.env(name, value);
    }
    Ok(command)
}

/// Waits for the end of a program, and reaps it when nobody can signal it.
#[cfg(unix)]
fn wait(child: Box<dyn PortableChild + Send + Sync>, killer: &Mutex<Killer>) -> io::Result<ChildExit> {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let mut child: Box<dyn PortableChild> = child;
    // The words of portable-pty say neither signal nor code as they are.
    let child = child.downcast_mut::<std::process::Child>().ok_or(io::ErrorKind::Unsupported)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(error) = waitid(WaitId::Pid(pid), options) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    let mut killer = lock(killer);
    *killer = None;
    let status = child.wait()?;
    drop(killer);
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => ChildExit::Exited { code },
        (None, signal) => ChildExit::Signaled { signal: signal.unwrap_or_default() },
    })
}

/// Waits for the end of a program.
#[cfg(not(unix))]
fn wait(mut child: Box<dyn PortableChild + Send + Sync>, killer: &Mutex<Killer>) -> io::Result<ChildExit> {
    let status = child.wait()?;
    *lock(killer) = None;
    Ok(ChildExit::Exited { code: status.exit_code().cast_signed() })
}

/// Sends a signal to the process group that a program leads.
#[cfg(unix)]
fn send(pid: u32, signal: Signal) -> io::Result<()> {
    use rustix::process::{Pid, Signal as Number, kill_process_group};

    let number = match signal {
        Signal::Hangup => Number::HUP,
        Signal::Interrupt => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Terminate => Number::TERM,
        Signal::Kill => Number::KILL,
        Signal::User1 => Number::USR1,
        Signal::User2 => Number::USR2,
        Signal::Stop => Number::STOP,
        Signal::Continue => Number::CONT,
    };
    let group = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process_group(group, number)?)
}

/// Windows has no signals: only its kill ends a program.
#[cfg(not(unix))]
fn send(_: u32, signal: Signal) -> io::Result<()> {
    if signal == Signal::Kill { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
