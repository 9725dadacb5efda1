//! What a tool may ask of the host, as a trait: the wall behind [`crate::Call`]
//! and [`crate::Bucket`].
//!
//! Two things implement it: `wit_host` on Wasm, and `testing` natively. Which
//! one is chosen when compiling, never through a table of functions: a table
//! would keep every import alive, and a plugin would ask the operator for
//! grants that it never uses.

use std::time::Duration;

use crate::ToolError;
use crate::http::message::{Request, Response};
use crate::process::report::{Piece, Polled, ProcessInfo, Waited};
use crate::process::request::{Condition, Launch, Position, Signal, Stream};
use crate::state::entry::{Change, Entry, ScanPage, Scope, Usage};
use crate::terminal::report::{Followed, Screen, Started, TerminalInfo, Turn};
use crate::terminal::request::{Input, Launch as TerminalLaunch, TurnOptions, View};
use crate::webview::report::{LogPage, Outcome, PageInfo, ResultPiece};
use crate::webview::request::{PageOptions, Script};
use crate::workspace::directory::{Directory, Usage as WorkspaceUsage};

/// The host of a running call.
pub(crate) trait Host {
    type Bucket: HostBucket;

    fn session(&self) -> String;
    fn assistant(&self) -> Option<String>;
    fn thread(&self) -> Option<String>;
    fn request_meta(&self) -> String;
    fn settings(&self) -> String;
    fn remaining(&self) -> Duration;
    fn log(&self, level: &str, message: &str);
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) -> Result<(), ToolError>;
    fn message(&self, level: &str, data: &str) -> Result<(), ToolError>;
    fn open(&self, scope: Scope, name: &str) -> Result<Self::Bucket, ToolError>;
}

/// An open bucket of state.
pub(crate) trait HostBucket {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError>;
    fn apply(&self, changes: Vec<Change>) -> Result<Vec<u64>, ToolError>;
    fn scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<ScanPage, ToolError>;
    fn usage(&self) -> Result<Usage, ToolError>;
    fn expired_at(&self) -> Result<Option<String>, ToolError>;
}

