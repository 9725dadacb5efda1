//! Bringing a process up: its files, its place, its child, its pipes.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicU32},
    time::Duration,
};

use chrono::Utc;
use tokio::{
    net::unix::pipe,
    select,
    sync::{mpsc, watch},
    task::spawn_blocking,
    time::Instant,
};
use wharf_spawn::{Child, Containment, Input, Limits, Output as ChildOutput, SpawnError, Spawner};

use super::{
    Processes, Table,
    follow::{Clocks, StopRequest, follow},
    process::{Process, State},
    session,
};
use crate::{
    Exit, Owner, ProcessError, ProcessId,
    output::{Copiers, Output, OutputLimits, copy},
    polls::Polls,
};

/// Commands are shown up to this length.
const COMMAND_BYTES: usize = 1_024;
/// Stops that may be asked for before the first is heard of.
const STOPS: usize = 8;

/// What to start.
#[derive(Debug, Clone)]
pub struct SpawnRequest {
    /// Absolute path of the program, as the child sees the file system.
    pub program: PathBuf,
    /// Its arguments, without its name. No shell is involved.
    pub arguments: Vec<OsString>,
    /// Its environment: exactly this.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts: an absolute path, as the child sees it.
    pub directory: PathBuf,
    /// What answers show of it, such as the text of a shell command.
    pub command: String,
    /// Whether its standard input can be written to; else it is empty.
    pub input: bool,
    /// The deadline: how long it may run. The host's own limit holds, too.
    pub lifetime: Option<Duration>,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
    /// What each of its processes may use up.
    pub limits: Limits,
    /// What it may reach.
    pub containment: Containment,
    /// The user that it is, where it is not the host's own.
    pub user: Option<u32>,
}

impl SpawnRequest {
    /// The child that this asks for.
    fn into_child(self) -> wharf_spawn::SpawnRequest {
        wharf_spawn::SpawnRequest {
            program: self.program,
            arguments: self.arguments,
            environment: self.environment,
            working_directory: self.directory,
            stdin: if self.input { Input::Pipe } else { Input::Null },
            stdout: ChildOutput::Pipe,
            stderr: ChildOutput::Pipe,
            descriptors: Vec::new(),
            limits: self.limits,
            containment: self.containment,
            user: self.user,
        }
    }
}

impl Processes {
    /// Starts a process, of which this owner may have `most` starting or
    /// running at once; the limit of the session holds, too. What a command
    /// left running in the background counts until it ends. Once it has its
    /// place, dropping the future does not take it back: it is started, and
    /// listed.
    ///
    /// # Errors
    /// [`ProcessError::TooMany`] or [`ProcessError::TooManyGranted`] where there
    /// is no place for it; [`ProcessError::Start`], in which case it is listed
    /// as failed; [`ProcessError::Ended`] where it was stopped before it ran.
    pub async fn spawn(&self, owner: &Owner, request: SpawnRequest, most: usize) -> Result<ProcessId, ProcessError> {
        // Asked again once it has its place; this only saves the files.
        self.check_room(&self.table(), owner, most)?;
        let id = ProcessId::random()
            .map_err(|error| ProcessError::Storage { what: "make an id", source: io::Error::other(error) })?;
        let (stops, stop_requests) = mpsc::channel(STOPS);
        let (directory, limits) = (self.home.directory_of(id), self.settings.output);
        let (owner, command) = (owner.clone(), shown(&request.command));
        let prepared = spawn_blocking(move || prepare(id, owner, command, directory, limits, stops)).await;
        let prepared = prepared.map_err(io::Error::other).flatten();
        let mut prepared = prepared.map_err(ProcessError::storage("make the files of the process"))?;
        // Nothing is awaited from here until it has its place: else it could be
        // dropped without one.
        let process = Arc::clone(&prepared.process);
        if let Err(error) = self.admit(&process, most) {
            spawn_blocking(move || drop(prepared));
            return Err(error);
        }
        prepared.has_place = true;
        let lifetime = request.lifetime.unwrap_or(Duration::MAX).min(self.settings.lifetime);
        let clocks = Clocks { deadline: process.began.checked_add(lifetime), lifetime, silence: request.silence };
        let (spawner, copiers, starting) = (self.spawner.clone(), self.copiers.clone(), Arc::clone(&process));
        let start = async move { start(&spawner, &copiers, starting, request, stop_requests, clocks).await };
        match tokio::spawn(start).await {
            Ok(result) => result.map(|()| id),
            Err(error) => {
                tracing::error!(process = %id, %error, "a process was not started");
                let source = SpawnError::System { action: "start the process", source: io::Error::other(error) };
                not_started(&process, &source).await;
                Err(ProcessError::Start { source })
            }
        }
    }

