//! Starting a process: its slot, its files, its child, its pipes.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs, io,
    path::PathBuf,
    sync::{Arc, OnceLock, atomic::AtomicU32},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    select,
    sync::{mpsc, watch},
    task::spawn_blocking,
    time::Instant,
};
use wharf_files::private_files;
use wharf_spawn::{Child, ChildInput, ChildLimits, ChildOutput, Containment, SpawnError, Spawner, StdoutPipe};

use wharf_core::{WorkspaceStay, grant::GrantClock, quota::Level};

use super::{
    Processes,
    bounds::ProcessBounds,
    follow::follow,
    process::Process,
    quotas::ProcessSlot,
    state::ProcessState,
    table::ProcessTable,
    termination::{StopRequest, TimeLimits},
};
use crate::{
    Exit, Owner, ProcessError, ProcessId,
    ends::ProcessEnds,
    output::{CapturedOutput, CopierSlots, OutputDisk, OutputLimits, copy},
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
    pub limits: ChildLimits,
    /// What it may reach.
    pub containment: Containment,
    /// The user that it is, where it is not the host's own.
    pub user: Option<u32>,
    /// Keeps its workspace from being removed until nothing of it runs any more.
    pub stay: Option<WorkspaceStay>,
}

impl SpawnRequest {
    /// What bounds it where the host lets it run so long at most.
    fn bounds(&self, most: Duration) -> ProcessBounds {
        ProcessBounds {
            lifetime: self.lifetime.unwrap_or(Duration::MAX).min(most),
            silence: self.silence,
            limits: self.limits,
            containment: self.containment.clone(),
            user: self.user,
        }
    }

