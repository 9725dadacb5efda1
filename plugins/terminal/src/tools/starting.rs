//! The tool that starts a program.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{length as check_length, range as check_range, text as check_text};
use wharf_sdk::contract::turn::Preset;
use wharf_sdk::terminal::{Launch, Started, View};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{judged_by, of_terminal};
use crate::following::settle;
use crate::limits;
use crate::output::answer::{TerminalOutput, TerminalText, lines};
use crate::output::excerpt::between;
use crate::output::words::{Terminal, state};

/// How long a program is silent once it has said what it says at first.
const QUIET: Duration = Duration::from_millis(400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartTerminal {
    /// What to start: a name such as `python3`, or a path. Left out, the system's shell.
    #[schemars(length(min = 1, max = limits::PATH))]
    program: Option<String>,
    /// Its arguments, each one as it is; no shell reads them.
    #[serde(default)]
    #[schemars(length(max = limits::ARGUMENTS), inner(length(max = limits::ARGUMENT)))]
    arguments: Vec<String>,
    /// The directory of the workspace that it starts in, which must exist; left out, the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    directory: Option<String>,
    /// Environment variables, as far as the operator allows them.
    #[serde(default)]
    #[schemars(length(max = limits::VARIABLES))]
    environment: BTreeMap<String, String>,
    /// How wide the terminal is. More columns wrap fewer lines.
    #[serde(default = "default_columns")]
    #[schemars(range(min = 1, max = limits::COLUMNS))]
    columns: u16,
    /// How high the terminal is.
    #[serde(default = "default_rows")]
    #[schemars(range(min = 1, max = limits::ROWS))]
    rows: u16,
    /// When an answer counts as complete; left out, the host knows common programs. "shell". "repl": an interpreter or a
    /// database client. "agent": a program that thinks and may pause; "sensitive" where its pauses are short, "patient" or
    /// "search" where they are long, "simple-answer" where it answers briefly. "build": silent for minutes.
    preset: Option<Preset>,
    /// In place of a preset: a profile that the operator configured.
    #[schemars(length(min = 1, max = limits::PROFILE))]
    profile: Option<String>,
    /// Whether the program is started again where it crashes; left out, the operator decides.
    restart_on_crash: Option<bool>,
    /// Seconds to wait at most for what it says at first.
    #[serde(default = "default_wait")]
    #[schemars(range(max = limits::GREETING_SECONDS))]
    wait_seconds: u64,
}

fn default_columns() -> u16 {
    80
}

fn default_rows() -> u16 {
    24
}

fn default_wait() -> u64 {
    5
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct StartedTerminal {
    #[serde(flatten)]
    terminal: Terminal,
    #[serde(flatten)]
    output: TerminalOutput,
    /// The lines of the screen, where a program has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<Vec<String>>,
    /// The ids of terminals that were closed to make room for this one.
    replaced: Vec<String>,
}

/// Starts an interactive program in a terminal that stays open between your calls: a shell, an interpreter (python3,
/// node, sqlite3), a debugger, ssh, another agent. Answers its terminal_id and what it says at first; then send_message
/// types a line and waits for the answer. A single command is simpler without a terminal. The program runs in the
/// workspace, contained, usually without a network. A session usually has one terminal, and starting another one closes
/// it; one that nobody uses for a while is closed.
#[tool(title = "Start a terminal", destructive, open_world, timeout_milliseconds = 120_000)]
pub(crate) fn start_terminal(call: &Call, input: StartTerminal) -> Result<Reply<StartedTerminal>, ToolError> {
    check_range("columns", input.columns.into(), 1, limits::COLUMNS.into())?;
    check_range("rows", input.rows.into(), 1, limits::ROWS.into())?;
    check_range("wait_seconds", input.wait_seconds, 0, limits::GREETING_SECONDS)?;
    let launch = launch(&input)?;
    let started = match &input.program {
        Some(program) => {
            check_text("program", program, limits::PATH)?;
            let arguments: Vec<&str> = input.arguments.iter().map(String::as_str).collect();
            call.terminals().start(program, &arguments, &launch)?
        }
        None if input.arguments.is_empty() => call.terminals().start_shell(&launch)?,
        None => return Err(ToolError::invalid("`arguments` need a `program`; without one, the shell is started")),
    };
    let Started { terminal, replaced } = started;
    let id = terminal.id.as_str();
    let wait = Duration::from_secs(input.wait_seconds);
    let end = settle(call, id, View::Text, 0, (wait, QUIET), wait).map_err(of_terminal)?;
    let excerpt = between(&TerminalText { call, id }, 0, end, limits::OUTPUT_BYTES)?;
    let info = call.terminals().get(id).map_err(of_terminal)?;
    let screen = if info.alternate_screen { Some(lines(&call.terminals().screen(id, 0)?)) } else { None };
    let answer = StartedTerminal {
        terminal: Terminal::from(&info),
        output: TerminalOutput::new(id, &excerpt),
        screen,
        replaced,
    };
    let mut text = format!("terminal_id {id}: {}; {}", info.command, state(&info));
    if !answer.replaced.is_empty() {
        text.push_str(&format!("\nClosed to make room for it: {}.", answer.replaced.join(", ")));
    }
    match (&answer.screen, answer.output.text.trim_end()) {
        (Some(screen), _) => text.push_str(&format!("\nIt has the whole screen:\n{}", screen.join("\n"))),
        (None, "") => text.push_str("\nIt has printed nothing yet."),
        (None, printed) => text.push_str(&format!("\n{printed}")),
    }
    Ok(Reply::new(text, answer))
}

fn launch(input: &StartTerminal) -> Result<Launch, ToolError> {
    let mut launch = Launch::new().size(input.columns, input.rows);
    if input.arguments.len() > limits::ARGUMENTS {
        return Err(ToolError::invalid(format!("`arguments` has more than {} of them", limits::ARGUMENTS)));
    }
    for argument in &input.arguments {
        check_length("arguments", argument, limits::ARGUMENT)?;
    }
    if input.environment.len() > limits::VARIABLES {
        return Err(ToolError::invalid(format!("`environment` has more than {} variables", limits::VARIABLES)));
    }
    for (name, value) in &input.environment {
        launch = launch.variable(name, value);
    }
    if let Some(directory) = &input.directory {
        check_text("directory", directory, limits::PATH)?;
        launch = launch.directory(directory);
    }
    if let Some(preset) = judged_by(input.preset, input.profile.as_deref())? {
        launch = launch.preset(preset);
    }
    if let Some(restart) = input.restart_on_crash {
        launch = launch.restart_on_crash(restart);
    }
    Ok(launch)
}
