//! `process`: child processes of the calling session.

mod convert;

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;
use wharf_contract::{
    UnknownWord,
    process::{Signal, WaitReason},
};
use wharf_core::{
    Code, Error,
    grant::{AllowedCommand, GrantedProcess},
};
use wharf_process::{
    ChildWorkspace, Owner, ProcessError, ProcessId, ProcessRequest, Processes, StreamName, WaitEnd, output::OutputPiece,
};
use wharf_workspace::Workspace;

use super::text;
use crate::{
    bindings::wharf::plugin::process::{self as wit, Host},
    call::ActiveCall,
    failure::Failure,
    guest::Guest,
    watch::{crossing::crossing, weigh},
};

/// A process, and the proof that this call may ask for it.
struct OwnedProcess<'c> {
    processes: &'c Arc<Processes>,
    owner: Owner,
    id: ProcessId,
}

weigh! {
    wit::Launch { directory, environment, options | input, lifetime_milliseconds, silence_milliseconds };
    wit::Position { stream | cursor };
    wit::Condition { output, pattern | exit, idle_milliseconds };
    wit::Info {
        command, meta
        | id, pid, status, outcome, started, finished, stdout, stderr, descendants
    } + 256;
    wit::Waited { process | reason, found, advice };
    // Its data fills what a read may return. The host's words beside it are free, so that a
    // read that fits never ends the call.
    wit::Piece { data | start, next, evicted_before, end };
    wit::Polled { stdout, stderr | process, advice };
}

crossing! {
    wit::Outcome { kind, code, signal, reason };
    wit::Progress { bytes, evicted_before, open, damaged };
    wit::Advice { polls, over_milliseconds, mean_interval_milliseconds, suggested_interval_milliseconds, text };
}

impl ActiveCall {
    fn granted_process(&self) -> Result<(GrantedProcess<'_>, &Arc<Processes>), Error> {
        Ok((self.grants().process(&self.plugin)?, self.backends.processes()?))
    }

    fn owned_process(&self, id: &str) -> Result<OwnedProcess<'_>, Error> {
        let (granted, processes) = self.granted_process()?;
        Ok(OwnedProcess { processes, owner: granted.owner(self.context()), id: id.parse().map_err(Error::from)? })
    }

    async fn start_process(
        &self,
        granted: &GrantedProcess<'_>,
        command: AllowedCommand<'_>,
        arguments: &[String],
        launch: &wit::Launch,
    ) -> Result<String, Failure> {
        convert::no_options(launch.options.as_deref())?;
        if self.approved_command(&command, arguments).await? {
            self.granted_process()?;
        }
        let processes = self.backends.processes()?;
        let workspace = self.backends.workspace_to_run(granted.workspace(self.context())).await?;
        let request = ProcessRequest {
            command,
            arguments,
            directory: &launch.directory,
            environment: &launch.environment,
            input: launch.input,
            lifetime: launch.lifetime_milliseconds.map(Duration::from_millis),
            silence: launch.silence_milliseconds.map(Duration::from_millis),
        };
        Ok(processes.start(granted, self.context(), &place_of(workspace), request).await?.to_string())
    }

    /// Reads a piece of output on a thread that may wait for the disk: no more than the call
    /// may still move.
    async fn read_output(
        &self,
        id: &str,
        stream: &str,
        max_bytes: u32,
        read: impl FnOnce(&Processes, &Owner, ProcessId, StreamName, usize) -> Result<OutputPiece, ProcessError>
        + Send
        + 'static,
    ) -> Result<wit::Piece, Failure> {
        let most = self.readable_bytes(max_bytes, 1);
        let OwnedProcess { processes, owner, id } = self.owned_process(id)?;
        let (processes, stream) = (Arc::clone(processes), convert::stream(stream)?);
        let piece = spawn_blocking(move || read(&processes, &owner, id, stream, most)).await??;
        Ok(piece.into())
    }
}

impl Host for Guest {
    async fn status(&mut self) -> Result<String, Failure> {
        let call = &*self.call;
        let (granted, processes) = call.granted_process()?;
        // Looking makes nothing.
        let place = place_of(call.backends.workspaces()?.of(&granted.workspace(call.context())));
        Ok(text::json(&processes.rules(&granted, call.context(), &place).await?)?)
    }

    async fn spawn(&mut self, program: String, arguments: Vec<String>, launch: wit::Launch) -> Result<String, Failure> {
        let call = &*self.call;
        let (granted, _) = call.granted_process()?;
        let command = granted.program(&program)?;
        call.start_process(&granted, command, &arguments, &launch).await
    }

