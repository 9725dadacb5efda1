//! The processes of [`WitHost`]. Wasm only; it converts and holds no logic.

use super::WitHost;
use crate::ToolError;
use crate::bindings::wharf::plugin::process;
use crate::host::HostProcesses;
use crate::process::{
    Advice, Condition, Launch, Outcome, Piece, Polled, Position, ProcessInfo, Signal, Stream, StreamProgress, Waited,
    milliseconds,
};

impl HostProcesses for WitHost {
    fn process_status(&self) -> Result<String, ToolError> {
        Ok(process::status()?)
    }

    fn spawn(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<String, ToolError> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Ok(process::spawn(program, &arguments, &launch.into())?)
    }

    fn spawn_shell(&self, command: &str, launch: &Launch) -> Result<String, ToolError> {
        Ok(process::spawn_shell(command, &launch.into())?)
    }

    fn list_processes(&self) -> Result<Vec<ProcessInfo>, ToolError> {
        Ok(process::list()?.into_iter().map(ProcessInfo::from).collect())
    }

    fn poll(&self, id: &str, lines: u32, max_bytes: u32) -> Result<Polled, ToolError> {
        let polled = process::poll(id, lines, max_bytes)?;
        Ok(Polled {
            process: polled.process.into(),
            stdout: polled.stdout.into(),
            stderr: polled.stderr.into(),
            advice: polled.advice.map(Advice::from),
        })
    }

    fn wait(&self, id: &str, condition: &Condition, milliseconds: u64) -> Result<Waited, ToolError> {
        let waited = process::wait(id, &condition.into(), milliseconds)?;
        Ok(Waited {
            reason: waited.reason.into(),
            found: waited.found,
            process: waited.process.into(),
            advice: waited.advice.map(Advice::from),
        })
    }

    fn read(&self, id: &str, from: Position, max_bytes: u32) -> Result<Piece, ToolError> {
        Ok(process::read(id, &from.into(), max_bytes)?.into())
    }

    fn head(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError> {
        Ok(process::head(id, stream.as_str(), lines, max_bytes)?.into())
    }

    fn tail(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError> {
        Ok(process::tail(id, stream.as_str(), lines, max_bytes)?.into())
    }

    fn write(&self, id: &str, data: &[u8], milliseconds: u64) -> Result<u64, ToolError> {
        Ok(process::write(id, data, milliseconds)?)
    }

    fn close_input(&self, id: &str) -> Result<(), ToolError> {
        Ok(process::close_input(id)?)
    }

    fn signal(&self, id: &str, signal: Signal) -> Result<(), ToolError> {
        Ok(process::signal(id, signal.as_str())?)
    }

    fn stop(&self, id: &str, grace_milliseconds: u64) -> Result<ProcessInfo, ToolError> {
        Ok(process::stop(id, grace_milliseconds)?.into())
    }
}

impl From<Position> for process::Position {
    fn from(position: Position) -> Self {
        Self { stream: position.stream.as_str().to_owned(), cursor: position.cursor }
    }
}

impl From<&Launch> for process::Launch {
    fn from(launch: &Launch) -> Self {
        Self {
            directory: launch.directory.clone(),
            environment: launch.environment.clone(),
            input: launch.input,
            lifetime_milliseconds: launch.lifetime.map(milliseconds),
            silence_milliseconds: launch.silence.map(milliseconds),
            options: None,
        }
    }
}

impl From<&Condition> for process::Condition {
    fn from(condition: &Condition) -> Self {
        Self {
            output: condition.output.map(process::Position::from),
            pattern: condition.pattern.clone().map(|(from, pattern)| (from.into(), pattern)),
            exit: condition.exit,
            idle_milliseconds: condition.idle.map(milliseconds),
        }
    }
}

impl From<process::Progress> for StreamProgress {
    fn from(progress: process::Progress) -> Self {
        let process::Progress { bytes, evicted_before, open, damaged } = progress;
        Self { bytes, evicted_before, open, damaged }
    }
}

impl From<process::Outcome> for Outcome {
    fn from(outcome: process::Outcome) -> Self {
        let process::Outcome { kind, code, signal, reason } = outcome;
        Self { kind: kind.into(), code, signal, reason }
    }
}

impl From<process::Info> for ProcessInfo {
    fn from(info: process::Info) -> Self {
        Self {
            id: info.id,
            command: info.command,
            pid: info.pid,
            status: info.status.into(),
            outcome: info.outcome.map(Outcome::from),
            started: info.started,
            finished: info.finished,
            stdout: info.stdout.into(),
            stderr: info.stderr.into(),
            descendants: info.descendants,
            meta: info.meta,
        }
    }
}

impl From<process::Piece> for Piece {
    fn from(piece: process::Piece) -> Self {
        let process::Piece { start, next, evicted_before, end, data } = piece;
        Self { start, next, evicted_before, end, data }
    }
}

impl From<process::Advice> for Advice {
    fn from(advice: process::Advice) -> Self {
        let process::Advice {
            polls,
            over_milliseconds,
            mean_interval_milliseconds,
            suggested_interval_milliseconds,
            text,
        } = advice;
        Self { polls, over_milliseconds, mean_interval_milliseconds, suggested_interval_milliseconds, text }
    }
}
