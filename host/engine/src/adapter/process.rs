//! `process`: child processes of the calling session.

mod convert;

use std::{sync::Arc, time::Duration};

use wharf_core::{
    Code, Error,
    grant::{AllowedCommand, GrantedProcess},
};
use wharf_process::{
    ChildWorkspace, Owner, ProcessError, ProcessId, Processes, Reason, StreamName, Until, Wanted, output::Piece,
    signal_named,
};

use wharf_workspace::Workspace;

use crate::{
    bindings::wharf::plugin::{
        process::{self as wit, Host},
        types,
    },
    call::ActiveCall,
    guest::Guest,
};

/// A process, and the proof that this call may ask for it.
struct Found<'g> {
    processes: &'g Arc<Processes>,
    owner: Owner,
    id: ProcessId,
}

impl ActiveCall {
    fn granted_process(&self) -> Result<(GrantedProcess<'_>, &Arc<Processes>), Error> {
        Ok((self.grants().process(&self.plugin)?, self.rooms.processes()?))
    }

    fn found(&self, id: &str) -> Result<Found<'_>, Error> {
        let (granted, processes) = self.granted_process()?;
        Ok(Found { processes, owner: granted.owner(self.context()), id: id.parse().map_err(Error::from)? })
    }

    /// Where processes of this session run, unless it is full; made where there is none.
    async fn place(&self, granted: &GrantedProcess<'_>) -> Result<ChildWorkspace, Error> {
        self.rooms.workspace_to_run(granted.workspace(self.context())).await.map(place_of)
    }

    /// How long a wait may last: until shortly before the end of the call.
    pub(super) fn patience(&self, milliseconds: u64) -> Duration {
        let left = self.clock.wait_until().saturating_duration_since(std::time::Instant::now());
        Duration::from_millis(milliseconds).min(left)
    }

    /// What a read may return: no more than the call may still move.
    pub(super) fn room(&self, max_bytes: u32, streams: u64) -> usize {
        usize::try_from(u64::from(max_bytes).min(self.budget.readable_bytes() / streams)).unwrap_or(usize::MAX)
    }

    async fn start(
        &self,
        granted: &GrantedProcess<'_>,
        command: AllowedCommand<'_>,
        arguments: &[String],
        launch: &wit::Launch,
    ) -> Result<String, Error> {
        no_options(launch.options.as_deref())?;
        let processes = self.rooms.processes()?;
        let place = self.place(granted).await?;
        let wanted = Wanted {
            command,
            arguments,
            directory: &launch.directory,
            environment: &launch.environment,
            input: launch.input,
            lifetime: launch.lifetime_milliseconds.map(Duration::from_millis),
            silence: launch.silence_milliseconds.map(Duration::from_millis),
        };
        Ok(processes.start(granted, self.context(), &place, wanted).await?.to_string())
    }

    async fn spawn_program(&self, program: &str, arguments: &[String], launch: &wit::Launch) -> Result<String, Error> {
        let (granted, _) = self.granted_process()?;
        let command = granted.program(program)?;
        self.start(&granted, command, arguments, launch).await
    }

    async fn spawn_text(&self, text: &str, launch: &wit::Launch) -> Result<String, Error> {
        let (granted, _) = self.granted_process()?;
        let command = granted.shell(text)?;
        self.start(&granted, command, &[], launch).await
    }

    async fn process_status(&self) -> Result<String, Error> {
        let (granted, processes) = self.granted_process()?;
        // Looking makes nothing.
        let place = place_of(self.rooms.workspaces()?.of(&granted.workspace(self.context())));
        let standing = processes.standing(&granted, self.context(), &place).await?;
        serde_json::to_string(&standing).map_err(|error| Error::new(Code::Internal, error.to_string()))
    }

    async fn list_processes(&self) -> Result<Vec<wit::Info>, Error> {
        let (granted, processes) = self.granted_process()?;
        Ok(processes.list(&granted.owner(self.context())).await.into_iter().map(Into::into).collect())
    }

    async fn poll_process(&self, id: &str, lines: u32, max_bytes: u32) -> Result<wit::Polled, Error> {
        let Found { processes, owner, id } = self.found(id)?;
        let polled = processes.poll(&owner, id, count(lines), self.room(max_bytes, 2)).await?;
        Ok(wit::Polled {
            process: polled.process.into(),
            stdout: polled.stdout.into(),
            stderr: polled.stderr.into(),
            advice: polled.guidance.map(Into::into),
        })
    }

    async fn wait_for_process(&self, id: &str, condition: wit::Condition, ms: u64) -> Result<wit::Waited, Error> {
        let Found { processes, owner, id } = self.found(id)?;
        let pattern = match condition.pattern {
            Some((place, text)) => Some((stream(&place.stream)?, place.cursor, pattern(&text)?)),
            None => None,
        };
        let output =
            condition.output.map(|place| Ok::<_, Error>((stream(&place.stream)?, place.cursor))).transpose()?;
        let idle = condition.idle_milliseconds.map(Duration::from_millis);
        let until = Until { output, pattern, exit: condition.exit, idle };
        let waited = processes.wait(&owner, id, &until, self.patience(ms)).await?;
        let (reason, found) = match waited.reason {
            Reason::Output => ("output", None),
            Reason::Pattern(found) => ("pattern", Some((found.from, found.to))),
            Reason::Exit => ("exit", None),
            Reason::Idle => ("idle", None),
            Reason::TimeUp => ("time-up", None),
        };
        Ok(wit::Waited {
            reason: reason.to_owned(),
            found,
            process: waited.process.into(),
            advice: waited.guidance.map(Into::into),
        })
    }

    async fn write_input(&self, id: &str, data: &[u8], milliseconds: u64) -> Result<u64, Error> {
        let Found { processes, owner, id } = self.found(id)?;
        Ok(processes.write(&owner, id, data, self.patience(milliseconds)).await? as u64)
    }

    async fn close_process_input(&self, id: &str) -> Result<(), Error> {
        let Found { processes, owner, id } = self.found(id)?;
        Ok(processes.close_input(&owner, id).await?)
    }

    async fn signal_process(&self, id: &str, signal: &str) -> Result<(), Error> {
        let Found { processes, owner, id } = self.found(id)?;
        let signal = signal_named(signal).map_err(|error| Error::new(Code::Invalid, error.to_string()))?;
        Ok(processes.signal(&owner, id, signal).await?)
    }

    async fn stop_process(&self, id: &str, grace: u64) -> Result<wit::Info, Error> {
        let Found { processes, owner, id } = self.found(id)?;
        Ok(processes.stop(&owner, id, Duration::from_millis(grace)).await?.into())
    }

    /// Reads a piece on a thread that may wait for the disk: no more than the
    /// call may still move.
    async fn piece(
        &self,
        id: &str,
        name: &str,
        max_bytes: u32,
        read: impl FnOnce(&Processes, &Owner, ProcessId, StreamName, usize) -> Result<Piece, ProcessError> + Send + 'static,
    ) -> wasmtime::Result<Result<wit::Piece, types::Error>> {
        let room = self.room(max_bytes, 1);
        let asked = async {
            let (Found { processes, owner, id }, stream) = (self.found(id)?, stream(name)?);
            let processes = Arc::clone(processes);
            let piece = tokio::task::spawn_blocking(move || read(&processes, &owner, id, stream, room)).await;
            Ok::<_, Error>(piece.map_err(|error| Error::new(Code::Internal, error.to_string()))??)
        };
        let piece = asked.await;
        self.budget.moved(piece.as_ref().map_or(0, |piece| piece.bytes.len() as u64))?;
        Ok(piece.map(Into::into).map_err(Into::into))
    }
}