    /// Gives a process its place, if there is one: counted and taken under one
    /// lock, so that no two take the last. The oldest tombstones beyond what is
    /// kept make way.
    fn admit(&self, process: &Arc<Process>, most: usize) -> Result<(), ProcessError> {
        let forgotten: Vec<_> = {
            let mut table = self.table();
            self.check_room(&table, &process.owner, most)?;
            let processes = table.sessions.entry(session(&process.owner)).or_default();
            processes.insert(process.id, Arc::clone(process));
            let mut ended: Vec<_> = processes.values().filter(|process| !process.is_alive()).cloned().collect();
            ended.sort_by_key(|process| (process.started, process.id));
            ended.truncate(ended.len().saturating_sub(self.settings.ended_per_session));
            for process in &ended {
                processes.remove(&process.id);
            }
            ended
        };
        if !forgotten.is_empty() {
            tokio::spawn(async move {
                for process in forgotten {
                    process.bury().await;
                }
            });
        }
        Ok(())
    }

    fn check_room(&self, table: &Table, owner: &Owner, most: usize) -> Result<(), ProcessError> {
        if table.closed {
            return Err(ProcessError::ShuttingDown);
        }
        let processes = table.sessions.get(&session(owner)).into_iter().flat_map(|processes| processes.values());
        let alive = processes.filter(|process| process.is_alive());
        let (all, own) =
            alive.fold((0, 0), |(all, own), process| (all + 1, own + usize::from(process.owner == *owner)));
        let limit = self.settings.running_per_session;
        if all >= limit {
            Err(ProcessError::TooMany { limit })
        } else if own >= most {
            Err(ProcessError::TooManyGranted { limit: most })
        } else {
            Ok(())
        }
    }
}

/// The files of a process, and what is kept of it in memory. Where it fails,
/// nothing is left.
fn prepare(
    id: ProcessId,
    owner: Owner,
    command: String,
    directory: PathBuf,
    limits: OutputLimits,
    stops: mpsc::Sender<StopRequest>,
) -> io::Result<Prepared> {
    fs::DirBuilder::new().mode(0o700).create(&directory)?;
    let create = |name| Output::create(&directory.join(name), limits).map(Arc::new);
    let streams = create(Process::STDOUT).and_then(|stdout| Ok((stdout, create(Process::STDERR)?)));
    let recorded = streams.and_then(|(stdout, stderr)| {
        let process = Process {
            id,
            owner,
            command,
            directory: directory.clone(),
            started: Utc::now(),
            began: Instant::now(),
            stdout,
            stderr,
            state: watch::Sender::new(State::STARTING),
            polls: Mutex::new(Polls::default()),
            input: tokio::sync::Mutex::new(None),
            pid: OnceLock::new(),
            child: Mutex::new(None),
            descendants: AtomicU32::new(0),
            stops,
        };
        let prepared = Prepared { process: Arc::new(process), has_place: false };
        prepared.process.record(&State::STARTING).map(|()| prepared)
    });
    recorded.inspect_err(|_| {
        // It may have been removed on the way here.
        drop(fs::remove_dir_all(&directory));
    })
}

/// A process with files, which go again where it gets no place.
struct Prepared {
    process: Arc<Process>,
    has_place: bool,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.has_place {
            self.process.remove_files();
        }
    }
}

async fn start(
    spawner: &Spawner,
    copiers: &Copiers,
    process: Arc<Process>,
    request: SpawnRequest,
    mut stops: mpsc::Receiver<StopRequest>,
    clocks: Clocks,
) -> Result<(), ProcessError> {
    // What is stopped before it runs is dropped, which ends it.
    let (order, asked) = select! {
        spawned = spawner.spawn(request.into_child()) => match spawned {
            Ok(child) => {
                run(copiers, process, child, stops, clocks).await;
                return Ok(());
            }
            Err(source) => {
                not_started(&process, &source).await;
                return Err(ProcessError::Start { source });
            }
        },
        Some(request) = stops.recv() => (request.order(), Some(request.done)),
        order = clocks.run_out() => (order, None),
    };
    process.close_streams();
    process.end(order.state()).await;
    drop(asked);
    Err(ProcessError::Ended)
}

/// Follows a child that has started.
async fn run(
    copiers: &Copiers,
    process: Arc<Process>,
    mut child: Child,
    stops: mpsc::Receiver<StopRequest>,
    clocks: Clocks,
) {
    *process.input.lock().await = child.take_stdin();
    connect(child.take_stdout(), &process.stdout, copiers);
    connect(child.take_stderr(), &process.stderr, copiers);
    let child = Arc::new(child);
    process.adopt(&child);
    process.save(State::RUNNING).await;
    process.state.send_replace(State::RUNNING);
    tokio::spawn(follow(process, child, stops, clocks));
}

fn connect(pipe: Option<pipe::Receiver>, output: &Arc<Output>, copiers: &Copiers) {
    match pipe {
        Some(pipe) => drop(tokio::spawn(copy(pipe, Arc::clone(output), copiers.clone()))),
        None => {
            tracing::error!("a stream of a process cannot be read");
            output.close();
        }
    }
}

async fn not_started(process: &Arc<Process>, error: &SpawnError) {
    process.close_streams();
    process.end(State::ended(Exit::NotStarted { reason: wharf_core::text::with_causes(error) }, None)).await;
}

/// The beginning of a command.
fn shown(command: &str) -> String {
    if command.len() <= COMMAND_BYTES {
        return command.to_owned();
    }
    format!("{}…", &command[..command.floor_char_boundary(COMMAND_BYTES)])
}
