//! Parameters for kinds of sources, by name.

use std::time::Duration;

pub use wharf_contract::turn::Preset;

use super::{Parameters, Prompts};

impl From<Preset> for Parameters {
    /// The parameters of this kind.
    fn from(preset: Preset) -> Self {
        let seconds = Duration::from_secs;
        let agent = Self { broad_quiet: seconds(10), ..Self::default() };
        match preset {
            // Its own signals and prompts decide, silence hardly ever.
            Preset::Shell => Self::default(),
            // 001: 3 s of quiet.
            Preset::Repl => Self { inactivity_timeout: seconds(3), prompts: Prompts::interactive(), ..Self::default() },
            // 004: 60 s. Some show their input box while they think: what may
            // be a prompt has to stand for longer.
            Preset::Agent => agent,
            // Linking and tests that print nothing take minutes; a document
            // with a figure there is none. Logs are full of `:` and `>`, so
            // only questions count as prompts. 20 polls are these 5 minutes.
            Preset::Build => Self {
                inactivity_timeout: seconds(300),
                busy_inactivity_timeout: seconds(900),
                consecutive_empty_polls: 20,
                max_attempts: 240,
                time_limit: seconds(3_600),
                prompts: Prompts::questions(),
                ..Self::default()
            },
            // 004: 2 polls, 30 s.
            Preset::Sensitive => Self { consecutive_empty_polls: 2, inactivity_timeout: seconds(30), ..agent },
            // 004: 5 polls, 120 s.
            Preset::Patient => Self {
                consecutive_empty_polls: 5,
                inactivity_timeout: seconds(120),
                busy_inactivity_timeout: seconds(120),
                ..agent
            },
            // 004: 90 s; and 6 polls, since 3 would be 45 s.
            Preset::Search => Self {
                consecutive_empty_polls: 6,
                inactivity_timeout: seconds(90),
                busy_inactivity_timeout: seconds(90),
                ..agent
            },
            // 004: 30 s.
            Preset::SimpleAnswer => Self { inactivity_timeout: seconds(30), ..agent },
        }
    }
}
