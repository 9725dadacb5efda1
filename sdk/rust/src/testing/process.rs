//! Processes of the test host: there are none.
//!
//! What a process does depends on the system, its containment and its owner,
//! and an imitation would prove nothing of it. A plugin's logic around
//! processes is tested apart, and the whole of it in the host.

use super::host::TestHost;
use crate::ToolError;
use crate::host::HostProcesses;
use crate::process::{Condition, Launch, Piece, Polled, Position, ProcessInfo, Signal, Stream, Waited};

impl HostProcesses for TestHost {
    fn process_status(&self) -> Result<String, ToolError> {
        none()
    }

    fn spawn(&self, _program: &str, _arguments: &[&str], _launch: &Launch) -> Result<String, ToolError> {
        none()
    }

    fn spawn_shell(&self, _command: &str, _launch: &Launch) -> Result<String, ToolError> {
        none()
    }

    fn list_processes(&self) -> Result<Vec<ProcessInfo>, ToolError> {
        none()
    }

    fn poll(&self, _id: &str, _lines: u32, _max_bytes: u32) -> Result<Polled, ToolError> {
        none()
    }

    fn wait(&self, _id: &str, _condition: &Condition, _milliseconds: u64) -> Result<Waited, ToolError> {
        none()
    }

    fn read(&self, _id: &str, _from: Position, _max_bytes: u32) -> Result<Piece, ToolError> {
        none()
    }

    fn head(&self, _id: &str, _stream: Stream, _lines: u32, _max_bytes: u32) -> Result<Piece, ToolError> {
        none()
    }

    fn tail(&self, _id: &str, _stream: Stream, _lines: u32, _max_bytes: u32) -> Result<Piece, ToolError> {
        none()
    }

    fn write(&self, _id: &str, _data: &[u8], _milliseconds: u64) -> Result<u64, ToolError> {
        none()
    }

    fn close_input(&self, _id: &str) -> Result<(), ToolError> {
        none()
    }

    fn signal(&self, _id: &str, _signal: Signal) -> Result<(), ToolError> {
        none()
    }

    fn stop(&self, _id: &str, _grace_milliseconds: u64) -> Result<ProcessInfo, ToolError> {
        none()
    }
}

fn none<T>() -> Result<T, ToolError> {
    Err(ToolError {
        retryable: false,
        ..ToolError::unavailable("processes run in the host only: test what needs them end to end")
    })
}