impl Host for Guest {
    async fn status(&mut self) -> wasmtime::Result<Result<String, types::Error>> {
        self.call.budget.host_call(0)?;
        Ok(self.call.process_status().await.map_err(Into::into))
    }

    async fn spawn(
        &mut self,
        program: String,
        arguments: Vec<String>,
        launch: wit::Launch,
    ) -> wasmtime::Result<Result<String, types::Error>> {
        let texts: usize = arguments.iter().map(String::len).sum();
        self.call.budget.host_call((program.len() + texts) as u64 + launch_bytes(&launch))?;
        Ok(self.call.spawn_program(&program, &arguments, &launch).await.map_err(Into::into))
    }

    async fn spawn_shell(
        &mut self,
        command: String,
        launch: wit::Launch,
    ) -> wasmtime::Result<Result<String, types::Error>> {
        self.call.budget.host_call(command.len() as u64 + launch_bytes(&launch))?;
        Ok(self.call.spawn_text(&command, &launch).await.map_err(Into::into))
    }

    async fn list(&mut self) -> wasmtime::Result<Result<Vec<wit::Info>, types::Error>> {
        self.call.budget.host_call(0)?;
        let listed = self.call.list_processes().await;
        self.call.budget.moved(listed.iter().flatten().map(info_bytes).sum())?;
        Ok(listed.map_err(Into::into))
    }

