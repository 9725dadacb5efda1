//! What a tool asks of a terminal: how a program is started, what is typed,
//! when a turn counts as complete.

use std::time::Duration;

#[cfg(any(target_family = "wasm", test))]
use wharf_contract::terminal::{LaunchOptions, Restart};
pub use wharf_contract::{terminal::View, turn::AnyPreset as Preset};

use crate::process::request::in_workspace;

/// How a program is started; in the workspace, at 80 by 24, unless it is told
/// otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    pub(crate) directory: String,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) size: (u16, u16),
    pub(crate) preset: Option<Preset>,
    pub(crate) restart: Option<bool>,
}

impl Launch {
    in_workspace!();

    /// How large the terminal is: 1 to 500 columns, 1 to 200 rows.
    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// The preset of its turns where a turn names none. Without it, the host
    /// chooses by the program.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Whether the program is started again after a crash. Without it, the
    /// operator decides.
    #[must_use]
    pub fn restart_on_crash(mut self, restart: bool) -> Self {
        self.restart = Some(restart);
        self
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        let restart = if self.restart? { Restart::OnCrash } else { Restart::Never };
        serde_json::to_string(&LaunchOptions { restart: Some(restart.to_string()) }).ok()
    }
}

/// What is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'i> {
    /// A text, at most 10,000 characters, and Enter.
    Submit(&'i str),
    /// A text alone.
    Type(&'i str),
    /// Keys by name; see [`super::Terminals::press`].
    Keys(&'i [&'i str]),
}

/// When a turn counts as complete; as the terminal's preset says, unless it is
/// told otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnOptions {
    pub(crate) preset: Option<Preset>,
    pub(crate) prompts: Vec<String>,
    pub(crate) inactivity: Option<Duration>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) parameters: serde_json::Map<String, serde_json::Value>,
}

impl TurnOptions {
    /// By the terminal's preset.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// By this preset.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Also where the row of the cursor matches this regular expression (the
    /// syntax of the crate `regex`, at most 1,024 bytes); at most 16 of them.
    #[must_use]
    pub fn prompt(mut self, pattern: impl Into<String>) -> Self {
        self.prompts.push(pattern.into());
        self
    }

    /// How long silence lasts before it counts.
    #[must_use]
    pub fn inactivity(mut self, inactivity: Duration) -> Self {
        self.inactivity = Some(inactivity);
        self
    }

    /// Another number by which completion is detected, by its name in the
    /// contract, such as `broad_quiet_milliseconds`, `max_attempts` or `adaptive`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        let parameters = Some(&self.parameters).filter(|parameters| !parameters.is_empty())?;
        serde_json::to_string(&wharf_contract::terminal::TurnOptions { parameters: Some(parameters) }).ok()
    }

    /// How long the turn may last.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = Some(time_limit);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_becomes_an_option_of_the_contract() {
        assert_eq!((Launch::new().options(), TurnOptions::new().options()), (None, None));
        let options = TurnOptions::new().parameter("adaptive", true).parameter("max_attempts", 7);
        assert_eq!(options.options().as_deref(), Some(r#"{"parameters":{"adaptive":true,"max_attempts":7}}"#));
        assert_eq!(Launch::new().restart_on_crash(true).options().as_deref(), Some(r#"{"restart":"on-crash"}"#));
        assert_eq!(Launch::new().restart_on_crash(false).options().as_deref(), Some(r#"{"restart":"never"}"#));
    }
}