    async fn spawn_shell(&mut self, command: String, launch: wit::Launch) -> Result<String, Failure> {
        let call = &*self.call;
        let (granted, _) = call.granted_process()?;
        let command = granted.shell(&command)?;
        call.start_process(&granted, command, &[], &launch).await
    }

    async fn list(&mut self) -> Result<Vec<wit::Info>, Failure> {
        let call = &*self.call;
        let (granted, processes) = call.granted_process()?;
        let listed: Vec<wit::Info> =
            processes.list(&granted.owner(call.context())).await.into_iter().map(Into::into).collect();
        Ok(listed)
    }

    async fn poll(&mut self, id: String, lines: u32, max_bytes: u32) -> Result<wit::Polled, Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        let most = call.readable_bytes(max_bytes, 2);
        let polled = processes.poll(&owner, id, convert::count(lines), most).await?;
        Ok(wit::Polled {
            process: polled.process.into(),
            stdout: polled.stdout.into(),
            stderr: polled.stderr.into(),
            advice: polled.guidance.map(Into::into),
        })
    }

    async fn wait(&mut self, id: String, condition: wit::Condition, milliseconds: u64) -> Result<wit::Waited, Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        let condition = if condition.pattern.is_none() {
            convert::condition(condition)?
        } else {
            spawn_blocking(move || convert::condition(condition)).await??
        };
        let waited = processes.wait(&owner, id, &condition, call.patience(milliseconds)).await?;
        let (reason, found) = match waited.reason {
            WaitEnd::Output => (WaitReason::Output, None),
            WaitEnd::Pattern(found) => (WaitReason::Pattern, Some((found.from, found.to))),
            WaitEnd::Exit => (WaitReason::Exit, None),
            WaitEnd::Idle => (WaitReason::Idle, None),
            WaitEnd::TimeUp => (WaitReason::TimeUp, None),
        };
        Ok(wit::Waited {
            reason: reason.as_str().to_owned(),
            found,
            process: waited.process.into(),
            advice: waited.guidance.map(Into::into),
        })
    }

    async fn read(&mut self, id: String, from: wit::Position, max_bytes: u32) -> Result<wit::Piece, Failure> {
        let call = &*self.call;
        let read = move |processes: &Processes, owner: &Owner, id, stream, most| {
            processes.read(owner, id, stream, from.cursor, most)
        };
        call.read_output(&id, &from.stream, max_bytes, read).await
    }

    async fn head(&mut self, id: String, stream: String, lines: u32, max_bytes: u32) -> Result<wit::Piece, Failure> {
        let call = &*self.call;
        let read = move |processes: &Processes, owner: &Owner, id, stream, most| {
            processes.head(owner, id, stream, convert::count(lines), most)
        };
        call.read_output(&id, &stream, max_bytes, read).await
    }

    async fn tail(&mut self, id: String, stream: String, lines: u32, max_bytes: u32) -> Result<wit::Piece, Failure> {
        let call = &*self.call;
        let read = move |processes: &Processes, owner: &Owner, id, stream, most| {
            processes.tail(owner, id, stream, convert::count(lines), most)
        };
        call.read_output(&id, &stream, max_bytes, read).await
    }

    async fn write(&mut self, id: String, data: Vec<u8>, milliseconds: u64) -> Result<u64, Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        Ok(processes.write(&owner, id, &data, call.patience(milliseconds)).await? as u64)
    }

    async fn close_input(&mut self, id: String) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        Ok(processes.close_input(&owner, id).await?)
    }

    async fn signal(&mut self, id: String, signal: String) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        let signal: Signal =
            signal.parse().map_err(|error: UnknownWord| Error::new(Code::Invalid, error.to_string()))?;
        Ok(processes.signal(&owner, id, signal).await?)
    }

    async fn stop(&mut self, id: String, grace_milliseconds: u64) -> Result<wit::Info, Failure> {
        let call = &*self.call;
        let OwnedProcess { processes, owner, id } = call.owned_process(&id)?;
        Ok(processes.stop(&owner, id, Duration::from_millis(grace_milliseconds)).await?.into())
    }
}

/// Where processes of a session run.
pub(super) fn place_of(workspace: Workspace) -> ChildWorkspace {
    let Workspace { files, home, user, stay } = workspace;
    ChildWorkspace { files, home, user, stay }
}
