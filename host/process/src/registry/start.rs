//! Bringing a process up: its files, its place, its pipes, its child.

use std::{
    ffi::OsString,
    fs, io,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use chrono::Utc;
use tokio::{
    net::unix::pipe,
    sync::{mpsc, watch},
    time::Instant,
};

use super::{
    Processes,
    follow::{Clocks, StopRequest, follow},
    process::{Process, State},
    session,
};
use crate::{
    Exit, Launch, LaunchError, LaunchRequest, Owner, ProcessError, ProcessId,
    output::{Output, copy},
    polls::Polls,
};

/// Commands are shown up to this length.
const COMMAND_BYTES: usize = 1_024;
/// Stops that may be asked for before the first is heard of.
const STOPS: usize = 8;

/// What to start.
#[derive(Debug, Clone)]
pub struct SpawnRequest {
    /// The program: a path, or a name to look for in the `PATH` given below.
    pub program: OsString,
    /// Its arguments, without its name. No shell is involved.
    pub arguments: Vec<OsString>,
    /// Its environment: exactly this.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub directory: PathBuf,
    /// What answers show of it, such as the text of a shell command.
    pub command: String,
    /// Whether its standard input can be written to; else it is empty.
    pub input: bool,
    /// The deadline: how long it may run. The host's own limit holds, too.
    pub lifetime: Option<Duration>,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
}

impl Processes {
    /// Starts a process. Dropping the future does not take it back: what was
    /// begun is started, and listed.
    ///
    /// # Errors
    /// [`ProcessError::TooMany`] where the session has no place for it, or
    /// [`ProcessError::Start`], in which case it is listed as failed.
    pub async fn spawn(&self, owner: &Owner, request: SpawnRequest) -> Result<ProcessId, ProcessError> {
        let id = ProcessId::random()
            .map_err(|error| ProcessError::Storage { what: "make an id", source: io::Error::other(error) })?;
        let (stops, stop_requests) = mpsc::channel(STOPS);
        let process = Arc::new(self.prepare(owner, &request, id, stops)?);
        if let Err(error) = self.admit(&process) {
            process.remove_files();
            return Err(error);
        }
        let lifetime = request.lifetime.unwrap_or(Duration::MAX).min(self.settings.lifetime);
        let clocks = Clocks { deadline: process.began.checked_add(lifetime), silence: request.silence };
        let launch = Arc::clone(&self.launch);
        let starting = Arc::clone(&process);
        let started = tokio::spawn(async move { start(launch, starting, request, stop_requests, clocks).await });
        match started.await {
            Ok(result) => result.map(|()| id),
            Err(error) => {
                tracing::error!(process = %id, %error, "a launcher failed");
                process.end(Exit::NotStarted { reason: "the launcher failed".into() });
                let source = LaunchError::Unavailable { source: io::Error::other(error) };
                Err(ProcessError::Start { source })
            }
        }
    }

    fn prepare(
        &self,
        owner: &Owner,
        request: &SpawnRequest,
        id: ProcessId,
        stops: mpsc::Sender<StopRequest>,
    ) -> Result<Process, ProcessError> {
        // Asked again once it has its place; this only saves the files.
        self.check_room(&self.table(), owner)?;
        let directory = self.home.directory_of(id);
        let failed = || ProcessError::storage("make the files of the process");
        fs::DirBuilder::new().mode(0o700).create(&directory).map_err(failed())?;
        let create = |name| Output::create(&directory.join(name), self.settings.output).map(Arc::new);
        let (stdout, stderr) = (create(Process::STDOUT), create(Process::STDERR));
        let (stdout, stderr) = (stdout.map_err(failed())?, stderr.map_err(failed())?);
        let process = Process {
            id,
            owner: owner.clone(),
            command: shown(&request.command),
            directory,
            started: Utc::now(),
            began: Instant::now(),
            stdout,
            stderr,
            state: watch::Sender::new(State::STARTING),
            polls: Mutex::new(Polls::default()),
            input: tokio::sync::Mutex::new(None),
            child: OnceLock::new(),
            former_pid: None,
            stops,
        };
        process.record(&State::STARTING).map_err(failed())?;
        Ok(process)
    }

    /// Gives a process its place, if there is one: counted and taken under one
    /// lock, so that no two take the last.
    fn admit(&self, process: &Arc<Process>) -> Result<(), ProcessError> {
        let forgotten = {
            let mut table = self.table();
            self.check_room(&table, &process.owner)?;
            let processes = table.entry(session(&process.owner)).or_default();
            processes.insert(process.id, Arc::clone(process));
            let ended = processes.values().filter(|process| process.status().has_ended());
            let oldest = (ended.clone().count() > self.settings.ended_per_session)
                .then(|| ended.min_by_key(|process| process.started).map(|process| process.id));
            oldest.flatten().and_then(|oldest| processes.remove(&oldest))
        };
        if let Some(forgotten) = forgotten {
            tokio::spawn(async move { forgotten.bury().await });
        }
        Ok(())
    }

    fn check_room(&self, table: &super::Table, owner: &Owner) -> Result<(), ProcessError> {
        let limit = self.settings.running_per_session;
        let active = table
            .get(&session(owner))
            .map_or(0, |processes| processes.values().filter(|process| !process.status().has_ended()).count());
        if active < limit { Ok(()) } else { Err(ProcessError::TooMany { limit }) }
    }
}

async fn start(
    launch: Arc<dyn Launch>,
    process: Arc<Process>,
    request: SpawnRequest,
    stops: mpsc::Receiver<StopRequest>,
    clocks: Clocks,
) -> Result<(), ProcessError> {
    let launched = match connect(&process, request.input).await {
        Ok((stdin, stdout, stderr)) => {
            let SpawnRequest { program, arguments, environment, directory, .. } = request;
            launch.launch(LaunchRequest { program, arguments, environment, directory, stdin, stdout, stderr }).await
        }
        Err(source) => Err(LaunchError::Unavailable { source }),
    };
    let child = match launched {
        Ok(child) => child,
        Err(source) => {
            process.input.lock().await.take();
            process.stdout.close();
            process.stderr.close();
            let reason = match std::error::Error::source(&source) {
                Some(cause) => format!("{source}: {cause}"),
                None => source.to_string(),
            };
            process.end(Exit::NotStarted { reason });
            return Err(ProcessError::Start { source });
        }
    };
    // Set once, here.
    drop(process.child.set(Arc::clone(&child)));
    if let Err(error) = process.record(&State::RUNNING) {
        tracing::error!(process = %process.id, %error, "the start of a process is not recorded");
    }
    process.state.send_replace(State::RUNNING);
    tokio::spawn(follow(process, child, stops, clocks));
    Ok(())
}

/// The child's ends of its pipes; the host's are connected to the process.
async fn connect(process: &Process, input: bool) -> io::Result<(Option<OwnedFd>, OwnedFd, OwnedFd)> {
    let stdin = if input {
        let (sender, receiver) = pipe::pipe()?;
        *process.input.lock().await = Some(sender);
        Some(receiver.into_blocking_fd()?)
    } else {
        None
    };
    let (stdout, stdout_receiver) = pipe::pipe()?;
    let (stderr, stderr_receiver) = pipe::pipe()?;
    let ends = (stdin, stdout.into_blocking_fd()?, stderr.into_blocking_fd()?);
    tokio::spawn(copy(stdout_receiver, Arc::clone(&process.stdout)));
    tokio::spawn(copy(stderr_receiver, Arc::clone(&process.stderr)));
    Ok(ends)
}

/// The beginning of a command.
fn shown(command: &str) -> String {
    if command.len() <= COMMAND_BYTES {
        return command.to_owned();
    }
    format!("{}…", &command[..command.floor_char_boundary(COMMAND_BYTES)])
}
