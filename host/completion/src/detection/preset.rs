//! Parameters for kinds of sources, by name.

use std::{fmt, str::FromStr, time::Duration};

use super::{Parameters, Prompts};

/// A kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// A shell in a terminal.
    Shell,
    /// An interactive program that answers at once, such as an interpreter.
    Repl,
    /// An agent, in a terminal or behind a stream.
    Agent,
    /// A build or a test run, which may be silent for minutes.
    Build,
    /// An agent whose silence soon means that it is done.
    Sensitive,
    /// An agent that is often silent before it is done.
    Patient,
    /// An agent that searches.
    Search,
    /// An agent that answers a simple question.
    SimpleAnswer,
}

/// There is no such preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no preset {given:?}; there are shell, repl, agent, build, sensitive, patient, search, simple-answer")]
pub struct UnknownPreset {
    given: String,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 8] = [
        Self::Shell,
        Self::Repl,
        Self::Agent,
        Self::Build,
        Self::Sensitive,
        Self::Patient,
        Self::Search,
        Self::SimpleAnswer,
    ];

    /// The name in configurations and arguments.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Repl => "repl",
            Self::Agent => "agent",
            Self::Build => "build",
            Self::Sensitive => "sensitive",
            Self::Patient => "patient",
            Self::Search => "search",
            Self::SimpleAnswer => "simple-answer",
        }
    }

    /// The parameters of this kind.
    #[must_use]
    pub fn parameters(self) -> Parameters {
        let seconds = Duration::from_secs;
        let agent = Parameters { broad_quiet: seconds(10), ..Parameters::default() };
        match self {
            // Its own signals and prompts decide, silence hardly ever.
            Self::Shell => Parameters::default(),
            // 001: 3 s of quiet.
            Self::Repl => {
                Parameters { inactivity_timeout: seconds(3), prompts: Prompts::interactive(), ..Parameters::default() }
            }
            // 004: 60 s. Some show their input box while they think: what may
            // be a prompt has to stand for longer.
            Self::Agent => agent,
            // Linking and tests that print nothing take minutes; a document
            // with a figure there is none. Logs are full of `:` and `>`, so
            // only questions count as prompts. 20 polls are these 5 minutes.
            Self::Build => Parameters {
                inactivity_timeout: seconds(300),
                busy_inactivity_timeout: seconds(900),
                consecutive_empty_polls: 20,
                max_attempts: 240,
                time_limit: seconds(3_600),
                prompts: Prompts::questions(),
                ..Parameters::default()
            },
            // 004: 2 polls, 30 s.
            Self::Sensitive => Parameters { consecutive_empty_polls: 2, inactivity_timeout: seconds(30), ..agent },
            // 004: 5 polls, 120 s.
            Self::Patient => Parameters {
                consecutive_empty_polls: 5,
                inactivity_timeout: seconds(120),
                busy_inactivity_timeout: seconds(120),
                ..agent
            },
            // 004: 90 s; and 6 polls, since 3 would be 45 s.
            Self::Search => Parameters {
                consecutive_empty_polls: 6,
                inactivity_timeout: seconds(90),
                busy_inactivity_timeout: seconds(90),
                ..agent
            },
            // 004: 30 s.
            Self::SimpleAnswer => Parameters { inactivity_timeout: seconds(30), ..agent },
        }
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(raw: &str) -> Result<Self, UnknownPreset> {
        let found = Self::ALL.into_iter().find(|preset| preset.as_str() == raw);
        found.ok_or_else(|| UnknownPreset { given: raw.chars().take(64).collect() })
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