/// The processes of the session. Times are milliseconds.
pub(crate) trait HostProcesses {
    fn process_status(&self) -> Result<String, ToolError>;
    fn spawn(&self, program: &str, arguments: &[&str], launch: &Launch) -> Result<String, ToolError>;
    fn spawn_shell(&self, command: &str, launch: &Launch) -> Result<String, ToolError>;
    fn list_processes(&self) -> Result<Vec<ProcessInfo>, ToolError>;
    fn poll(&self, id: &str, lines: u32, max_bytes: u32) -> Result<Polled, ToolError>;
    fn wait(&self, id: &str, condition: &Condition, milliseconds: u64) -> Result<Waited, ToolError>;
    fn read(&self, id: &str, from: Position, max_bytes: u32) -> Result<Piece, ToolError>;
    fn head(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError>;
    fn tail(&self, id: &str, stream: Stream, lines: u32, max_bytes: u32) -> Result<Piece, ToolError>;
    fn write(&self, id: &str, data: &[u8], milliseconds: u64) -> Result<u64, ToolError>;
    fn close_input(&self, id: &str) -> Result<(), ToolError>;
    fn signal(&self, id: &str, signal: Signal) -> Result<(), ToolError>;
    fn stop(&self, id: &str, grace_milliseconds: u64) -> Result<ProcessInfo, ToolError>;
}

/// The terminals of the session. Times are milliseconds.
pub(crate) trait HostTerminals {
    fn terminal_status(&self) -> Result<String, ToolError>;
    fn start_terminal(&self, program: &str, arguments: &[&str], launch: &TerminalLaunch) -> Result<Started, ToolError>;
    fn start_shell(&self, launch: &TerminalLaunch) -> Result<Started, ToolError>;
    fn list_terminals(&self) -> Result<Vec<TerminalInfo>, ToolError>;
    fn terminal(&self, id: &str) -> Result<TerminalInfo, ToolError>;
    fn send(&self, id: &str, input: Input<'_>, options: &TurnOptions) -> Result<Turn, ToolError>;
    fn follow(&self, id: &str, turn: u64, from: u64, max_bytes: u32, milliseconds: u64) -> Result<Followed, ToolError>;
    fn cancel(&self, id: &str, turn: u64) -> Result<(), ToolError>;
    fn press(&self, id: &str, keys: &[&str]) -> Result<(), ToolError>;
    fn screen(&self, id: &str, history_lines: u32) -> Result<Screen, ToolError>;
    fn read_terminal(
        &self,
        id: &str,
        view: View,
        from: u64,
        max_bytes: u32,
        milliseconds: u64,
    ) -> Result<Piece, ToolError>;
    fn resize(&self, id: &str, columns: u16, rows: u16) -> Result<(), ToolError>;
    fn close(&self, id: &str, grace_milliseconds: u64) -> Result<TerminalInfo, ToolError>;
}

/// The web pages of the session. Times are milliseconds.
pub(crate) trait HostWebPages {
    fn webview_status(&self) -> Result<String, ToolError>;
    fn open_page(&self, options: &PageOptions) -> Result<PageInfo, ToolError>;
    fn list_pages(&self) -> Result<Vec<PageInfo>, ToolError>;
    fn page(&self, id: &str) -> Result<PageInfo, ToolError>;
    fn close_page(&self, id: &str) -> Result<(), ToolError>;
    fn execute_script(&self, id: &str, script: &Script) -> Result<String, ToolError>;
    fn perform(
        &self,
        id: &str,
        operation: &str,
        parameters: &str,
        deadline_milliseconds: u64,
    ) -> Result<String, ToolError>;
    fn poll_request(&self, request: &str) -> Result<Outcome, ToolError>;
    fn wait_for_request(&self, request: &str, milliseconds: u64) -> Result<Outcome, ToolError>;
    fn acknowledge(&self, request: &str) -> Result<(), ToolError>;
    fn cancel_request(&self, request: &str) -> Result<(), ToolError>;
    fn read_result(&self, request: &str, from: u64, max_bytes: u32) -> Result<ResultPiece, ToolError>;
    fn answer_dialog(&self, id: &str, accept: bool, text: Option<&str>) -> Result<(), ToolError>;
    fn log_entries(&self, id: &str, log: &str, after: u64, max: u32) -> Result<LogPage, ToolError>;
}

/// The event streams of the session.
pub(crate) trait HostStreams {
    fn open_stream(&self, title: &str, options: Option<&str>) -> Result<String, ToolError>;
    fn stream_status(&self, stream: &str, word: &str) -> Result<(), ToolError>;
    fn say(&self, stream: &str, text: &str) -> Result<(), ToolError>;
    fn advance(&self, stream: &str, stage: &str, percent: Option<f64>) -> Result<(), ToolError>;
    fn complete(&self, stream: &str) -> Result<(), ToolError>;
}

/// What has changed of what the plugin offers.
pub(crate) trait HostChanges {
    fn changed(&self, list: &str) -> Result<(), ToolError>;
    fn updated(&self, uri: &str) -> Result<(), ToolError>;
}

/// HTTP requests.
pub(crate) trait HostHttp {
    fn send(&self, request: &Request) -> Result<Response, ToolError>;
}

/// The directories of the session.
pub(crate) trait HostWorkspace {
    fn files(&self) -> Result<Directory, ToolError>;
    fn create(&self) -> Result<Directory, ToolError>;
    fn exchange(&self) -> Result<Vec<(String, Directory)>, ToolError>;
    fn workspace_usage(&self) -> Result<WorkspaceUsage, ToolError>;
}

#[cfg(target_family = "wasm")]
pub(crate) use crate::wit_host::{WitBucket as ActiveBucket, WitHost as ActiveHost};

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::{TestBucket as ActiveBucket, TestHost as ActiveHost};
