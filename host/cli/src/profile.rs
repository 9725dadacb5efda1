//! The profiles, as the command line names them.

use clap::ValueEnum;
use wharf::Profile;

/// What `--profile` and its like take.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProfileChoice {
    /// State, and nothing else. Plugins that can do nothing with that are off
    Default,
    /// For a developer's own machine: the workspace, too, with a shell, contained and without a network; and web pages
    Developer,
}

impl From<ProfileChoice> for Profile {
    fn from(choice: ProfileChoice) -> Self {
        match choice {
            ProfileChoice::Default => Self::Default,
            ProfileChoice::Developer => Self::Developer,
        }
    }
}
