//! What is asked of terminals.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_contract::terminal::{MAX_COLUMNS, MAX_ROWS};

use crate::detection::{LONGEST_MILLISECONDS, Tuning};

/// A terminal to start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartTerminal {
    /// The program: a name, or a path as it will see it. Without one, the
    /// machine's shell.
    pub program: Option<String>,
    /// What it is called with.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Variables to set, where they are granted.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it starts, below the workspace of the session.
    pub directory: Option<String>,
    /// How wide it is; 80 where absent.
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub columns: Option<u16>,
    /// How high it is; 24 where absent.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub rows: Option<u16>,
    /// What kind of program it is, which decides when its turns are complete:
    /// a preset (`shell`, `repl`, `agent`, `build`, `sensitive`, `patient`,
    /// `search`, `simple-answer`) or one that the operator configured in
    /// `[terminal.profile.NAME]`. Without one, it follows from the program.
    pub profile: Option<String>,
}

/// Input that begins a turn: either `text` or `keys`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRequest {
    /// What is typed; at most 10,000 characters, unless the operator says
    /// otherwise, and without control characters.
    pub text: Option<String>,
    /// Whether Enter is pressed behind the text.
    #[serde(default = "yes")]
    pub submit: bool,
    /// Names of keys to press instead, such as `C-c` or `Up`.
    #[serde(default)]
    pub keys: Vec<String>,
    /// What decides when this turn is complete, where not the terminal's
    /// profile: a preset, or a profile that the operator configured.
    pub profile: Option<String>,
    /// Regular expressions (the syntax of the Rust crate `regex`) of which one
    /// matches the row of the cursor once the program is done, as prompts that
    /// ask for an answer. At most 16, of at most 1,024 bytes each. `^` and `$`
    /// are the ends of the row.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// How long the turn may be silent once something came, in milliseconds;
    /// also while the program is known to work.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub inactivity_timeout_ms: Option<u64>,
    /// How long the turn may last, in milliseconds.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub time_limit_ms: Option<u64>,
    /// Any other number by which completion is detected.
    pub parameters: Option<Tuning>,
}

fn yes() -> bool {
    true
}

/// Keys to press, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressKeys {
    /// Their names, such as `C-c`, `Enter` or `F1`.
    pub keys: Vec<String>,
}

/// A turn to take back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTurn {
    /// Its number; the running one where absent.
    pub turn: Option<u64>,
}

/// A size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeTerminal {
    /// How wide.
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub columns: u16,
    /// How high.
    #[schemars(range(min = 1, max = MAX_ROWS))]
    pub rows: u16,
}

/// Which output to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOutput {
    /// As what.
    pub view: OutputView,
    /// The cursor of the first byte.
    pub from: u64,
    /// How much at most.
    pub maximum_bytes: usize,
    /// How long to wait for something behind `from`.
    pub patience: Duration,
}

/// As what output is read. Each counts its own cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputView {
    /// Text, without control sequences.
    #[default]
    Text,
    /// The very bytes.
    Raw,
}
