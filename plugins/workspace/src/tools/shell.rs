//! The tool that runs commands.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::process::{Condition, Launch};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{answer, of_process};
use crate::limits::{self, check_range, within};
use crate::output::answer::ProcessAnswer;
use crate::output::words::state;

/// How long an asynchronous command is watched: enough to tell its number and
/// one that ends at once.
const GLANCE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum RunMode {
    #[default]
    Sync,
    Async,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteShell {
    /// What the shell is handed, untouched: pipes, quotes, `&&` and several lines are all right.
    #[schemars(length(min = 1, max = limits::COMMAND))]
    command: String,
    /// Seconds to wait for its end. Afterwards it runs on, and you get its process_id.
    #[serde(default = "default_wait")]
    #[schemars(range(max = limits::WAIT_SECONDS))]
    wait_seconds: u64,
    /// "sync" waits for the end, "async" answers at once: for servers and whatever else is to run beside your work.
    #[serde(default)]
    run_mode: RunMode,
    /// The directory that it starts in, which must exist; left out, the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    directory: Option<String>,
    /// Environment variables, as far as the operator allows them.
    #[serde(default)]
    #[schemars(length(max = limits::VARIABLES))]
    environment: BTreeMap<String, String>,
    /// Whether write_process_input is going to write to it. Otherwise it finds its input at the end at once.
    #[serde(default)]
    input: bool,
    /// Seconds after which it is killed, whatever it does.
    #[schemars(range(min = 1, max = limits::LIFETIME_SECONDS))]
    lifetime_seconds: Option<u64>,
}

fn default_wait() -> u64 {
    30
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ExecutedCommand {
    #[serde(flatten)]
    answer: ProcessAnswer,
    /// "sync" where it ended within the wait, "async" where it is to be followed with the other tools.
    run_mode: RunMode,
    /// Whether it has not ended yet.
    still_running: bool,
}

/// Runs a command in the workspace with the system's shell, and answers its exit code and what it printed: at most 16
/// KiB, the beginning and the end, with the call that shows the rest. It is contained: it sees the workspace and the
/// system's programs, and usually no network. A command that takes longer than `wait_seconds` runs on under its
/// process_id: call wait_for_process, or stop_process to end it. For files, read_file, write_file and search_files are
/// quicker and safer.
#[tool(title = "Run a command", destructive, open_world, timeout_milliseconds = 600_000)]
pub(crate) fn execute_shell(call: &Call, input: ExecuteShell) -> Result<Reply<ExecutedCommand>, ToolError> {
    check_text("command", &input.command, limits::COMMAND)?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::WAIT_SECONDS)?;
    let launch = launch(call, &input)?;
    let processes = call.processes();
    let id = processes.spawn_shell(&input.command, &launch).map_err(of_process)?;
    let wait = match input.run_mode {
        RunMode::Sync => Duration::from_secs(input.wait_seconds),
        RunMode::Async => GLANCE,
    };
    let waited = processes.wait(&id, &Condition::new().exit(), within(call, wait).max(GLANCE))?;
    let answer = answer(processes, &waited.process, (0, 0), None)?;
    let has_ended = waited.process.has_ended();
    let (state, note) = if has_ended {
        (state(&waited.process), String::new())
    } else {
        let after =
            if input.run_mode == RunMode::Sync { format!(" after {} s", input.wait_seconds) } else { String::new() };
        let held = if input.input { ", write_process_input writes to it" } else { "" };
        let note = format!("wait_for_process waits for it{held}, and stop_process ends it.");
        (format!("still running{after}; process_id {id}"), note)
    };
    let text = answer.text(&state, &note);
    let run_mode = if has_ended { input.run_mode } else { RunMode::Async };
    Ok(Reply::new(text, ExecutedCommand { answer, run_mode, still_running: !has_ended }))
}

fn launch(call: &Call, input: &ExecuteShell) -> Result<Launch, ToolError> {
    if input.environment.len() > limits::VARIABLES {
        return Err(ToolError::invalid(format!("`environment` has more than {} variables", limits::VARIABLES)));
    }
    let mut launch = Launch::new();
    if let Some(directory) = &input.directory {
        // A command may be granted without the files.
        let relative = match call.workspace().files() {
            Ok(files) => files.parts(directory)?.join("/"),
            Err(_) => directory.clone(),
        };
        launch = launch.directory(relative);
    }
    for (name, value) in &input.environment {
        launch = launch.variable(name, value);
    }
    if input.input {
        launch = launch.with_input();
    }
    if let Some(seconds) = input.lifetime_seconds {
        check_range("lifetime_seconds", seconds, 1, limits::LIFETIME_SECONDS)?;
        launch = launch.lifetime(Duration::from_secs(seconds));
    }
    Ok(launch)
}