    /// The child that this asks for.
    fn into_child(self) -> wharf_spawn::SpawnRequest {
        wharf_spawn::SpawnRequest {
            program: self.program,
            arguments: self.arguments,
            environment: self.environment,
            working_directory: self.directory,
            stdin: if self.input { ChildInput::Pipe } else { ChildInput::Null },
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
    /// running at once; the limits of session, tenant and host hold, too. What a
    /// command left running in the background counts until it ends. Once the process is
    /// listed, dropping the future does not take it back: it is started.
    ///
    /// # Errors
    /// [`ProcessError::TooMany`] or [`ProcessError::TooManyGranted`] where there
    /// is no place for it, [`ProcessError::TooManyEnded`] or
    /// [`ProcessError::NoRoomForOutput`] where what is kept of others leaves no
    /// room; [`ProcessError::Start`], in which case it is listed as failed;
    /// [`ProcessError::Ended`] where it was stopped before it ran.
    pub async fn spawn(&self, owner: &Owner, request: SpawnRequest, most: usize) -> Result<ProcessId, ProcessError> {
        let slot = self.quotas.take_slot(owner).map_err(|full| ProcessError::TooMany { full })?;
        // Asked again when it is listed; this only saves the files.
        self.check_room(&self.table(), owner, most)?;
        self.forget_oldest_ended(owner)?;
        let id = self.settings.handles.handle().map(ProcessId).map_err(ProcessError::storage("make an id"))?;
        let (stops, stop_requests) = mpsc::channel(STOPS);
        let bounds = request.bounds(self.settings.lifetime);
        let ProcessBounds { lifetime, silence, .. } = bounds;
        let planned = PlannedProcess {
            id,
            owner: owner.clone(),
            command: shortened(&request.command),
            directory: self.directory.path().join(id.to_string()),
            limits: self.settings.output,
            slot,
            stay: request.stay.clone(),
            bounds,
            ends: Arc::clone(&self.ends),
            stops,
            clock: self.settings.clock.clone(),
        };
        let disk = Arc::clone(&self.quotas.disk);
        let prepared = spawn_blocking(move || planned.prepare(&disk)).await;
        let prepared = prepared.map_err(io::Error::other).map_err(ProcessError::storage(MAKE_FILES));
        let mut prepared = prepared.flatten()?;
        // Nothing is awaited from here until it is listed: else it could be dropped
        // before that.
        let process = Arc::clone(&prepared.process);
        if let Err(error) = self.list_within(&process, most) {
            spawn_blocking(move || drop(prepared));
            return Err(error);
        }
        prepared.is_listed = true;
        let limits = TimeLimits { deadline: process.began.checked_add(lifetime), lifetime, silence };
        let (spawner, copiers, starting) = (self.spawner.clone(), self.copiers.clone(), Arc::clone(&process));
        let start = async move { start(&spawner, &copiers, starting, request, stop_requests, limits).await };
        match tokio::spawn(start).await {
            Ok(result) => result.map(|()| id),
            Err(error) => {
                tracing::error!(process = %id, %error, "a process was not started");
                let source = SpawnError::System { action: "start the process", source: io::Error::other(error) };
                mark_not_started(&process, &source).await;
                Err(ProcessError::Start { source })
            }
        }
    }

    /// Lists a process where its owner may have one more: counted and listed under one
    /// lock, so that no two take the last place.
    fn list_within(&self, process: &Arc<Process>, most: usize) -> Result<(), ProcessError> {
        let mut table = self.table();
        self.check_room(&table, &process.owner, most)?;
        table.insert(Arc::clone(process));
        Ok(())
    }

    fn check_room(&self, table: &ProcessTable, owner: &Owner, most: usize) -> Result<(), ProcessError> {
        if table.is_closed() {
            return Err(ProcessError::ShuttingDown);
        }
        let own = table.owned_by(owner).filter(|process| process.is_alive()).count();
        if own >= most { Err(ProcessError::TooManyGranted { limit: most }) } else { Ok(()) }
    }

    /// Forgets ended processes until another one may be kept, the oldest first: those of
    /// the session, or of its tenant where the limit is wider, and of nobody else.
    fn forget_oldest_ended(&self, owner: &Owner) -> Result<(), ProcessError> {
        let mut forgotten = Vec::new();
        let mut oldest: Option<(Level, VecDeque<Arc<Process>>)> = None;
        let result = {
            let mut table = self.table();
            loop {
                let Err(full) = self.quotas.ended.take(&owner.tenant, &owner.session, 0) else { break Ok(()) };
                let candidates = match &mut oldest {
                    Some((level, candidates)) if *level == full.level => candidates,
                    other => &mut other.insert((full.level, table.ended(owner, full.level))).1,
                };
                let Some(process) = candidates.pop_front() else { break Err(ProcessError::TooManyEnded { full }) };
                process.slot.leave();
                table.remove(&process);
                forgotten.push(process);
            }
        };
        if !forgotten.is_empty() {
            tokio::spawn(async move {
                for process in forgotten {
                    process.kill_and_remove().await;
                }
            });
        }
        result
    }
}

const MAKE_FILES: &str = "make the files of the process";

/// A process that has no files yet.
struct PlannedProcess {
    id: ProcessId,
    owner: Owner,
    command: String,
    directory: PathBuf,
    limits: OutputLimits,
    slot: ProcessSlot,
    stay: Option<WorkspaceStay>,
    bounds: ProcessBounds,
    ends: Arc<ProcessEnds>,
    stops: mpsc::Sender<StopRequest>,
    clock: GrantClock,
}

impl PlannedProcess {
    /// The files of a process, room for what it prints, and what is kept of it
    /// in memory. Where it fails, nothing is left.
    fn prepare(self, disk: &Arc<OutputDisk>) -> Result<PreparedProcess, ProcessError> {
        let reserve = || {
            let reserved = disk.reserve(&self.owner.tenant, &self.owner.session);
            reserved.map_err(|full| ProcessError::NoRoomForOutput { full })
        };
        let (stdout, stderr) = (reserve()?, reserve()?);
        private_files::make_new_directory(&self.directory).map_err(ProcessError::storage(MAKE_FILES))?;
        let Self { id, owner, command, directory, limits, slot, stay, bounds, ends, stops, clock } = self;
        let create = |name, claim| CapturedOutput::create(&directory.join(name), limits, claim);
        let streams = create(Process::STDOUT, stdout).and_then(|stdout| Ok((stdout, create(Process::STDERR, stderr)?)));
        let recorded = streams.and_then(|(stdout, stderr)| {
            let process = Process {
                id,
                owner,
                command,
                directory: directory.clone(),
                started: clock.now().into(),
                clock,
                began: Instant::now(),
                stdout,
                stderr,
                state: watch::Sender::new(ProcessState::STARTING),
                slot,
                stay: Mutex::new(stay),
                polls: Mutex::new(Polls::default()),
                input: tokio::sync::Mutex::new(None),
                pid: OnceLock::new(),
                bounds: Some(bounds),
                mechanism: OnceLock::new(),
                looks: Arc::default(),
                child: Mutex::new(None),
                descendants: AtomicU32::new(0),
                ends,
                stops,
            };
            let prepared = PreparedProcess { process: Arc::new(process), is_listed: false };
            prepared.process.write_record(&ProcessState::STARTING).map(|()| prepared)
        });
        recorded.map_err(|source| {
            // It may have been removed on the way here.
            drop(fs::remove_dir_all(&directory));
            ProcessError::Storage { what: MAKE_FILES, source }
        })
    }
}

/// A process with files, which are removed unless it is listed.
struct PreparedProcess {
    process: Arc<Process>,
    is_listed: bool,
}

impl Drop for PreparedProcess {
    fn drop(&mut self) {
        if !self.is_listed {
            self.process.remove_files();
        }
    }
}

async fn start(
    spawner: &Spawner,
    copiers: &CopierSlots,
    process: Arc<Process>,
    request: SpawnRequest,
    mut stops: mpsc::Receiver<StopRequest>,
    limits: TimeLimits,
) -> Result<(), ProcessError> {
    // A child that is stopped before it runs is dropped, which ends it.
    let (order, done) = select! {
        spawned = spawner.spawn(request.into_child()) => match spawned {
            Ok(child) => {
                attach_and_follow(copiers, process, child, stops, limits).await;
                return Ok(());
            }
            Err(source) => {
                mark_not_started(&process, &source).await;
                return Err(ProcessError::Start { source });
            }
        },
        Some(request) = stops.recv() => (request.order(), Some(request.done)),
        order = limits.over() => (order, None),
    };
    process.close_streams();
    let (exit, reason) = order.exit();
    process.end(exit, reason).await;
    drop(done);
    Err(ProcessError::Ended)
}

/// Follows a child that has started.
async fn attach_and_follow(
    copiers: &CopierSlots,
    process: Arc<Process>,
    mut child: Child,
    stops: mpsc::Receiver<StopRequest>,
    limits: TimeLimits,
) {
    *process.input.lock().await = child.take_stdin();
    connect(child.take_stdout(), &process.stdout, copiers);
    connect(child.take_stderr(), &process.stderr, copiers);
    let child = Arc::new(child);
    process.attach(&child);
    process.save(ProcessState::RUNNING).await;
    process.state.send_replace(ProcessState::RUNNING);
    tokio::spawn(follow(process, child, stops, limits));
}

fn connect(pipe: Option<StdoutPipe>, output: &Arc<CapturedOutput>, copiers: &CopierSlots) {
    match pipe {
        Some(pipe) => drop(tokio::spawn(copy(pipe, Arc::clone(output), copiers.clone()))),
        None => {
            tracing::error!("a stream of a process cannot be read");
            output.close();
        }
    }
}

async fn mark_not_started(process: &Arc<Process>, error: &SpawnError) {
    process.close_streams();
    process.end(Exit::NotStarted { reason: wharf_core::text::with_causes(error) }, None).await;
}

/// The beginning of a command.
fn shortened(command: &str) -> String {
    if command.len() <= COMMAND_BYTES {
        return command.to_owned();
    }
    format!("{}…", &command[..command.floor_char_boundary(COMMAND_BYTES)])
}
