//! The tool that lists terminals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::output::words::{Terminal, line};

/// Terminals that are listed, the newest of them.
const LISTED: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTerminals {
    /// Whether closed ones are listed, too.
    #[serde(default)]
    include_closed: bool,
}

/// What terminals here may do.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct TerminalRules {
    /// Whether the shell may be started.
    shell: bool,
    /// The programs that may be started; `*` stands for any characters.
    programs: Vec<String>,
    /// What keeps them in: `namespaces`, `landlock`, or `none`.
    containment: String,
    /// Why none can be started here; absent where they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Whether they have a network.
    network: bool,
    /// How many a session may have; starting another one closes the least recently used.
    maximum: u64,
    /// After how many seconds without use one is closed.
    idle_seconds: u64,
}

impl From<wharf_sdk::terminal::TerminalRules> for TerminalRules {
    fn from(rules: wharf_sdk::terminal::TerminalRules) -> Self {
        let wharf_sdk::terminal::TerminalRules {
            shell,
            programs,
            containment,
            refused,
            network,
            maximum_per_owner,
            idle_seconds,
            ..
        } = rules;
        Self {
            shell,
            programs,
            containment: containment.into(),
            refused,
            network,
            maximum: maximum_per_owner,
            idle_seconds,
        }
    }
}

impl TerminalRules {
    fn text(&self) -> String {
        if let Some(why) = &self.refused {
            return format!("Terminals cannot be started here: {why}.");
        }
        let mut allowed = self.programs.clone();
        if self.shell {
            allowed.insert(0, "the shell".to_owned());
        }
        let network = if self.network { "with a network" } else { "without a network" };
        let most = match self.maximum {
            1 => "one terminal at a time, and starting another one closes it".to_owned(),
            most => format!("{most} terminals, and starting another one closes the least recently used"),
        };
        let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        format!("Here {allowed} may be started, {network}. A session has {most}.")
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TerminalList {
    /// The newest first.
    terminals: Vec<Terminal>,
    /// How many are open.
    open: usize,
    /// How many closed ones there are, listed or not.
    closed: usize,
    /// What holds for terminals here.
    rules: TerminalRules,
}

/// Lists the terminals of this session, the newest first, and says which programs may be started here and how many terminals
/// there may be. Use it to find a terminal_id again.
#[tool(title = "List terminals", read_only, idempotent)]
pub(crate) fn list_terminals(call: &Call, input: ListTerminals) -> Result<Reply<TerminalList>, ToolError> {
    let all = call.terminals().list()?;
    let rules = TerminalRules::from(call.terminals().rules()?);
    let closed = all.iter().filter(|info| info.is_closed()).count();
    let open = all.len() - closed;
    let wanted = all.iter().rev().filter(|info| input.include_closed || !info.is_closed()).take(LISTED);
    let mut text = match (open, closed) {
        (0, 0) => "There is no terminal yet; start_terminal starts one.".to_owned(),
        (open, 0) => format!("{open} open:"),
        (open, closed) if input.include_closed => format!("{open} open, {closed} closed:"),
        (open, closed) => format!("{open} open; {closed} closed ones are listed with `include_closed`."),
    };
    let mut terminals = Vec::new();
    for info in wanted {
        text.push_str(&format!("\n{}", line(info)));
        terminals.push(Terminal::from(info));
    }
    text.push_str(&format!("\n{}", rules.text()));
    Ok(Reply::new(text, TerminalList { terminals, open, closed, rules }))
}
