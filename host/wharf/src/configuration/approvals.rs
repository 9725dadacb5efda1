//! `[approvals]`: calls that wait until a person allows them, or what they ask for.

mod acts;

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use wharf_core::{ToolDefinition, tool::ToolSelection};

pub use acts::{ALWAYS_COMMANDS, ALWAYS_ORIGINS};
pub(crate) use acts::{ActRules, MOST_RULE_BYTES};

/// The key that `wharf approvals allow --always` adds to.
pub const ALWAYS: &str = "always";
const MOST_SECONDS: u64 = 24 * 60 * 60;

/// `[approvals]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenApprovals {
    /// Tools whose calls wait until a person allows them, by the names that clients see, such as
    /// `workspace__execute_shell`; `*` stands for any text and `?` for one character.
    approve: Vec<String>,
    /// Whether calls of all tools wait that may destroy something: those whose annotations call them
    /// neither read-only nor not destructive. False where absent.
    destructive: bool,
    /// Tools of those whose calls never wait, in the same form.
    always: Vec<String>,
    /// Commands that wait when a running call asks to start them as a process or a terminal, such as
    /// `git push*`: patterns of the whole line, with `*` and `?` as above.
    commands: Vec<String>,
    /// Commands of those that never wait, each exactly as it is: nothing in it is a pattern.
    always_commands: Vec<String>,
    /// Origins that wait when a running call asks to open a page there or to send a request, such as
    /// `https://*.example.com`: written as in grants of web pages.
    origins: Vec<String>,
    /// Origins of those that never wait, in the same form.
    always_origins: Vec<String>,
    /// Who is asked about calls: `operator`, by `wharf approvals` and the console, or `client`, the person at the
    /// program that calls, by a form of the protocol (elicitation); the operator where that program
    /// cannot ask. `operator` where absent. `commands` and `origins` always ask the operator.
    ask: AskWhom,
    /// Seconds that a call waits for a person, from 1 to 86400; 300 where absent. Then it is refused.
    wait_seconds: Option<u64>,
}

/// Who is asked whether a call may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AskWhom {
    /// The operator, by `wharf approvals` and the console.
    #[default]
    Operator,
    /// The person at the program that calls, where it can ask.
    Client,
}

/// `[approvals]`, checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalSettings {
    approve: Vec<(String, ToolSelection)>,
    destructive: bool,
    always: Vec<(String, ToolSelection)>,
    pub(crate) acts: ActRules,
    /// Who is asked.
    pub ask: AskWhom,
    /// How long a call waits for the operator.
    pub wait: Duration,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            approve: Vec::new(),
            destructive: false,
            always: Vec::new(),
            acts: ActRules::default(),
            ask: AskWhom::Operator,
            wait: Duration::from_secs(300),
        }
    }
}

impl WrittenApprovals {
    pub(super) fn check(self) -> Result<ApprovalSettings, String> {
        let usual = ApprovalSettings::default();
        let wait = match self.wait_seconds {
            None => usual.wait,
            Some(seconds @ 1..=MOST_SECONDS) => Duration::from_secs(seconds),
            Some(other) => {
                return Err(format!("[approvals] `wait_seconds` must be from 1 to {MOST_SECONDS}, not {other}"));
            }
        };
        let read = |patterns: Vec<String>| -> Result<Vec<_>, String> {
            let each = |pattern: String| {
                let selection = ToolSelection::new(Some(vec![pattern.clone()]), Vec::new());
                selection.map(|selection| (pattern, selection)).map_err(|error| format!("[approvals] {error}"))
            };
            patterns.into_iter().map(each).collect()
        };
        Ok(ApprovalSettings {
            approve: read(self.approve)?,
            destructive: self.destructive,
            always: read(self.always)?,
            acts: ActRules::new(&self.commands, self.always_commands, &self.origins, &self.always_origins)?,
            ask: self.ask,
            wait,
        })
    }
}