    async fn poll(
        &mut self,
        id: String,
        lines: u32,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<wit::Polled, types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        let polled = self.call.poll_process(&id, lines, max_bytes).await;
        self.call.budget.moved(
            polled.iter().map(|polled| polled.stdout.data.len() + polled.stderr.data.len()).sum::<usize>() as u64,
        )?;
        Ok(polled.map_err(Into::into))
    }

    async fn wait(
        &mut self,
        id: String,
        condition: wit::Condition,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<wit::Waited, types::Error>> {
        self.call.budget.host_call(condition.pattern.as_ref().map_or(0, |(_, pattern)| pattern.len() as u64))?;
        Ok(self.call.wait_for_process(&id, condition, milliseconds).await.map_err(Into::into))
    }

    async fn read(
        &mut self,
        id: String,
        from: wit::Position,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<wit::Piece, types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        let cursor = from.cursor;
        let read = move |processes: &Processes, owner: &Owner, id, stream, room| {
            processes.read(owner, id, stream, cursor, room)
        };
        self.call.piece(&id, &from.stream, max_bytes, read).await
    }

    async fn head(
        &mut self,
        id: String,
        stream: String,
        lines: u32,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<wit::Piece, types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        let read = move |processes: &Processes, owner: &Owner, id, stream, room| {
            processes.head(owner, id, stream, count(lines), room)
        };
        self.call.piece(&id, &stream, max_bytes, read).await
    }

    async fn tail(
        &mut self,
        id: String,
        stream: String,
        lines: u32,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<wit::Piece, types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        let read = move |processes: &Processes, owner: &Owner, id, stream, room| {
            processes.tail(owner, id, stream, count(lines), room)
        };
        self.call.piece(&id, &stream, max_bytes, read).await
    }

    async fn write(
        &mut self,
        id: String,
        data: Vec<u8>,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<u64, types::Error>> {
        self.call.budget.host_call(data.len() as u64)?;
        Ok(self.call.write_input(&id, &data, milliseconds).await.map_err(Into::into))
    }

    async fn close_input(&mut self, id: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        Ok(self.call.close_process_input(&id).await.map_err(Into::into))
    }

    async fn signal(&mut self, id: String, signal: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.call.budget.host_call((id.len() + signal.len()) as u64)?;
        Ok(self.call.signal_process(&id, &signal).await.map_err(Into::into))
    }

    async fn stop(&mut self, id: String, grace_milliseconds: u64) -> wasmtime::Result<Result<wit::Info, types::Error>> {
        self.call.budget.host_call(id.len() as u64)?;
        Ok(self.call.stop_process(&id, grace_milliseconds).await.map_err(Into::into))
    }
}

fn info_bytes(info: &wit::Info) -> u64 {
    (info.command.len() + info.meta.as_ref().map_or(0, String::len) + 256) as u64
}

pub(super) fn place_of(workspace: Workspace) -> ChildWorkspace {
    let Workspace { files, home, user } = workspace;
    ChildWorkspace { files, home, user }
}

fn count(lines: u32) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}

fn launch_bytes(launch: &wit::Launch) -> u64 {
    let environment: usize = launch.environment.iter().map(|(name, value)| name.len() + value.len()).sum();
    (launch.directory.len() + environment + launch.options.as_ref().map_or(0, String::len)) as u64
}

pub(super) fn no_options(options: Option<&str>) -> Result<(), Error> {
    let Some(options) = options else { return Ok(()) };
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(options) {
        Ok(members) if members.is_empty() => Ok(()),
        Ok(_) => Err(Error::new(Code::Invalid, "this host knows no member of `options`; leave it out")),
        Err(error) => Err(Error::new(Code::Invalid, format!("`options` is no JSON object: {error}"))),
    }
}

fn stream(name: &str) -> Result<StreamName, Error> {
    match name {
        "stdout" => Ok(StreamName::Stdout),
        "stderr" => Ok(StreamName::Stderr),
        _ => Err(Error::new(Code::Invalid, "a stream is `stdout` or `stderr`")),
    }
}

fn pattern(text: &str) -> Result<wharf_process::Pattern, Error> {
    wharf_process::Pattern::new(text).map_err(|source| ProcessError::Pattern { source }.into())
}