impl ApprovalSettings {
    /// Whether no call waits for a person before it runs.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.approve.is_empty() && !self.destructive
    }

    /// Whether a call of this tool waits. Clients see it under this name.
    #[must_use]
    pub fn asks(&self, name: &str, tool: &ToolDefinition) -> bool {
        let selected = |patterns: &[(String, ToolSelection)]| patterns.iter().any(|(_, pattern)| pattern.selects(name));
        (selected(&self.approve) || self.destructive && may_destroy(tool)) && !selected(&self.always)
    }

    /// The patterns that match none of these names.
    pub(crate) fn unmatched<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> impl Iterator<Item = String> {
        let patterns = self.approve.iter().chain(&self.always).map(|(_, pattern)| pattern);
        patterns.flat_map(move |pattern| pattern.unmatched(names.clone()))
    }

    /// All patterns, as they are written.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.approve.iter().chain(&self.always).map(|(written, _)| written.as_str())
    }
}

/// As the protocol takes it where nothing is said: a tool that is not read-only may.
fn may_destroy(tool: &ToolDefinition) -> bool {
    let hint = |name: &str| {
        tool.meta.get("annotations").and_then(|annotations| annotations.get(name)).and_then(Value::as_bool)
    };
    hint("readOnlyHint") != Some(true) && hint("destructiveHint") != Some(false)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::Configuration;

    fn settings(text: &str) -> Result<ApprovalSettings, String> {
        let parsed = Configuration::parse(&format!("[approvals]\n{text}"), Path::new("/"));
        parsed.map(|configuration| configuration.approvals).map_err(|problem| problem.to_string())
    }

    fn tool(annotations: Value) -> ToolDefinition {
        let mut definition = ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: Default::default(),
            output_schema: None,
            meta: serde_json::Map::new(),
        };
        definition.meta.insert("annotations".to_owned(), annotations);
        definition
    }

    #[test]
    fn a_call_waits_by_its_name_or_by_what_its_tool_may_destroy() {
        assert!(settings("").expect("nothing").is_off());
        let by_name =
            settings("approve = [\"workspace__*\", \"a__b\"]\nalways = [\"workspace__read_*\"]").expect("right");
        let harmless = tool(json!({"readOnlyHint": true}));
        for (name, waits) in
            [("workspace__execute_shell", true), ("workspace__read_file", false), ("a__b", true), ("a__bc", false)]
        {
            assert_eq!(by_name.asks(name, &harmless), waits, "{name}");
        }
        let destructive = settings("destructive = true\nalways = [\"x__y\"]").expect("right");
        for (annotations, waits) in [
            (json!({}), true),
            (json!({"readOnlyHint": true}), false),
            (json!({"readOnlyHint": true, "destructiveHint": true}), false),
            (json!({"destructiveHint": false}), false),
            (json!({"readOnlyHint": false, "destructiveHint": true}), true),
            (json!("none"), true),
        ] {
            assert_eq!(destructive.asks("a__b", &tool(annotations.clone())), waits, "{annotations}");
        }
        assert!(!destructive.asks("x__y", &tool(json!({}))));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, told) in [
            ("wait_seconds = 0", "from 1 to 86400"),
            ("wait_seconds = 86401", "from 1 to 86400"),
            ("approve = [\"\"]", "[approvals]"),
            ("always = [\"a b\"]", "[approvals]"),
            ("approves = []", "approves"),
            ("commands = [\"\"]", "[approvals] `commands`: `` is no pattern"),
            ("origins = [\"bank.example\"]", "[approvals] `origins`: `bank.example` names no origin"),
            ("always_origins = [\"https://x/path\"]", "[approvals] `always_origins`"),
            ("always_commands = [\"\"]", "[approvals] `always_commands`"),
        ] {
            let problem = settings(text).expect_err(text);
            assert!(problem.contains(told), "{text}: {problem}");
        }
        assert_eq!(settings("wait_seconds = 86400").expect("a day").wait, Duration::from_secs(86_400));
    }
}
